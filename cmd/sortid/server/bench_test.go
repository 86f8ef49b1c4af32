package server

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

// BenchmarkRequest measures requests for one ID with a log. The first servers only send a constant.
// "headers" adds the header fields of an answer, "limits" also the service's time limits, and "log"
// also a line of the log.
func BenchmarkRequest(b *testing.B) {
	file := check.Must(os.Create(filepath.Join(b.TempDir(), "log")))(b)
	defer file.Close()
	log := slog.New(slog.NewJSONHandler(file, nil))
	s := check.Must(New(Config{Store: lease.NewMemory(), NodeBits: 1, Logger: log}))(b)
	b.Cleanup(func() { s.Close(b.Context()) })
	waitReady(b, s)
	answer := []byte(strings.Repeat("0", 25) + "\n")
	empty := func(w http.ResponseWriter, _ *http.Request) { w.Write(answer) }
	headers := func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["X-Request-Id"], h["X-Content-Type-Options"] = []string{string(answer[:25])}, headerNoSniff
		h["Content-Type"], h["Cache-Control"] = []string{api.TypeText}, []string{"no-store"}
		w.Write(answer)
	}
	logged := func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		headers(w, r)
		s.monitor.logRequest(r, string(answer[:25]), &recorder{status: http.StatusOK,
			bytes: int64(len(answer))}, start, time.Since(start))
	}
	limited := func(handler http.HandlerFunc) func() *http.Server {
		return func() *http.Server {
			hs := s.HTTPServer()
			hs.Handler = handler
			return hs
		}
	}
	for _, c := range []struct {
		name, path string
		server     func() *http.Server
	}{
		{"empty", "/", func() *http.Server { return &http.Server{Handler: http.HandlerFunc(empty)} }},
		{"headers", "/", func() *http.Server { return &http.Server{Handler: http.HandlerFunc(headers)} }},
		{"limits", "/", limited(headers)},
		{"log", "/v1/ids/scru128", limited(logged)},
		{"scru64", "/v1/ids/scru64", s.HTTPServer},
		{"scru128", "/v1/ids/scru128", s.HTTPServer},
	} {
		b.Run(c.name, func(b *testing.B) {
			ts := httptest.NewUnstartedServer(nil)
			ts.Config = c.server()
			ts.Start()
			b.Cleanup(ts.Close)
			addr := ts.Listener.Addr().String()
			conn := check.Must(net.Dial("tcp", addr))(b)
			defer conn.Close()
			in := bufio.NewReader(conn)
			request := []byte("GET " + c.path + " HTTP/1.1\r\nHost: " + addr + "\r\n\r\n")
			b.ReportAllocs()
			for b.Loop() {
				conn.Write(request)
				resp, err := http.ReadResponse(in, nil)
				if err != nil || resp.StatusCode != http.StatusOK {
					b.Fatal(resp, err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRenewal measures renewals of a lease from a store in memory, without a network: "lessor"
// without HTTP, "server" with it.
func BenchmarkRenewal(b *testing.B) {
	store := lease.NewMemory()
	s := check.Must(New(Config{Store: store, LeasesOnly: true}))(b)
	b.Cleanup(func() { s.Close(b.Context()) })
	lessor := lease.NewLessor(store, lease.LessorOptions{})
	check.Must(lease.Create(b.Context(), store, lease.Config{Realm: "scru64",
		Format: lease.SCRU64()}))(b)
	g := check.Must(lessor.Acquire(b.Context(), "scru64",
		lease.AcquireRequest{Request: "0123456789abcdef", NodeBits: 8, NodeID: -1}))(b)
	b.Run("lessor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			check.Must(lessor.Renew(b.Context(), "scru64", g.ID,
				lease.RenewRequest{Secret: g.Secret, EndTick: g.EndTick}))(b)
		}
	})
	b.Run("server", func(b *testing.B) {
		body := fmt.Sprintf(`{"secret":%q,"end_tick":%d}`, g.Secret, g.EndTick)
		r := httptest.NewRequest(http.MethodPost, "http://localhost/v1/realms/scru64/leases/"+g.ID+
			"/renew", nil)
		r.Header.Set("Content-Type", "application/json")
		b.ReportAllocs()
		for b.Loop() {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != http.StatusOK {
				b.Fatal(w.Code, w.Body)
			}
		}
	})
}
