package main

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/check"
	"github.com/sortid/sortid/cmd/sortid/server"
)

// A client that never ends its request delays the shutdown only by drainPatience.
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
		took > drainPatience+drainPause+time.Second {
		t.Errorf("the server ends after %v, want %v", took, drainPause+drainPatience)
	}
	if err == nil || !strings.Contains(err.Error(), "some requests were cut off") {
		t.Errorf("error %v, want one that says what was cut off", err)
	}
	writing.Wait()
	check.OK(t, s.Close(t.Context()))
}
