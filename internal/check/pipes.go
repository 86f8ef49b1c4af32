package check

import (
	"net"
	"net/netip"
	"sync"
)

// Pipes is a listener in memory, for tests with testing/synctest.
type Pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func NewPipes() *Pipes { return &Pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Dial connects. The server sees a client with this address.
func (p *Pipes) Dial(address string) net.Conn {
	client, server := net.Pipe()
	p.conns <- pipe{server, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))}
	return client
}

func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *Pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

type pipe struct {
	net.Conn
	from net.Addr
}

func (p pipe) RemoteAddr() net.Addr { return p.from }
