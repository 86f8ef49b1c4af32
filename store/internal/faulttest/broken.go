package faulttest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
)

var breaks = map[string]func(client net.Conn){
	"closed":      func(client net.Conn) { client.Close() },
	"half closed": func(client net.Conn) { client.(*net.TCPConn).CloseWrite() },
	"silent":      func(net.Conn) {},
}

// Starts opens stores while their first two connections break: in each way, and after each number
// of requests. Each store must open and work.
func Starts[S lease.Store](t *testing.T, open func(context.Context, string) (S, error),
	server string, url func(address string) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for name, breaks := range breaks {
		for n := range 7 {
			address := listen(t, breakTwo(server, n, breaks))
			wg.Go(func() {
				s, err := open(ctx, url(address))
				if err == nil {
					defer s.Close()
					for ctx.Err() == nil {
						if _, err = s.GetMany(ctx, "realm", []lease.Block{Block}); err == nil {
							break
						}
						time.Sleep(50 * time.Millisecond)
					}
				}
				if err != nil {
					t.Errorf("connections that are %s after %d requests: %v", name, n, err)
				}
			})
		}
	}
	wg.Wait()
}

func breakTwo(server string, n int, breaks func(net.Conn)) func(client net.Conn) {
	var connections atomic.Int32
	return func(client net.Conn) {
		breaking := connections.Add(1) <= 2
		var broken atomic.Bool
		requests := 0
		pipe(client, server, func([]byte, net.Conn) bool {
			if requests++; breaking && requests > n && broken.CompareAndSwap(false, true) {
				breaks(client)
			}
			return !broken.Load()
		}, func([]byte) bool { return !broken.Load() })
	}
}
