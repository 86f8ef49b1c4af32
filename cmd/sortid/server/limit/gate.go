package limit

import (
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/sortid/sortid/cmd/sortid/server/httpapi"
)

// A Client is the owner of a token or, without tokens, an address.
type Client string

// ClientAt returns the client at an address or, for IPv6, at its network of 64 bits.
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

// A Gate limits how many requests or connections are under way. A client can add one while more
// places are free than the client uses. So the first client can use half of the limit, the next one
// half of the rest, and so on. A Gate is safe for concurrent use.
type Gate struct {
	what string
	most int

	mu   sync.Mutex
	in   int
	held map[Client]int
}

func newGate(most int, what string) *Gate {
	return &Gate{what: what, most: most, held: map[Client]int{}}
}

// Enter reports whether the client can add one. If so, the client must call Leave later.
func (g *Gate) Enter(c Client) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[c] >= g.most-g.in {
		return false
	}
	g.held[c]++
	g.in++
	return true
}

// Leave frees the place of the client.
func (g *Gate) Leave(c Client) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[c]--; g.held[c] == 0 {
		delete(g.held, c)
	}
	g.in--
}

// Full returns the problem for a client that cannot enter.
func (g *Gate) Full() error {
	return httpapi.Busy("too many %s are under way, from all clients or from this one; ask again",
		g.what)
}

// Gates are the gates of one server.
type Gates struct {
	Requests     *Gate
	LargeAnswers *Gate // answers of more than one piece
	LineBodies   *Gate // bodies of lines to inspect
	StoreBodies  *Gate // requests of the store
	StoreQueue   *Gate // requests of the store received completely, except lists
	StoreLists   *Gate
}

// NewGates returns empty gates.
func NewGates() *Gates {
	return &Gates{
		Requests:     newGate(maxRequests, "requests"),
		LargeAnswers: newGate(maxLargeAnswers, "large answers"),
		LineBodies:   newGate(maxLineBodies, "bodies of lines"),
		StoreBodies:  newGate(maxStoreBodies, "requests of the store"),
		StoreQueue:   newGate(maxStoreQueue, "requests of the store"),
		StoreLists:   newGate(maxStoreLists, "lists of the store"),
	}
}

// Listener limits the listener's open connections, and closes further ones.
func Listener(l net.Listener) net.Listener {
	return limitedListener{l, newGate(maxConnections, "connections")}
}

type limitedListener struct {
	net.Listener
	open *Gate
}

func (l limitedListener) Accept() (net.Conn, error) {
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
