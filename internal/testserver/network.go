package testserver

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A Network has the connections between the members of a cluster, which pass through proxies. What
// a member sends while it is cut off arrives when it is joined again.
type Network struct {
	mu     sync.Mutex
	joined *sync.Cond
	cut    [members][members]bool // from one member to another
}

const members = 3

func newNetwork() *Network {
	n := new(Network)
	n.joined = sync.NewCond(&n.mu)
	return n
}

// Cut stops what member i sends, and with both also what it would receive.
func (n *Network) Cut(i int, both bool) {
	n.set(func(from, to int) bool { return from == i || both && to == i })
}

// Join ends all cuts.
func (n *Network) Join() { n.set(func(int, int) bool { return false }) }

func (n *Network) set(cut func(from, to int) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for from := range n.cut {
		for to := range n.cut {
			n.cut[from][to] = cut(from, to)
		}
	}
	n.joined.Broadcast()
}

// wait waits while a member cannot send to another one.
func (n *Network) wait(from, to int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.cut[from][to] {
		n.joined.Wait()
	}
}

// link lets member "from" reach member "to", which listens at target, at an address. If identify is
// not nil, other members use the address, too. Then identify finds out from the first bytes of
// a connection which one has sent them, or returns a negative number.
func (n *Network) link(t testing.TB, address string, from, to int, target string,
	identify func(first []byte) int) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		n.Join()
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go n.pass(client.(*net.TCPConn), from, to, target, identify)
		}
	}()
}

func (n *Network) pass(client *net.TCPConn, from, to int, target string,
	identify func(first []byte) int) {
	defer client.Close()
	var first []byte
	if identify != nil {
		first = make([]byte, 32<<10)
		size, err := client.Read(first)
		if err != nil {
			return
		}
		first = first[:size]
		if from = identify(first); from < 0 {
			from = to // a cut of "to" also cuts this connection
		}
	}
	n.wait(from, to)
	n.wait(to, from)
	conn, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer conn.Close()
	server := conn.(*net.TCPConn)
	if _, err := server.Write(first); err != nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer server.CloseWrite()
		n.copy(server, client, from, to)
	})
	wg.Go(func() {
		defer client.CloseWrite()
		n.copy(client, server, to, from)
	})
	wg.Wait()
}

func (n *Network) copy(dst io.Writer, src io.Reader, from, to int) {
	buf := make([]byte, 32<<10)
	for {
		size, err := src.Read(buf)
		n.wait(from, to) // also before the end of the connection is passed on
		if _, failed := dst.Write(buf[:size]); err != nil || failed != nil {
			return
		}
	}
}
