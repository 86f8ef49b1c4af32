package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"runtime"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/sortid/sortid/store/internal/connect"
)

// A lease briefly needs a connection about twice a minute. By default, a server accepts 10,000
// connections. The pool closes an idle connection only when it needs another one. So each
// connection closes itself after closeTime.
const (
	idleTime  = 200 * time.Millisecond
	closeTime = 3 * time.Second
)

type target struct {
	address, user, password string
	database                int
	tls                     *tls.Config // nil without encryption
	prefix                  string
}

func (t target) pool() *redis.Pool {
	most := 10 * runtime.GOMAXPROCS(0)
	return &redis.Pool{
		MaxActive: most, Wait: true, MaxIdle: most, IdleTimeout: idleTime,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialContext(ctx, "tcp", t.address, redis.DialContextFunc(t.dial),
				redis.DialUsername(t.user), redis.DialPassword(t.password),
				redis.DialDatabase(t.database))
		},
	}
}

func (t target) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := connect.DialTLS(ctx, network, address, t.tls)
	if err != nil {
		return nil, err
	}
	timer := time.AfterFunc(closeTime, func() { conn.Close() })
	timer.Stop()
	return idleConn{conn, timer}, nil
}

// An idleConn closes itself closeTime after an answer, unless it sends a request in this time.
type idleConn struct {
	net.Conn
	timer *time.Timer
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
const busyPause = 250 * time.Millisecond

func temporary(err error) error {
	switch {
	case err != nil && strings.Contains(err.Error(), "max number of clients reached"):
		return connect.Busy(err, busyPause)
	case isRefusal(err, "LOADING"):
		return connect.Temporary(err)
	}
	return err
}

// isRefusal reports whether err is an answer of the server that begins with a code.
func isRefusal(err error, code string) bool {
	refusal := redis.Error("")
	return errors.As(err, &refusal) && strings.HasPrefix(string(refusal), code+" ")
}
