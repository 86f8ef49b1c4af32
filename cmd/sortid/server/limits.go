package server

import (
	"context"
	"net"
	"net/http"

	"golang.org/x/net/netutil"
)

// Limit bounds the connections that a listener accepts at a time. More wait until others
// end.
func Limit(l net.Listener) net.Listener { return netutil.LimitListener(l, maxConnections) }

// A gate lets so many in at a time.
type gate chan struct{}

func newGate(most int) gate { return make(gate, most) }

// enter reports whether there is room, and takes it.
func (g gate) enter() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

// wait waits for room, and takes it.
func (g gate) wait(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g gate) leave() { <-g }

// admit bounds the requests under way. Probes and metrics are answered even when the server
// is busy.
func (s *Server) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
		default:
			if !s.requests.enter() {
				s.refuse(w, busy("%d requests are under way; ask again", maxRequests))
				return
			}
			defer s.requests.leave()
		}
		next.ServeHTTP(w, r)
	})
}
