package testserver

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A Proxy forwards connections to a server, and can lose an answer on the way. Its methods
// are safe for concurrent use.
type Proxy struct {
	Addr string // where it listens

	target string
	mu     sync.Mutex
	lose   int // so many answers from now, the connection breaks; 0: it does not
}

// StartProxy returns a proxy for the server at an address.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &Proxy{Addr: l.Addr().String(), target: target}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

// Lose has the nth answer from now on lost: it is taken from the server, which so has
// carried out what was asked, and not handed on, and the connection is closed. n <= 0
// means that none is.
func (p *Proxy) Lose(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = max(n, 0)
}

// Lost reports whether the answer of the last Lose has been lost.
func (p *Proxy) Lost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lose == 0
}

// loses counts an answer, and reports whether it is the one to be lost.
func (p *Proxy) loses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lose == 0 {
		return false
	}
	p.lose--
	return p.lose == 0
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if n > 0 && p.loses() {
			return
		}
		if _, werr := client.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}
