package torture

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	pass      = iota
	delay     // requests take 400 ms to the server
	loseReply // the next answer is lost, and the connection cut
	halfClose // the client sees an end; what it sent still arrives
	faults    // how many, with none
)

// The kinds of these, as fields note them.
var proxied = [faults]string{delay: "delayed", loseReply: "answer lost", halfClose: "half closed"}

// A proxy stands before a server, and disturbs connections.
type proxy struct {
	address string
	server  string
	note    func(kind string, slot int)
	fault   atomic.Int32
	made    [faults]atomic.Int64 // how often each happened
}

func newProxy(t *testing.T, server string, random *rand.Rand,
	note func(kind string, slot int)) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String(), server: server, note: note}
	done := make(chan struct{})
	t.Cleanup(func() {
		close(done)
		l.Close()
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client.(*net.TCPConn))
		}
	}()
	go func() {
		for n := random.IntN(faults); ; n++ {
			fault := delay + n%(faults-delay)
			made := p.made[fault].Load()
			p.fault.Store(int32(fault))
			select {
			case <-time.After(time.Duration(200+random.IntN(600)) * time.Millisecond):
			case <-done:
				return
			}
			// Renewals are rare: the fault waits for one.
			for range 300 {
				if p.made[fault].Load() > made {
					break
				}
				select {
				case <-time.After(10 * time.Millisecond):
				case <-done:
					return
				}
			}
			p.fault.Store(pass)
			select {
			case <-time.After(time.Duration(500+random.IntN(1500)) * time.Millisecond):
			case <-done:
				return
			}
		}
	}()
	return p
}

func (p *proxy) all() bool {
	for fault := delay; fault < faults; fault++ {
		if p.made[fault].Load() == 0 {
			return false
		}
	}
	return true
}

func (p *proxy) did(fault int32) {
	p.made[fault].Add(1)
	p.note(proxied[fault], all)
}

func (p *proxy) serve(client *net.TCPConn) {
	defer client.Close()
	conn, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer conn.Close()
	server := conn.(*net.TCPConn)
	var wg sync.WaitGroup
	wg.Go(func() { // requests
		defer server.CloseWrite()
		p.copy(server, client, func() bool {
			if p.fault.Load() == delay {
				time.Sleep(400 * time.Millisecond)
				p.did(delay)
			}
			return true
		})
	})
	wg.Go(func() { // answers
		defer client.CloseWrite()
		p.copy(client, server, func() bool {
			switch f := p.fault.Load(); f {
			case loseReply:
				p.did(f)
				client.Close()
				server.Close()
				return false
			case halfClose:
				p.did(f)
				client.CloseWrite()
				time.AfterFunc(time.Second, func() { client.Close() })
				return false
			}
			return true
		})
	})
	wg.Wait()
}

// copy forwards pieces while before returns true.
func (p *proxy) copy(to io.Writer, from io.Reader, before func() bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !before() {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
