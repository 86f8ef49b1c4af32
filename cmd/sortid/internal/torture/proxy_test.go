//go:build unix

package torture

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/check"
)

const (
	pass      = iota
	delay     // requests arrive 400 ms later
	loseReply // the next answer is lost, and the connection ends
	halfClose // the client can send, but receives nothing more
	faults
)

var proxied = [faults]string{delay: "delayed", loseReply: "answer lost", halfClose: "half closed"}

// A proxy passes connections on to a server, and disturbs them.
type proxy struct {
	address string
	server  string
	cluster *cluster
	fault   atomic.Int32
}

func newProxy(t *testing.T, server string, random *rand.Rand, f *cluster) *proxy {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &proxy{address: l.Addr().String(), server: server, cluster: f}
	t.Cleanup(func() { l.Close() })
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
		ended := t.Context() // ends with the test
		for n := random.IntN(faults); ended.Err() == nil; n++ {
			fault := delay + n%(faults-delay)
			made := f.count(proxied[fault])
			p.fault.Store(int32(fault))
			time.Sleep(time.Duration(200+random.IntN(600)) * time.Millisecond)
			for i := 0; i < 300 && f.count(proxied[fault]) == made && ended.Err() == nil; i++ {
				time.Sleep(10 * time.Millisecond)
			}
			p.fault.Store(pass)
			time.Sleep(time.Duration(500+random.IntN(1500)) * time.Millisecond)
		}
	}()
	return p
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
				p.cluster.note(proxied[delay], all)
			}
			return true
		})
	})
	wg.Go(func() { // answers
		defer client.CloseWrite()
		p.copy(client, server, func() bool {
			fault := p.fault.Load()
			switch fault {
			case loseReply:
				client.Close()
				server.Close()
			case halfClose:
				client.CloseWrite()
				time.AfterFunc(time.Second, func() { client.Close() })
			default:
				return true
			}
			p.cluster.note(proxied[fault], all)
			return false
		})
	})
	wg.Wait()
}

// copy passes pieces on while allow returns true.
func (p *proxy) copy(to io.Writer, from io.Reader, allow func() bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !allow() {
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
