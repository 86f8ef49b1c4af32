package etcd

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/kv"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// A clock reads the time of etcd's members: the Date of an HTTP answer.
type clock struct {
	tls   *tls.Config
	hosts []string
	next  atomic.Int32 // the index of the host to ask first
}

func newClock(config clientv3.Config) *clock {
	c := &clock{tls: config.TLS}
	for _, endpoint := range config.Endpoints {
		if _, host, ok := strings.Cut(endpoint, "://"); ok {
			endpoint = host
		}
		c.hosts = append(c.hosts, endpoint)
	}
	return c
}

func (c *clock) now(ctx context.Context) (t time.Time, err error) {
	next := int(c.next.Load())
	for i := range c.hosts {
		i = (next + i) % len(c.hosts)
		t, err = connect.Ask(ctx,
			func(ctx context.Context) (time.Time, error) { return c.ask(ctx, c.hosts[i]) })
		if err == nil || ctx.Err() != nil {
			c.next.Store(int32(i))
			return t, err
		}
	}
	return t, err
}

// ask does not use [http.Client], because it logs an answer that is not HTTP.
func (c *clock) ask(ctx context.Context, host string) (time.Time, error) {
	conn, err := connect.DialTLS(ctx, "tcp", host, c.tls)
	if err != nil {
		return time.Time{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := fmt.Fprintf(conn, "GET /version HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
		host); err != nil {
		return time.Time{}, err
	}
	answer := bufio.NewReader(io.LimitReader(conn, 16<<10))
	if begin, err := answer.Peek(5); err == nil && string(begin) != "HTTP/" {
		return time.Time{}, lease.ErrNoTime // HTTP has another port
	}
	response, err := http.ReadResponse(answer, nil)
	if ctx.Err() != nil {
		return time.Time{}, context.Cause(ctx)
	}
	if err != nil {
		return time.Time{}, err
	}
	defer response.Body.Close()
	return kv.Date(response.Header.Get("Date"))
}
