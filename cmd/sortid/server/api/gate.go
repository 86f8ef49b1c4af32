package api

import (
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// A Client is the owner of a token or, for requests without a token, an address.
type Client string

// ClientAt returns the client at an address. IPv6 addresses with the same first 64 bits are one
// client.
func ClientAt(addrPort string) Client {
	if addrPort == "" || addrPort[0] != '[' { // IPv4
		host, _, _ := strings.Cut(addrPort, ":")
		return Client(host)
	}
	at, _ := netip.ParseAddrPort(addrPort)
	network, _ := at.Addr().WithZone("").Prefix(64)
	if addr := at.Addr().Unmap(); addr.Is4() {
		network = netip.PrefixFrom(addr, 32)
	}
	return Client(network.Addr().String())
}

// A Gate has a limited number of places for requests or connections. A client gets a place only if
// more places are free than the client already has. So the first client can have half of the
// places, the next client half of the rest, and so on. A Gate is safe for concurrent use.
type Gate struct {
	what   string
	places int

	mu    sync.Mutex
	taken int
	held  map[Client]int
}

func newGate(places int, what string) *Gate {
	return &Gate{what: what, places: places, held: map[Client]int{}}
}

// Enter reports whether the client gets a place. If so, call Leave later.
func (g *Gate) Enter(c Client) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[c] >= g.places-g.taken {
		return false
	}
	g.held[c]++
	g.taken++
	return true
}

func (g *Gate) Leave(c Client) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[c]--; g.held[c] == 0 {
		delete(g.held, c)
	}
	g.taken--
}

// Full returns the problem for a client that gets no place.
func (g *Gate) Full() error {
	return Busy(time.Second, Limit,
		"too many %s are under way, from all clients or from this client; ask again", g.what)
}

type Gates struct {
	Requests     *Gate
	LargeAnswers *Gate // Answers of more than [Piece] IDs.
	LineBodies   *Gate // Bodies of lines to inspect.
	Leases       *Gate // Requests for leases, except those that wait for a node ID.
	Waiters      *Gate // Requests that wait for a node ID.
	Lists        *Gate // Requests for lists of leases or realms.
}

func NewGates() *Gates {
	return &Gates{
		Requests:     newGate(maxRequests, "requests"),
		LargeAnswers: newGate(maxLargeAnswers, "large answers"),
		LineBodies:   newGate(maxLineBodies, "bodies of lines"),
		Leases:       newGate(maxLeases, "requests for leases"),
		Waiters:      newGate(maxWaiters, "requests that wait for a node ID"),
		Lists:        newGate(maxLists, "lists"),
	}
}

// A Listener limits the open connections. It closes a new connection if its client gets no place.
type Listener struct {
	net.Listener
	open *Gate
}

func NewListener(l net.Listener) *Listener {
	return &Listener{l, newGate(maxConnections, "connections")}
}

// Open returns how many connections are open.
func (l *Listener) Open() int {
	l.open.mu.Lock()
	defer l.open.mu.Unlock()
	return l.open.taken
}

func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := ClientAt(conn.RemoteAddr().String())
		if l.open.Enter(c) {
			return &limitedConn{conn, sync.OnceFunc(func() { l.open.Leave(c) })}, nil
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
