package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

// BenchmarkRequest measures requests for one ID without a log. "empty" only sends a constant.
func BenchmarkRequest(b *testing.B) {
	s := check.Must(New(Config{Store: lease.NewMemory(), NodeBits: 1}))(b)
	b.Cleanup(func() { s.Close(b.Context()) })
	waitReady(b, s)
	answer := []byte(strings.Repeat("0", 25) + "\n")
	empty := func(w http.ResponseWriter, _ *http.Request) { w.Write(answer) }
	for _, c := range []struct {
		name, path string
		server     func() *http.Server
	}{
		{"empty", "/", func() *http.Server { return &http.Server{Handler: http.HandlerFunc(empty)} }},
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
