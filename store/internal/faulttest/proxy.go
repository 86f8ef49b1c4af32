package faulttest

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// A Proxy stands between a store and its server, to lose answers. It finds the one that is
// to be lost by what is in the request, as protocols such as HTTP/2 say more than
// answers.
type Proxy struct {
	Addr string // host:port

	server string
	mu     sync.Mutex
	marker []byte // nil if no answer is to be lost
	loss   loss
}

// A loss is what becomes of the connection with the marker.
type loss struct {
	sent chan struct{}   // closed when the server has the request
	cut  context.Context // ends when the connection is to be cut
}

// NewProxy returns a proxy before the server at an address. It ends with the test.
func NewProxy(t *testing.T, server string) *Proxy {
	t.Helper()
	p := &Proxy{server: server}
	p.Addr = listen(t, p.serve)
	return p
}

// listen serves each connection that is made to the address which it returns.
func listen(t *testing.T, serve func(client net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go serve(client)
		}
	}()
	return l.Addr().String()
}

// Lose makes the proxy wait for a request with the marker in it. When that one has got to
// the server, the channel sent is closed; but from then on the client hears nothing on this
// connection, until cut is called and cuts it. Then all is as before.
func (p *Proxy) Lose(marker string) (sent <-chan struct{}, cut func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marker, p.loss.sent = []byte(marker), make(chan struct{})
	p.loss.cut, cut = context.WithCancel(context.Background())
	return p.loss.sent, cut
}

// found reports whether the bytes have the marker, of which then there is no more.
func (p *Proxy) found(b []byte) (l loss, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.marker == nil || !bytes.Contains(b, p.marker) {
		return loss{}, false
	}
	p.marker = nil
	return p.loss, true
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var deaf atomic.Bool
	go func() {
		defer client.Close()
		buf := make([]byte, 32<<10)
		for {
			n, err := server.Read(buf)
			if deaf.Load() {
				n = 0
			}
			if _, werr := client.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	}()
	var seen []byte // with the end of the last piece, as a marker can be in two
	buf := make([]byte, 32<<10)
	for {
		n, err := client.Read(buf)
		seen = append(seen, buf[:n]...)
		loss, lost := p.found(seen)
		if lost {
			deaf.Store(true)
			context.AfterFunc(loss.cut, func() {
				client.Close()
				server.Close()
			})
		}
		seen = seen[max(0, len(seen)-100):]
		_, werr := server.Write(buf[:n])
		if lost {
			close(loss.sent)
		}
		if err != nil || werr != nil {
			return
		}
	}
}

// Silent returns the address of a server that takes connections and says nothing.
func Silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
