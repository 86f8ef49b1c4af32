package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/server"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
)

// A busy server has not yet accepted all who have connected. It answers them, too, before it ends.
func TestConnectedBeforeTheEnd(t *testing.T) {
	f, log := &serving{listen: "127.0.0.1:0"}, slog.New(slog.DiscardHandler)
	s := check.Must(server.New(check.Must(f.config(t.Context(), log))(t)))(t)
	ctx, stop := context.WithCancel(t.Context())
	l := &busyListener{TCPListener: check.Must(api.Listen("127.0.0.1:0"))(t).(*net.TCPListener),
		idle: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(ctx, stop, s, s.HTTPServer(), l, log) }()
	var answered sync.WaitGroup
	for range 50 {
		conn := check.Must(net.Dial("tcp", l.Addr().String()))(t)
		defer conn.Close()
		io.WriteString(conn, "POST /v1/ids/scru128 HTTP/1.1\r\nHost: localhost\r\n"+
			"Content-Length: 0\r\n\r\n")
		answered.Go(func() {
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("%v, %v", resp, err)
			}
		})
	}
	stop()
	answered.Wait()
	check.OK(t, <-ended)
	check.OK(t, s.Close(t.Context()))
}

// A busyListener accepts nobody until the server begins to close it.
type busyListener struct {
	*net.TCPListener
	idle chan struct{}
	once sync.Once
}

func (l *busyListener) Accept() (net.Conn, error) {
	<-l.idle
	return l.TCPListener.Accept()
}

func (l *busyListener) SyscallConn() (syscall.RawConn, error) {
	l.once.Do(func() { close(l.idle) })
	return l.TCPListener.SyscallConn()
}

func (l *busyListener) Close() error {
	err := l.TCPListener.Close()
	l.once.Do(func() { close(l.idle) })
	return err
}
