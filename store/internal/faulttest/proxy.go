package faulttest

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// A Proxy stands between a store and its server. It finds the answer to lose by the content of the
// request, because protocols such as HTTP/2 send more than answers.
type Proxy struct {
	Addr string

	server string
	mu     sync.Mutex
	marker []byte // nil if no answer is to be lost
	loss   loss
}

type loss struct {
	sent chan struct{}
	cut  context.Context
}

func NewProxy(t *testing.T, server string) *Proxy {
	t.Helper()
	p := &Proxy{server: server}
	p.Addr = listen(t, p.serve)
	return p
}

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

// Lose makes the proxy wait for a request that contains the marker, and closes sent when the server
// has it. The client then hears nothing on this connection, until cut closes it.
func (p *Proxy) Lose(marker string) (sent <-chan struct{}, cut func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marker, p.loss.sent = []byte(marker), make(chan struct{})
	p.loss.cut, cut = context.WithCancel(context.Background())
	return p.loss.sent, cut
}

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
	var deaf atomic.Bool
	var seen []byte // a marker can span two pieces
	pipe(client, p.server, func(piece []byte, server net.Conn) bool {
		seen = append(seen, piece...)
		loss, lost := p.found(seen)
		seen = seen[max(0, len(seen)-100):]
		if !lost {
			return true
		}
		deaf.Store(true)
		context.AfterFunc(loss.cut, func() {
			client.Close()
			server.Close()
		})
		server.Write(piece)
		close(loss.sent)
		return false
	}, func([]byte) bool { return !deaf.Load() })
}

// pipe passes on the requests and answers for which the functions return true.
func pipe(client net.Conn, address string, request func([]byte, net.Conn) bool,
	answer func([]byte) bool) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	hand := func(to, from net.Conn, on func([]byte) bool) {
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if n > 0 && on(buf[:n]) {
				if _, err := to.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
	go func() {
		defer client.Close()
		hand(client, server, answer)
	}()
	hand(server, client, func(b []byte) bool { return request == nil || request(b, server) })
}

func Silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
