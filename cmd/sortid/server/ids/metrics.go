package ids

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sortid/sortid/format"
)

// Metrics returns how many IDs were sent, and the state of the leases.
func (g *Sources) Metrics() []prometheus.Collector {
	all := []prometheus.Collector{g.made}
	if g.store == nil {
		return all
	}
	now := g.leases.Now
	if now == nil {
		now = time.Now
	}
	for _, f := range format.Leased() {
		src := g.byName[f.Name]
		labels := prometheus.Labels{"format": f.Name}
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sortid_lease_held", ConstLabels: labels,
			Help: "1 if the server has a node ID of the format and can make an ID now, otherwise 0.",
		}, func() float64 {
			if src.ready() != nil {
				return 0
			}
			return 1
		}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sortid_lease_remaining_seconds", ConstLabels: labels,
			Help: "How long IDs can be made without the store; 0 if none can be made now.",
		}, func() float64 { return src.remaining(now).Seconds() }))
	}
	return all
}

// remaining returns how long the lease lets the source make IDs, by the generator's clock. It
// returns 0 if the source can make none.
func (src *source) remaining(now func() time.Time) time.Duration {
	if src.ready() != nil {
		return 0
	}
	src.mu.Lock()
	defer src.mu.Unlock()
	if src.lease == nil {
		return 0
	}
	return max(0, src.lease.Until().Sub(now()))
}
