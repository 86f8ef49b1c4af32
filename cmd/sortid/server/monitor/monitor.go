// Package monitor shows operators what a server does: a log and metrics of requests, and whether it
// can make IDs.
package monitor

import (
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/sortid/sortid/cmd/sortid/server/ids"
	"github.com/sortid/sortid/cmd/sortid/server/watch"
)

// A Monitor observes a server. It is safe for concurrent use.
type Monitor struct {
	Registry *prometheus.Registry // of all metrics

	log      *slog.Logger
	sources  *ids.Sources
	draining atomic.Bool
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec

	mu     sync.Mutex
	series map[answered]series
}

// answered are the labels by which requests are counted.
type answered struct {
	route  string
	status int
}

type series struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

// New returns a monitor of a server that makes IDs of these sources.
func New(version string, sources *ids.Sources, log *slog.Logger) *Monitor {
	m := &Monitor{
		Registry: prometheus.NewRegistry(), log: log, sources: sources,
		series: map[answered]series{},
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sortid_requests_total", Help: "Requests by route and status code.",
		}, []string{"route", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sortid_request_duration_seconds", Help: "Time to answer, by route.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25,
				1, 5},
		}, []string{"route"}),
	}
	m.Registry.MustRegister(sources.Metrics()...)
	m.Registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.duration, watch.Refused,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sortid_build_info", Help: "1, with the versions of the server and of Go.",
			ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
		}, func() float64 { return 1 }))
	return m
}

// Drain makes /readyz fail, and asks clients to close their connections.
func (m *Monitor) Drain() { m.draining.Store(true) }

// count counts a request. It keeps the metrics in series, because their look-up by labels is
// slower.
func (m *Monitor) count(a answered, took time.Duration) {
	m.mu.Lock()
	of, ok := m.series[a]
	if !ok {
		of = series{m.requests.WithLabelValues(a.route, strconv.Itoa(a.status)),
			m.duration.WithLabelValues(a.route)}
		m.series[a] = of
	}
	m.mu.Unlock()
	of.requests.Inc()
	of.duration.Observe(took.Seconds())
}
