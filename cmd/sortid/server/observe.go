package server

import (
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/scru128"
)

type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	ids      *prometheus.CounterVec

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

// count counts a request. It keeps the metrics in series, because their look-up by labels is
// slower.
func (m *metrics) count(a answered, took time.Duration) {
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

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(), series: map[answered]series{},
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sortid_requests_total", Help: "Requests by route and status code.",
		}, []string{"route", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sortid_request_duration_seconds", Help: "Time to answer, by route.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25,
				1, 5},
		}, []string{"route"}),
		ids: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sortid_ids_total", Help: "IDs sent, by format.",
		}, []string{"format"}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.duration, m.ids, filesRefused,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sortid_build_info", Help: "1, with the versions of the server and of Go.",
			ConstLabels: prometheus.Labels{
				"version": s.config.Version, "goversion": runtime.Version(),
			},
		}, func() float64 { return 1 }))
	for name, src := range s.generators.byName {
		src.made = m.ids.WithLabelValues(name)
	}
	if s.config.Store == nil {
		return m
	}
	now := s.config.clock
	if now == nil {
		now = time.Now
	}
	for _, f := range format.Leased() {
		src := s.generators.byName[f.Name]
		labels := prometheus.Labels{"format": f.Name}
		m.registry.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "sortid_lease_held",
				Help: "1 if the server has a node ID of the format and can make an ID now, " +
					"otherwise 0.",
				ConstLabels: labels,
			}, func() float64 {
				if src.ready() != nil {
					return 0
				}
				return 1
			}),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "sortid_lease_remaining_seconds", ConstLabels: labels,
				Help: "How long IDs can be made without the store; 0 if none can be made now.",
			}, func() float64 { return src.remaining(now).Seconds() }))
	}
	return m
}

// Servers of a process share filesRefused, because files are opened before servers are made.
var filesRefused = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "sortid_file_refused",
	Help: "1 while a changed file of tokens or certificates is not used, otherwise 0.",
}, []string{"file"})

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

type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Flush is for the compression, which does not call Unwrap.
func (r *recorder) Flush() { http.NewResponseController(r.ResponseWriter).Flush() }

// Unwrap is for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// observe gives each request an ID, and logs and counts it.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		r = s.withToken(r)
		id := scru128.NewString()
		w.Header()["X-Request-Id"], w.Header()["X-Content-Type-Options"] = []string{id}, headerNoSniff
		if s.draining.Load() { // otherwise the connection's next request would be cut off
			w.Header()["Connection"] = headerClose
		}
		rec := &recorder{ResponseWriter: w}
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				defer panic(p) // after it has been logged
			} else if p != nil {
				s.log.Error("panic", slog.String("request", id), slog.Any("value", p))
				if rec.status == 0 {
					s.problem(rec, http.StatusInternalServerError,
						"the server failed; its log says more under request "+id)
				}
			}
			if rec.status == 0 {
				rec.status = http.StatusOK
			}
			route := r.Pattern
			if route == "" || route == fallbackPattern {
				route = "none"
			}
			took := time.Since(start)
			s.metrics.count(answered{route, rec.status}, took)
			s.logRequest(r, id, rec, start, took)
		}()
		next.ServeHTTP(rec, r)
	})
}

func (s *Server) logRequest(r *http.Request, id string, rec *recorder, start time.Time,
	took time.Duration) {
	log := s.log.Handler()
	if !log.Enabled(r.Context(), slog.LevelInfo) {
		return
	}
	// The Logger's methods are slower, because they look up their caller.
	line := slog.NewRecord(start.Add(took), slog.LevelInfo, "request", 0)
	line.AddAttrs(slog.String("request", id), slog.String("method", r.Method),
		slog.String("path", r.URL.Path),
		slog.Int("status", rec.status), slog.Int64("bytes", rec.bytes),
		slog.Int64("us", took.Microseconds()), slog.String("from", r.RemoteAddr))
	log.Handle(r.Context(), line)
}

func (s *Server) fallback(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		other := *r
		other.Method = method
		if _, pattern := s.mux.Handler(&other); pattern != fallbackPattern {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		s.problem(w, http.StatusNotFound, "no such path; /openapi.json lists them")
		return
	}
	w.Header().Set("Allow", strings.Join(append(allowed, http.MethodOptions), ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.problem(w, http.StatusMethodNotAllowed, "this path takes "+strings.Join(allowed, ", "))
}

const fallbackPattern = "/"

func (s *Server) problem(w http.ResponseWriter, status int, detail string) {
	s.refuse(w, huma.NewError(status, detail))
}

// refuse writes an error. An error without a status means a failure of the server.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	var status huma.StatusError
	if !errors.As(err, &status) {
		s.log.Error("a request failed", slog.Any("error", err))
		status = huma.Error500InternalServerError("the server failed; its log says more")
	}
	var headers huma.HeadersError
	if errors.As(err, &headers) {
		maps.Copy(w.Header(), headers.GetHeaders())
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status.GetStatus())
	s.api.Marshal(w, typeJSON, status)
}
