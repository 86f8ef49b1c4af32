package server

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Limits of requests.
const (
	maxIDs      = 100_000  // In one answer.
	maxLines    = 64 << 20 // Bytes of lines to inspect.
	maxBody     = 1 << 20  // Bytes of other bodies.
	maxMany     = 1000     // Records in one request.
	maxRealms   = 100      // In the store. Then clients can make no more.
	retryAfter  = 1        // Seconds, sent with 503.
	headerLimit = 16 << 10 // Bytes of a request's headers.

	maxConnections  = 2048
	maxStreams      = 32   // Of one HTTP/2 connection.
	maxRequests     = 1024 // Under way.
	maxLargeAnswers = 64   // Under way.
	maxLineBodies   = 64   // Under way.
	maxStoreBodies  = 256  // Under way.
	maxStoreQueue   = 64   // Received completely, without lists.
	maxStoreLists   = 4    // Under way. Each may need as much memory as a realm's records.
	// A store has two connections, and the server's own leases get the next free one. So they never
	// wait until this queue is empty.
	maxStoreCalls = 2

	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	writeTimeout  = 30 * time.Second // longer than a request waits for the store
)

// A client is the owner of a token or, without tokens, an address.
type client string

func (s *Server) client(r *http.Request) client {
	if e := s.tokenOf(r.Context()); e != nil {
		return client("token " + e.name)
	}
	return clientAt(r.RemoteAddr)
}

// clientAt returns the client at an address or, for IPv6, at its network of 64 bits.
func clientAt(addrPort string) client {
	if addrPort == "" || addrPort[0] != '[' { // IPv4
		host, _, _ := strings.Cut(addrPort, ":")
		return client(host)
	}
	at, _ := netip.ParseAddrPort(addrPort)
	network, _ := at.Addr().WithZone("").Prefix(64)
	if addr := at.Addr().Unmap(); addr.Is4() {
		network = netip.PrefixFrom(addr, 32)
	}
	return client(network.Addr().String())
}

// A gate limits how many requests or connections are under way. A client can add one while more
// places are free than the client uses. So the first client can use half of the limit, the next one
// half of the rest, and so on.
type gate struct {
	what string
	most int

	mu   sync.Mutex
	in   int
	held map[client]int
}

func newGate(most int, what string) *gate {
	return &gate{what: what, most: most, held: map[client]int{}}
}

func (g *gate) enter(c client) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[c] >= g.most-g.in {
		return false
	}
	g.held[c]++
	g.in++
	return true
}

func (g *gate) leave(c client) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[c]--; g.held[c] == 0 {
		delete(g.held, c)
	}
	g.in--
}

func (g *gate) full() error {
	return busy("too many %s are under way, from all clients or from this one; ask again", g.what)
}

// Limit limits the listener's open connections, and closes further ones.
func Limit(l net.Listener) net.Listener {
	return limitedListener{l, newGate(maxConnections, "connections")}
}

type limitedListener struct {
	net.Listener
	open *gate
}

func (l limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := clientAt(conn.RemoteAddr().String())
		if l.open.enter(c) {
			return &limitedConn{conn, sync.OnceFunc(func() { l.open.leave(c) })}, nil
		}
		conn.Close()
	}
}

type limitedConn struct {
	net.Conn
	leave func()
}

func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

func (s *Server) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
		default:
			c := s.client(r)
			if !s.requests.enter(c) {
				s.refuse(w, s.requests.full())
				return
			}
			defer s.requests.leave(c)
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) within(g *gate) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		c := s.client(r)
		if !g.enter(c) {
			s.refuse(w, g.full())
			return
		}
		defer g.leave(c)
		next(ctx)
	}
}
