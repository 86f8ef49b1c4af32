package leaseapi

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http/wire"
)

// An operation is a request that the metrics count.
type operation string

const (
	acquiring operation = "acquire"
	renewing  operation = "renew"
	releasing operation = "release"
	evicting  operation = "evict"
)

// metrics count requests for leases. Their labels are names of realms that exist, and there are at
// most [api.MaxRealms] of them. The realm is "" for all others.
type metrics struct {
	lessor Lessor
	done   map[operation]*prometheus.CounterVec
	lost   *prometheus.CounterVec
	others *prometheus.CounterVec // refused requests

	mu     sync.Mutex
	realms map[string]bool
	hot    map[hot]prometheus.Counter
}

type hot struct {
	op    operation
	realm string
}

func newMetrics(l Lessor) *metrics {
	counter := func(name, help string, more ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help},
			append([]string{"realm"}, more...))
	}
	return &metrics{
		lessor: l, realms: map[string]bool{}, hot: map[hot]prometheus.Counter{},
		done: map[operation]*prometheus.CounterVec{
			acquiring: counter("sortid_leases_given_total", "Leases given to clients."),
			renewing:  counter("sortid_leases_renewed_total", "Renewals of clients' leases."),
			releasing: counter("sortid_leases_released_total", "Releases by clients."),
			evicting:  counter("sortid_leases_evicted_total", "Leases that were evicted."),
		},
		lost: counter("sortid_leases_lost_total",
			"Requests that got the answer that their lease has ended."),
		others: counter("sortid_leases_refused_total",
			"Refused requests of clients for leases, except for lost leases.", "operation", "reason"),
	}
}

// Metrics returns what was done with leases, and how many node IDs are free.
func (e *Endpoints) Metrics() []prometheus.Collector {
	all := []prometheus.Collector{e.metrics.lost, e.metrics.others, counts{e.metrics.lessor}}
	for _, c := range e.metrics.done {
		all = append(all, c)
	}
	return all
}

func (m *metrics) count(op operation, realm string, a answer, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		if op == acquiring && a.status == http.StatusOK {
			return // it was given before
		}
		c := m.hot[hot{op, realm}]
		if c == nil { // Prometheus finds counters slowly
			realm = m.known(realm, true)
			c = m.done[op].WithLabelValues(realm)
			m.hot[hot{op, realm}] = c
		}
		c.Inc()
		return
	}
	realm = m.known(realm, false)
	var p *api.Problem
	switch {
	case !errors.As(err, &p):
		m.others.WithLabelValues(realm, string(op), string(wire.Failed)).Inc()
	case p.Code == wire.LeaseLost:
		m.lost.WithLabelValues(realm).Inc()
	default:
		m.others.WithLabelValues(realm, string(op), string(p.Code)).Inc()
	}
}

// known returns the realm's label.
func (m *metrics) known(realm string, exists bool) string {
	if exists && len(m.realms) < api.MaxRealms {
		m.realms[realm] = true
	}
	if !m.realms[realm] {
		return ""
	}
	return realm
}

// counts collects how many node IDs are held, waiting and free.
type counts struct{ lessor Lessor }

var (
	nodeIDs = prometheus.NewDesc("sortid_node_ids",
		"Node IDs that are held, that wait after their use, or that are free.",
		[]string{"realm", "state"}, nil)
	freeShare = prometheus.NewDesc("sortid_node_ids_free_share",
		"The free share of the realm's node IDs, from 0 to 1.", []string{"realm"}, nil)
)

func (c counts) Describe(to chan<- *prometheus.Desc) { to <- nodeIDs; to <- freeShare }

// Collect sends nothing if the store does not answer.
func (c counts) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), api.CallTimeout)
	defer cancel()
	any := func(string) bool { return true }
	realms, _, err := c.lessor.Realms(ctx, any, "", api.MaxRealms)
	if err != nil {
		return
	}
	for _, r := range realms {
		send := func(d *prometheus.Desc, value float64, labels ...string) {
			m, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, value, labels...)
			if err == nil { // another program may have made a realm whose name is not UTF-8
				to <- m
			}
		}
		send(nodeIDs, float64(r.Held), r.Name, string(lease.Held))
		send(nodeIDs, float64(r.Waiting), r.Name, string(lease.Waiting))
		send(nodeIDs, float64(r.Free), r.Name, "free")
		send(freeShare, r.FreeShare, r.Name)
	}
}
