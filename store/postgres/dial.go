package postgres

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/sortid/sortid/store/internal/connect"
)

func useDialer(_ context.Context, c *pgx.ConnConfig) error {
	c.DialFunc = connect.Dial
	prefersTLS := c.TLSConfig != nil && len(c.Fallbacks) > 0 && c.Fallbacks[0].TLSConfig == nil
	if prefersTLS {
		c.DialFunc = new(dialer).dial
	}
	return nil
}

// A dialer dials for one connection of pgx. With sslmode=prefer, the default, pgx asks for TLS. If
// the server has no TLS, pgx closes the connection and dials again. Then the dialer returns the
// first connection again. The protocol allows this, and it saves the server a process. Later, pgx
// may dial again, to cancel a request.
type dialer struct {
	plain atomic.Pointer[firstConn] // the connection that pgx closed because the server has no TLS
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if c := d.plain.Swap(nil); c != nil {
		if c.address == address {
			return c.Conn, nil
		}
		c.Conn.Close()
	}
	conn, err := connect.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &firstConn{Conn: conn, dialer: d, address: address}, nil
}

type firstConn struct {
	net.Conn
	dialer   *dialer
	address  string
	answered bool
	noTLS    bool
}

func (c *firstConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.answered {
		c.answered, c.noTLS = true, n == 1 && b[0] == 'N'
	}
	return n, err
}

func (c *firstConn) Close() error {
	if !c.noTLS {
		return c.Conn.Close()
	}
	if other := c.dialer.plain.Swap(c); other != nil {
		other.Conn.Close()
	}
	return nil
}
