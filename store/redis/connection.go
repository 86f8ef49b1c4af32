package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sortid/sortid/store/internal/connect"
)

// A lease briefly needs a connection about twice a minute. By default, a server accepts 10,000
// connections. The client closes an idle connection only when it needs another one. So each
// connection closes itself after closeTime.
const (
	idleTime  = 200 * time.Millisecond
	closeTime = 3 * time.Second
	dialTime  = time.Second
)

func dialer(config *tls.Config) func(ctx context.Context, network, address string) (net.Conn,
	error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := connect.DialTLS(ctx, network, address, config)
		if err != nil {
			return nil, err
		}
		if raw, ok := conn.(syscall.Conn); ok {
			return idleSocket{newIdleConn(conn), raw}, nil
		}
		return newIdleConn(conn), nil
	}
}

// An idleConn closes itself closeTime after an answer, unless it sends a request in this time.
type idleConn struct {
	net.Conn
	timer *time.Timer
}

// An idleSocket also lets the client check whether the server has closed the connection.
type idleSocket struct {
	idleConn
	syscall.Conn
}

func newIdleConn(conn net.Conn) idleConn {
	timer := time.AfterFunc(closeTime, func() { conn.Close() })
	timer.Stop()
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

// A refused connection costs the server little, so the pause after it is short.
const busyPause = 300 * time.Millisecond

func temporary(err error) error {
	switch {
	case err != nil && strings.Contains(err.Error(), "max number of clients reached"):
		return connect.Busy(err, busyPause)
	case redis.HasErrorPrefix(err, "LOADING"), errors.Is(err, redis.ErrPoolTimeout):
		return connect.Temporary(err)
	}
	return err
}
