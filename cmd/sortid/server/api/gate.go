package api

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/fair"
	"github.com/sortid/sortid/store/http/wire"
)

// ClientAt returns the name of the client at an address. IPv6 addresses with the same first 64 bits are one
// client.
func ClientAt(addrPort string) string {
	if addrPort == "" || addrPort[0] != '[' { // IPv4
		host, _, _ := strings.Cut(addrPort, ":")
		return host
	}
	at, _ := netip.ParseAddrPort(addrPort)
	network, _ := at.Addr().WithZone("").Prefix(64)
	if addr := at.Addr().Unmap(); addr.Is4() {
		network = netip.PrefixFrom(addr, 32)
	}
	return network.Addr().String()
}

// A Gate has a limited number of places for clients.
type Gate struct {
	*fair.Places
	what string
}

func newGate(places int, what string) *Gate { return &Gate{fair.New(places), what} }

// Full returns the problem for a client that gets no place.
func (g *Gate) Full() error {
	return Busy(time.Second, wire.Limit,
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
	open *fair.Places
}

func NewListener(l net.Listener) *Listener {
	return &Listener{l, fair.New(maxConnections)}
}

// Open returns how many connections are open.
func (l *Listener) Open() int { return l.open.Taken() }

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

// Listen listens at an address, so that [Listener.Stop] works. With multipath TCP it would not,
// because Linux has no filters for these sockets.
func Listen(address string) (net.Listener, error) {
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	return plain.Listen(context.Background(), "tcp", address)
}

// Stop closes the listener. Before that, it waits until all who have connected are accepted, but
// not longer than until the deadline. Call it while another goroutine calls Accept.
func (l *Listener) Stop(deadline time.Time) error {
	stopConnecting(l.Listener, deadline)
	return l.Close()
}

type limitedConn struct {
	net.Conn
	leave func()
}

func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
