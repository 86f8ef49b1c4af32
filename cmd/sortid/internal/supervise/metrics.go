package supervise

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// serveMetrics serves the state of a lease at /metrics, until the caller calls the function stop.
func serveMetrics(addr string, r *reporter) (stop func(), err error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--metrics %s: %w", addr, err)
	}
	if _, port, _ := net.SplitHostPort(addr); port == "0" {
		r.note("metrics are at http://%s/metrics", listener.Addr())
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sortid_lease_held", Help: "1 if the program has a valid lease, else 0.",
		}, func() float64 {
			if r.remaining() > 0 {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sortid_lease_remaining_seconds",
			Help: "Time to the end of the lease. The program ends earlier.",
		}, func() float64 { return r.remaining().Seconds() }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "sortid_exec_renewals_failed_total", Help: "Renewals of the lease that failed.",
		}, func() float64 { return float64(r.failed.Load()) }),
	)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	const patience = 10 * time.Second
	server := &http.Server{Handler: mux, ReadTimeout: patience, WriteTimeout: patience,
		ErrorLog: log.New(io.Discard, "", 0)}
	go server.Serve(listener)
	return func() { server.Close() }, nil
}
