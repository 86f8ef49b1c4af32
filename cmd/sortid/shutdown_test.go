package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server"
	"github.com/sortid/sortid/internal/check"
)

// A client that never ends its request delays the shutdown only by drainIdle and drainPatience.
func TestSlowClientAtShutdown(t *testing.T) { synctest.Test(t, testSlowClientAtShutdown) }

func testSlowClientAtShutdown(t *testing.T) {
	f, log := &serving{listen: "127.0.0.1:0"}, slog.New(slog.DiscardHandler)
	config := check.Must(f.config(t.Context(), log))(t)
	s := check.Must(server.New(config))(t)
	ctx, stop := context.WithCancel(t.Context())
	l := check.NewPipes()
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(ctx, stop, s, s.HTTPServer(), l, log) }()

	client := l.Dial("127.0.0.1:1")
	defer client.Close()
	go io.Copy(io.Discard, client)
	var writing sync.WaitGroup
	writing.Go(func() {
		io.WriteString(client,
			"POST /v1/inspect HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
		for {
			if _, err := io.WriteString(client, "x\n"); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	})
	time.Sleep(time.Minute)
	begin := time.Now()
	stop()
	err := <-ended
	if took := time.Since(begin); took < drainPatience ||
		took > drainPatience+drainPause+drainIdle+time.Second {
		t.Errorf("the server ends after %v, want %v", took, drainPause+drainIdle+drainPatience)
	}
	if err == nil || !strings.Contains(err.Error(), "some requests were cut off") {
		t.Errorf("error %v, want one that says what was cut off", err)
	}
	writing.Wait()
	check.OK(t, s.Close(t.Context()))
}

// Nothing but a real failure is an error, also if the server notices late that its listener is
// closed.
func TestListenerClosedOnce(t *testing.T) { synctest.Test(t, testListenerClosedOnce) }

func testListenerClosedOnce(t *testing.T) {
	f, log := &serving{listen: "127.0.0.1:0"}, slog.New(slog.DiscardHandler)
	s := check.Must(server.New(check.Must(f.config(t.Context(), log))(t)))(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	check.OK(t, serveHTTP(ctx, stop, s, s.HTTPServer(), &lateListener{Pipes: check.NewPipes()}, log))
	check.OK(t, s.Close(t.Context()))
}

// A lateListener is closed once, like a socket. Accept takes its time to say so.
type lateListener struct {
	*check.Pipes
	closed atomic.Bool
}

func (l *lateListener) Accept() (net.Conn, error) {
	conn, err := l.Pipes.Accept()
	if err != nil {
		time.Sleep(time.Second)
	}
	return conn, err
}

func (l *lateListener) Close() error {
	if l.closed.Swap(true) {
		return net.ErrClosed
	}
	return l.Pipes.Close()
}

// While the server shuts down, it answers requests on connections that it accepted before. Then it
// closes them. It does not wait for connections if there are none.
func TestAcceptedConnections(t *testing.T) { synctest.Test(t, testAcceptedConnections) }

func testAcceptedConnections(t *testing.T) {
	for _, c := range []struct {
		after time.Duration // from the signal to the request
		used  bool          // the connection had a request before
		ok    bool
	}{
		{drainPause / 2, false, true}, {drainPause / 2, true, true},
		{drainPause + drainIdle/2, false, true},
		{drainPause + drainIdle - time.Second, true, true},
		{drainPause + drainIdle + time.Second, true, false},
	} {
		f, log := &serving{listen: "127.0.0.1:0"}, slog.New(slog.DiscardHandler)
		s := check.Must(server.New(check.Must(f.config(t.Context(), log))(t)))(t)
		ctx, stop := context.WithCancel(t.Context())
		l := check.NewPipes()
		ended := make(chan error, 1)
		go func() { ended <- serveHTTP(ctx, stop, s, s.HTTPServer(), l, log) }()
		client := l.Dial("127.0.0.1:1")
		in := bufio.NewReader(client)
		ask := func() (*http.Response, error) {
			io.WriteString(client, "POST /v1/ids/scru128 HTTP/1.1\r\nHost: localhost\r\n"+
				"Content-Length: 0\r\n\r\n")
			return http.ReadResponse(in, nil)
		}
		if c.used {
			resp := check.Must(ask())(t)
			io.Copy(io.Discard, resp.Body)
		}
		begin := time.Now()
		stop()
		time.Sleep(c.after)
		resp, err := ask()
		if (err == nil) != c.ok || c.ok && (resp.StatusCode != http.StatusOK || !resp.Close) {
			t.Errorf("a request %v after the signal, used before: %v: %+v, %v", c.after, c.used, resp,
				err)
		}
		if resp != nil {
			io.Copy(io.Discard, resp.Body)
		}
		if err := <-ended; err != nil {
			t.Errorf("%v", err)
		}
		if took := time.Since(begin); took > drainPause+drainIdle+2*time.Second {
			t.Errorf("the server ends after %v", took)
		}
		client.Close()
		check.OK(t, s.Close(t.Context()))
	}
}
