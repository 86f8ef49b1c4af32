package server

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
)

// A Monitor observes a server. It is safe for concurrent use.
// A monitor shows operators the requests of a server, and whether the server can make IDs.
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

func (m *monitor) register(h huma.API) {
	get := func(id, path, summary, permission, answer string, errors ...int) huma.Operation {
		return access.Require(permission, huma.Operation{OperationID: id, Method: http.MethodGet,
			Path: path, Summary: summary, Tags: []string{"status"}, Errors: errors,
			Responses: api.Answers(answer, "text/plain", api.Text())})
	}
	said := func(line string) (*api.Raw, error) {
		return &api.Raw{ContentType: api.TypeText, CacheControl: "no-store",
			Body: []byte(line + "\n")}, nil
	}

	huma.Register(h, get("healthz", "/healthz", "Say whether the process runs", access.PermitNone,
		"the process runs"), func(context.Context, *struct{}) (*api.Raw, error) {
		return said("ok")
	})

	huma.Register(h, get("readyz", "/readyz",
		"Say whether the server can make IDs of each format that it serves, or lease node IDs",
		access.PermitNone, "the server can do this", http.StatusUnprocessableEntity,
		http.StatusServiceUnavailable),
		func(ctx context.Context, _ *struct{}) (*api.Raw, error) {
			if m.draining.Load() {
				return nil, api.Busy(time.Second, api.Unavailable, "the server shuts down")
			}
			if err := m.ready(); err != nil {
				m.log.Warn("not ready", "error", err)
				return nil, api.Busy(time.Second, api.Unavailable,
					"the server has no node ID for one of its formats, or can make no ID now, "+
						"or its store does not answer; its log says more")
			}
			return said("ready")
		})

	metrics := promhttp.HandlerFor(m.metrics, promhttp.HandlerOpts{DisableCompression: true})
	huma.Register(h, get("metrics", "/metrics", "Metrics for Prometheus", access.PermitAdmin,
		"the metrics, in the text format of Prometheus", http.StatusUnauthorized,
		http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests),
		func(context.Context, *struct{}) (*huma.StreamResponse, error) {
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				r, w := humago.Unwrap(ctx)
				metrics.ServeHTTP(w, r)
			}}, nil
		})
}
