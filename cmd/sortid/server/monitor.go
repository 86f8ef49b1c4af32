package server

import (
	"log/slog"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/store/http/wire"
)

// A monitor shows operators the requests of a server, and whether the server can make IDs. It
// is safe for concurrent use.
type monitor struct {
	metrics *prometheus.Registry // of the whole server

	log      *slog.Logger
	ready    func() error // says whether the server can do what it is for
	draining atomic.Bool
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec

	mu     sync.Mutex
	series map[answered]series
}

type answered struct {
	route  string
	status int
}

type series struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

// newMonitor returns a monitor. The function ready returns an error if the server cannot do what it
// is for.
func newMonitor(version string, ready func() error, log *slog.Logger) *monitor {
	m := &monitor{
		metrics: prometheus.NewRegistry(), log: log, ready: ready,
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
	m.metrics.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.duration,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "sortid_build_info",
			Help:        "Always 1. The labels are the versions of the server and of Go.",
			ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
		}, func() float64 { return 1 }))
	return m
}

// drain makes /readyz fail, and asks clients to close their connections.
func (m *monitor) drain() { m.draining.Store(true) }

// count counts a request. It keeps the metrics in a map, because Prometheus finds them slowly.
func (m *monitor) count(a answered, took time.Duration) {
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

const (
	health    = "/healthz"
	readiness = "/readyz"
)

// probes are requests that programs send every few seconds.
var probes = []string{health, readiness}

// register registers the requests of operators.
func (m *monitor) register(mux *http.ServeMux, tokens *access.Tokens) {
	handle := func(path, permission string, h api.Handler) {
		mux.Handle("GET "+path, tokens.Require(permission,
			func(w http.ResponseWriter, r *http.Request) error {
				if _, err := api.Query(r); err != nil {
					return err
				}
				return h(w, r)
			}))
	}
	say := func(w http.ResponseWriter, line string) error {
		w.Header().Set("Cache-Control", "no-store")
		return api.Answer(w, api.TypeText, []byte(line+"\n"))
	}
	handle(health, access.PermitNone, func(w http.ResponseWriter, _ *http.Request) error {
		return say(w, "ok")
	})
	handle(readiness, access.PermitNone, func(w http.ResponseWriter, _ *http.Request) error {
		if m.draining.Load() {
			return api.Busy(time.Second, wire.Unavailable, "the server shuts down")
		}
		if err := m.ready(); err != nil {
			m.log.Warn("not ready", "error", err)
			return api.Busy(time.Second, wire.Unavailable,
				"the server has no node ID for one of its formats, or can make no ID now, "+
					"or its store does not answer; its log says more")
		}
		return say(w, "ready")
	})
	metrics := promhttp.HandlerFor(m.metrics, promhttp.HandlerOpts{DisableCompression: true})
	handle("/metrics", access.PermitMetrics, func(w http.ResponseWriter, r *http.Request) error {
		metrics.ServeHTTP(w, r)
		return nil
	})
}
