package faulttest

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
)

// Listen calls serve for each connection. Without serve, nobody answers them.
func Listen(t testing.TB, address string, serve func(client net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	accept := func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go serve(client)
		}
	}
	if serve != nil {
		go accept()
	}
	return l
}

// Relay stands between clients and a server, and returns its address. For each connection it calls
// connected. Then it passes on the requests and answers for which the two functions return true.
func Relay(t testing.TB, server string, connected func(client, server net.Conn) (
	request, answer func(piece []byte) bool)) (address string) {
	t.Helper()
	return Listen(t, anyPort, func(client net.Conn) {
		defer client.Close()
		server, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer server.Close()
		request, answer := connected(client, server)
		go func() {
			defer client.Close()
			pass(client, server, answer)
		}()
		pass(server, client, request)
	}).Addr().String()
}

const anyPort = "127.0.0.1:0"

func pass(to, from net.Conn, passes func(piece []byte) bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && passes(buf[:n]) {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// A proxy is a relay that loses the answer to one request. It finds it by the request's content,
// because protocols such as HTTP/2 send more than answers.
type proxy struct {
	address string
	next    atomic.Pointer[loss] // nil if no answer is to be lost
}

type loss struct {
	marker []byte
	sent   chan struct{}
	cut    context.Context
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	var p proxy
	p.address = Relay(t, server, func(client, server net.Conn) (request, answer func([]byte) bool) {
		var deaf atomic.Bool
		var seen []byte // a marker can span two pieces
		return func(piece []byte) bool {
			seen = append(seen, piece...)
			l := p.next.Load()
			if l == nil || !bytes.Contains(seen, l.marker) || !p.next.CompareAndSwap(l, nil) {
				seen = seen[max(0, len(seen)-100):]
				return true
			}
			deaf.Store(true)
			context.AfterFunc(l.cut, func() {
				client.Close()
				server.Close()
			})
			server.Write(piece)
			close(l.sent)
			return false
		}, func([]byte) bool { return !deaf.Load() }
	})
	return &p
}

// lose makes the proxy wait for a request that contains the marker, and closes sent when the server
// has it. The client then hears nothing on this connection, until cut closes it.
func (p *proxy) lose(marker string) (sent <-chan struct{}, cut func()) {
	l := &loss{marker: []byte(marker), sent: make(chan struct{})}
	l.cut, cut = context.WithCancel(context.Background())
	p.next.Store(l)
	return l.sent, cut
}

// At returns a store's URL with another address.
func At(t testing.TB, raw, address string) string {
	t.Helper()
	return Edit(t, raw, func(u *url.URL) { u.Host = address })
}

// Edit returns a URL after a change.
func Edit(t testing.TB, raw string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

// breakTwo breaks a client's first two connections after n requests.
func breakTwo(t *testing.T, server string, n int, breaks func(client net.Conn)) (address string) {
	var connections atomic.Int32
	return Relay(t, server, func(client, _ net.Conn) (request, answer func([]byte) bool) {
		breaking, requests := connections.Add(1) <= 2, 0
		var broken atomic.Bool
		whole := func([]byte) bool { return !broken.Load() }
		return func(piece []byte) bool {
			if requests++; breaking && requests > n && broken.CompareAndSwap(false, true) {
				breaks(client)
			}
			return whole(piece)
		}, whole
	})
}

func host(t testing.TB, raw string) (host string) {
	t.Helper()
	Edit(t, raw, func(u *url.URL) { host = u.Host })
	return host
}
