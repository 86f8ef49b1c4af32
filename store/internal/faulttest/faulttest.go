// Package faulttest tests what stores do when their servers fail.
package faulttest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/testserver"
)

// Faults tests a kind of store on a server that comes late, crashes, is away for long, or loses
// connections. If its calls wait for connections, a store must work at once after a crash.
func Faults[S lease.Store](t *testing.T, open Opener[S], server *testserver.Server, waits bool) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T){
		"Comes":       func(t *testing.T) { comes(t, open, server) },
		"Connections": func(t *testing.T) { connections(t, open, server.URL) },
		"Lost answer": func(t *testing.T) { lostAnswer(t, open, server.URL) },
		"Outage":      func(t *testing.T) { outage(t, server, Open(t, open, server.URL)) },
		"Restart":     func(t *testing.T) { Restart(t, server, Open(t, open, server.URL), waits) },
	} {
		server.Start() // after a failed test
		t.Run(name, test)
	}
}

func comes[S lease.Store](t *testing.T, open Opener[S], server *testserver.Server) {
	server.Stop()
	var wg sync.WaitGroup
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		s, err := open(ctx, server.URL)
		if err != nil {
			t.Error(err)
			return
		}
		s.Close()
	})
	time.Sleep(700 * time.Millisecond)
	server.Start()
	wg.Wait()
}

// connections opens stores while their first two connections break: in each way, and after each
// number of requests. Each store must open and work.
func connections[S lease.Store](t *testing.T, open Opener[S], url string) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for name, breaks := range map[string]func(client net.Conn){
		"closed":      func(client net.Conn) { client.Close() },
		"half closed": func(client net.Conn) { client.(*net.TCPConn).CloseWrite() },
		"silent":      func(net.Conn) {},
	} {
		for n := range 7 {
			address := breakTwo(t, host(t, url), n, breaks)
			wg.Go(func() {
				s, err := open(ctx, At(t, url, address))
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

func in(realm string, revision uint64) lease.Record {
	r := Record(revision)
	r.Realm = realm
	return r
}

// Restart crashes the server after several connections of the store have been used. Calls fail
// meanwhile, and afterwards the records are there.
func Restart(t *testing.T, server *testserver.Server, s lease.Store, waits bool) {
	t.Helper()
	const realm = "restart"
	for i := range uint64(3) {
		is := in(realm, i+1)
		Change(t, s, in(realm, i), is)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { Want(t, s, is) })
		}
		wg.Wait()
		server.Stop()
		if i > 0 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if r, err := s.Get(ctx, realm, Block); err == nil ||
				!strings.Contains(err.Error(), "127.0.0.1:") {
				t.Errorf("without a server: %+v, %v", r, err)
			}
			if ok, err := s.CompareAndSet(ctx, is, in(realm, i+2)); err == nil {
				t.Errorf("without a server: %v", ok)
			}
			cancel()
		}
		server.Start()
		if !waits {
			recovers(t, s)
		}
	}
	Want(t, s, in(realm, 3))
}

func Want(t *testing.T, s lease.Store, r lease.Record) {
	t.Helper()
	if got, err := s.Get(t.Context(), r.Realm, r.Block); err != nil || got != r {
		t.Errorf("Get: %+v, %v, want %+v", got, err, r)
	}
}

func recovers(t *testing.T, s lease.Store) {
	t.Helper()
	var err error
	Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err = s.Get(ctx, "realm", Block)
		return err == nil
	}, func() string { return fmt.Sprintf("the server is back, and still: %v", err) })
}

// lostAnswer cuts the store's connection after a change has reached the server and before the
// answer comes back. CompareAndSet must return an error: the store cannot know of the change.
func lostAnswer[S lease.Store](t *testing.T, open Opener[S], url string) {
	proxy := newProxy(t, host(t, url))
	s, direct := Open(t, open, At(t, url, proxy.address)), Open(t, open, url)
	was := in("lost", 0)
	for revision := uint64(1); revision <= 3; revision++ {
		is := in("lost", revision)
		is.Name = "lost answer"
		sent, cut := proxy.lose(is.Name)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if ok, err := s.CompareAndSet(ctx, was, is); err == nil {
				t.Errorf("no answer came, and CompareAndSet says %v", ok)
			}
		}()
		select {
		case <-sent:
		case <-ended:
			t.Fatal("CompareAndSet has sent no change")
		}
		var r lease.Record
		Eventually(t, func() (ok bool) {
			var err error
			r, err = direct.Get(t.Context(), is.Realm, is.Block)
			return err == nil && r == is
		}, func() string { return fmt.Sprintf("the server has %+v, want %+v", r, is) })
		cut()
		select {
		case <-ended:
		case <-time.After(1500 * time.Millisecond): // the store waits for the context's end
			cancel()
			<-ended
		}
		cancel()
		recovers(t, s)
		if ok, err := s.CompareAndSet(t.Context(), was, is); ok || err != nil {
			t.Errorf("once more: %v, %v, want a refusal", ok, err)
		}
		was = is
	}
}

// outage holds a lease while its server is away for longer than the window. Its ticks run out. When
// the server is back, the lease continues by itself, with later ticks.
func outage(t *testing.T, server *testserver.Server, s lease.Store) {
	l, err := lease.Acquire(t.Context(), s, lease.Config{
		Realm: "outage", NodeBits: 3, Window: 4 * time.Second,
		Format: lease.Format{Bits: 4, Tick: time.Millisecond, Epoch: time.UnixMilli(0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	last := int64(-1)
	claim := func() error {
		t.Helper()
		_, tick, err := l.ClaimTick(time.Now().UnixMilli())
		if err == nil && tick <= last {
			t.Fatalf("tick %d after %d", tick, last)
		}
		if err == nil {
			last = tick
		}
		return err
	}
	wait := func(end error) {
		t.Helper()
		var err error
		Eventually(t, func() bool {
			err = claim()
			return errors.Is(err, end)
		}, func() string { return fmt.Sprintf("never %v, but %v (lease: %v)", end, err, l.Err()) })
	}
	wait(nil)
	granted := l.Until()
	Eventually(t, func() bool { return l.Until().After(granted) },
		func() string { return fmt.Sprintf("it is not renewed: %v", l.Err()) })
	wait(nil)
	server.Stop()
	wait(lease.ErrExpired)
	if until := l.Until(); last >= until.UnixMilli() {
		t.Errorf("tick %d was used, and only those before %d were granted", last, until.UnixMilli())
	}
	for range 20 {
		time.Sleep(50 * time.Millisecond)
		if err := claim(); !errors.Is(err, lease.ErrExpired) {
			t.Fatalf("without a store and beyond the window: %v", err)
		}
	}
	Eventually(t, func() bool { return l.Err() != nil },
		func() string { return "the lease says that all is well" })
	server.Start()
	wait(nil)
	if err := l.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}
