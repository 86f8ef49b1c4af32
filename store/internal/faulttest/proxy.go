package faulttest

import (
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Listen calls serve for each connection, or never answers if serve is nil.
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

// Relay listens for clients of a server, and returns the address where it listens. For each
// connection, it calls the function connected, which returns two functions. Relay passes on a piece
// of a request or of an answer only if the function for it returns true.
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

// A cutter cuts connections within the server's answers.
type cutter struct {
	address string
	left    atomic.Int64 // the cut is at this byte of the next answers; below 1: it was made
	missing atomic.Int64 // how many bytes the cut removed from an open connection
	clients sync.Map
}

func newCutter(t *testing.T, server string) *cutter {
	t.Helper()
	var c cutter
	c.address = Relay(t, server, func(client, _ net.Conn) (request, answer func([]byte) bool) {
		c.clients.Store(client, nil)
		open := c.left.Load() <= 0
		return func([]byte) bool { return true }, func(piece []byte) bool {
			n := int64(len(piece))
			left := c.left.Add(-n)
			if left > 0 || left+n <= 0 {
				return true
			}
			if open {
				c.missing.Store(1 - left)
			}
			client.Write(piece[:left+n-1])
			client.Close()
			return false
		}
	})
	return &c
}

// cut closes a connection after n-1 bytes of the next answers. If anew is true, it first closes
// all open connections.
func (c *cutter) cut(n int, anew bool) {
	c.missing.Store(0)
	c.left.Store(int64(n))
	if anew {
		c.clients.Range(func(client, _ any) bool {
			client.(net.Conn).Close()
			return true
		})
		c.clients.Clear()
	}
}

func At(t testing.TB, raw, address string) string {
	t.Helper()
	return Edit(t, raw, func(u *url.URL) { u.Host = address })
}

func Edit(t testing.TB, raw string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

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
