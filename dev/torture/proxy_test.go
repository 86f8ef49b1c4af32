//go:build unix

package torture

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// Faults of a proxy.
const (
	pass      = ""
	delay     = "delayed"     // requests arrive 400 ms later
	loseReply = "answer lost" // the next answer is lost, and the connection ends
	halfClose = "half closed" // the client can send, but receives nothing more
	repeat    = "sent again"  // a request also comes later, at each server
	hangUp    = "hung up"     // the connection ends when a request has been passed on
)

var proxied = []string{delay, loseReply, halfClose}

// A proxy passes each connection on to one of its servers, and disturbs it.
type proxy struct {
	address string
	servers []string
	cluster *cluster
	fault   atomic.Value
	idle    time.Duration // idle connections end after this time; 0: they do not end
}

func newProxy(t *testing.T, random *rand.Rand, f *cluster, faults []string,
	idle time.Duration, servers ...string) *proxy {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &proxy{address: l.Addr().String(), servers: servers, cluster: f, idle: idle}
	p.fault.Store(pass)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client.(*net.TCPConn), servers[rand.IntN(len(servers))])
		}
	}()
	go func() {
		ended := t.Context() // ends with the test
		for n := random.IntN(len(faults)); ended.Err() == nil; n++ {
			fault := faults[n%len(faults)]
			made := f.count(fault)
			p.fault.Store(fault)
			time.Sleep(time.Duration(200+random.IntN(600)) * time.Millisecond)
			for i := 0; i < 300 && f.count(fault) == made && ended.Err() == nil; i++ {
				time.Sleep(10 * time.Millisecond)
			}
			p.fault.Store(pass)
			time.Sleep(time.Duration(500+random.IntN(1500)) * time.Millisecond)
		}
	}()
	return p
}

func (p *proxy) serve(client *net.TCPConn, to string) {
	defer client.Close()
	conn, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer conn.Close()
	server := conn.(*net.TCPConn)
	var wg sync.WaitGroup
	wg.Go(func() { // requests
		defer server.CloseWrite()
		p.copy(server, client, func(request []byte) bool {
			client.SetReadDeadline(time.Time{})
			p.cluster.sent(request, to)
			fault := p.fault.Load().(string)
			switch fault {
			case delay:
				time.Sleep(400 * time.Millisecond)
			case repeat:
				for _, server := range p.servers {
					go sendLater(server, bytes.Clone(request))
				}
			case hangUp:
				server.Write(request)
				client.Close()
			default:
				return true
			}
			p.cluster.note(fault, all)
			return fault != hangUp
		})
	})
	wg.Go(func() { // answers
		defer client.CloseWrite()
		p.copy(client, server, func([]byte) bool {
			fault := p.fault.Load().(string)
			switch fault {
			case loseReply:
				client.Close()
				server.Close()
			case halfClose:
				client.CloseWrite()
				time.AfterFunc(time.Second, func() { client.Close() })
			default:
				if p.idle != 0 {
					client.SetReadDeadline(time.Now().Add(p.idle))
				}
				return true
			}
			p.cluster.note(fault, all)
			return false
		})
	})
	wg.Wait()
}

// sendLater sends a request within a window, and ignores the answer.
func sendLater(server string, request []byte) {
	time.Sleep(rand.N(window))
	conn, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(window))
	conn.Write(request)
	io.Copy(io.Discard, conn)
}

// copy passes pieces on while allow returns true.
func (p *proxy) copy(to io.Writer, from io.Reader, allow func(piece []byte) bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !allow(buf[:n]) {
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
