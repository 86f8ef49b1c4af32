package redis

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sortid/sortid/store/internal/connect"
)

// Connections are few and short: a lease needs one about twice a minute, for some
// milliseconds, and a server allows 10,000 by default. The client discards one that was
// idle for idleTime when it is needed the next time; until then it would stay open, so it
// closes itself somewhat later.
const (
	idleTime  = 200 * time.Millisecond
	closeTime = 3 * time.Second
)

// dialer makes connections that close themselves when they are idle. With a TLS
// configuration they are encrypted.
func dialer(config *tls.Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	plain := &net.Dialer{KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if config != nil {
			conn, err := (&tls.Dialer{NetDialer: plain, Config: config}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return newIdleConn(conn), nil
		}
		conn, err := plain.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if raw, ok := conn.(syscall.Conn); ok {
			return idleSocket{newIdleConn(conn), raw}, nil
		}
		return newIdleConn(conn), nil
	}
}

// An idleConn is a connection that closes itself when nothing has come for closeTime
// and nothing is waited for.
type idleConn struct {
	net.Conn
	timer *time.Timer
}

// An idleSocket is an idleConn with a socket at which the client can look for whether the
// server has closed it.
type idleSocket struct {
	idleConn
	syscall.Conn
}

func newIdleConn(conn net.Conn) idleConn {
	timer := time.AfterFunc(closeTime, func() { conn.Close() })
	timer.Stop() // until something has come
	return idleConn{conn, timer}
}

func (c idleConn) Write(b []byte) (int, error) {
	c.timer.Stop()
	return c.Conn.Write(b)
}

func (c idleConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.timer.Reset(closeTime)
	return n, err
}

func (c idleConn) Close() error {
	c.timer.Stop()
	return c.Conn.Close()
}

// busyPause is short: a refusal costs the server little.
const busyPause = 300 * time.Millisecond

// temporary marks what may be gone at the next attempt.
func temporary(err error) error {
	switch {
	case err != nil && strings.Contains(err.Error(), "max number of clients reached"):
		return connect.Busy(err, busyPause)
	case redis.HasErrorPrefix(err, "LOADING"):
		return connect.Temporary(err)
	}
	return err
}
