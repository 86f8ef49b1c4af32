package server

import (
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/store/http/wire"
)

type recorder struct {
	http.ResponseWriter
	id     [1]string // the value of the header X-Request-Id
	status int
	bytes  int64
	err    error // why the server failed
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

// Flush is for package gzhttp, which does not call Unwrap.
func (r *recorder) Flush() { http.NewResponseController(r.ResponseWriter).Flush() }

// Fail is for [api.Refuse].
func (r *recorder) Fail(err error) { r.err = err }

// Unwrap is for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

var (
	headerNoSniff = []string{"nosniff"}
	headerClose   = []string{"close"}
)

// observe gives each request an ID, logs the request and counts it.
func (m *monitor) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w, id: [1]string{scru128.NewString()}}
		id, header := rec.id[0], w.Header()
		header["X-Request-Id"], header["X-Content-Type-Options"] = rec.id[:], headerNoSniff
		if m.draining.Load() { // the shutdown would cut off the connection's next request
			header["Connection"] = headerClose
		}
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				defer panic(p) // after the request has been logged
			} else if p != nil {
				m.log.Error("panic", slog.String("request", id), slog.Any("value", p))
				if rec.status == 0 {
					api.Refuse(rec, api.NewProblem(http.StatusInternalServerError, wire.Failed,
						"the server failed; its log says more under request %s", id))
				}
			}
			if rec.err != nil {
				m.log.Error("a request failed", slog.String("request", id),
					slog.Any("error", rec.err))
			}
			if rec.status == 0 {
				rec.status = http.StatusOK
			}
			route := r.Pattern
			if route == "" || route == api.Fallback {
				route = "none"
			}
			took := time.Since(start)
			m.count(answered{route, rec.status}, took)
			m.logRequest(r, id, rec, start, took)
		}()
		next.ServeHTTP(rec, r)
	})
}

func (m *monitor) logRequest(r *http.Request, id string, rec *recorder, start time.Time,
	took time.Duration) {
	log, level := m.log.Handler(), slog.LevelInfo
	if rec.status == http.StatusOK && slices.Contains(probes, r.URL.Path) {
		level = slog.LevelDebug
	}
	if !log.Enabled(r.Context(), level) {
		return
	}
	// The Logger's methods are slower, because they look up their caller.
	line := slog.NewRecord(start.Add(took), level, "request", 0)
	line.AddAttrs(slog.String("request", id), slog.String("method", r.Method),
		slog.String("path", r.URL.Path), slog.Int("status", rec.status),
		slog.Int64("bytes", rec.bytes), slog.Int64("us", took.Microseconds()),
		slog.String("from", r.RemoteAddr))
	log.Handle(r.Context(), line)
}
