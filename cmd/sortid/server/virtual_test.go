package server

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

// inBubble runs a test in virtual time, in a year in which all formats have IDs.
func inBubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)))
		test(t)
	})
}

func virtual(t *testing.T, c Config) *Server {
	t.Helper()
	c.clock = time.Now
	if c.Store == nil {
		c.Store = lease.NewMemory()
	}
	s := newServer(t, c)
	waitReady(t, s)
	return s
}

type reply struct {
	*httptest.ResponseRecorder
	onWrite func() error // called before each write
}

func (r *reply) Write(b []byte) (int, error) {
	if r.onWrite != nil {
		if err := r.onWrite(); err != nil {
			return 0, err
		}
	}
	return r.ResponseRecorder.Write(b)
}

func (r *reply) lines() int { return bytes.Count(r.Body.Bytes(), []byte("\n")) }

func (r *reply) retryAfter(t *testing.T) time.Duration {
	t.Helper()
	n, err := strconv.Atoi(r.Header().Get("Retry-After"))
	if err != nil || n < 1 {
		t.Fatalf("status %d with %v: %s", r.Code, r.Header(), r.Body)
	}
	return time.Duration(n) * time.Second
}

// ask sends a request without a network. A header is "Name: value".
func ask(ctx context.Context, s *Server, method, path, body string, headers ...string) *reply {
	return askFrom(ctx, s, "192.0.2.1:1", method, path, strings.NewReader(body), nil, headers...)
}

// askFrom is ask for a client at addr, which can be slow.
func askFrom(ctx context.Context, s *Server, addr, method, path string, body io.Reader,
	onWrite func() error, headers ...string) *reply {
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+path, io.NopCloser(body))
	r.RemoteAddr = addr
	setHeaders(r, headers)
	w := &reply{httptest.NewRecorder(), onWrite}
	s.ServeHTTP(w, r)
	return w
}

// tokensOf returns the tokens of lines that lack the hash, and the headers of the tokens by name.
func tokensOf(t *testing.T, lines ...string) (*access.Tokens, map[string]string) {
	t.Helper()
	path, bearer, file := filepath.Join(t.TempDir(), "tokens"), map[string]string{}, ""
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, " ")
		text, line, _ := access.NewToken(name, []string{access.PermitIDs}, 0, 0)
		file += strings.TrimSuffix(line, access.PermitIDs+"\n") + rest + "\n"
		bearer[name] = "Authorization: Bearer " + text
	}
	check.Write(t, path, file)
	return check.Must(access.OpenTokens(t.Context(), path, nil))(t), bearer
}

func serveVirtual(t *testing.T, s *Server) *check.Pipes {
	l, hs := check.NewPipes(), s.HTTPServer()
	go hs.Serve(l)
	t.Cleanup(func() { hs.Close() })
	return l
}
