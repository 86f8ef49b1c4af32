package postgres

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/sortid/sortid/store/internal/connect"
)

// useDialer has pgx dial by [connect.Dial], and by a [dialer] where that saves connections.
func useDialer(_ context.Context, c *pgx.ConnConfig) error {
	c.DialFunc = connect.Dial
	prefersTLS := c.TLSConfig != nil && len(c.Fallbacks) > 0 && c.Fallbacks[0].TLSConfig == nil
	if prefersTLS {
		c.DialFunc = new(dialer).dial
	}
	return nil
}

// A dialer dials while pgx makes one connection. With sslmode=prefer, the default, pgx asks
// for TLS, and if the server has none, it closes the connection and dials again to go on
// without TLS. The dialer then returns the same connection, as the protocol allows: each one
// costs the server a process.
type dialer struct {
	plain   net.Conn // on which the server has said that it has no TLS, and waits
	address string
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if conn := d.plain; conn != nil {
		d.plain = nil
		if address == d.address {
			return conn, nil
		}
		conn.Close()
	}
	conn, err := connect.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.address = address
	return &firstConn{Conn: conn, dialer: d}, nil
}

// A firstConn is a connection on which TLS is asked for.
type firstConn struct {
	net.Conn
	dialer   *dialer
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
	if c.noTLS {
		c.dialer.plain = c.Conn
		return nil
	}
	return c.Conn.Close()
}
