// Package faulttest tests what stores do when their servers fail.
package faulttest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
)

// Faults tests a kind of store on a server that starts late, crashes, is down for long, or loses
// connections. If waits is true, the store's calls wait for connections, so the first call after
// a crash must succeed.
func Faults[S lease.Store](t *testing.T, open Opener[S], server *testserver.Server, waits bool) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T){
		"Comes":        func(t *testing.T) { comes(t, open, server) },
		"Connections":  func(t *testing.T) { connections(t, open, server.URL) },
		"Lost answers": func(t *testing.T) { LostAnswers(t, open, server.URL) },
		"Outage":       func(t *testing.T) { outage(t, server, Open(t, open, server.URL)) },
		"Restart":      func(t *testing.T) { Restart(t, server, Open(t, open, server.URL), waits) },
	} {
		server.Start() // a failed test may have stopped it
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

// connections opens stores while their first two connections break, in one of three ways and after
// 0 to 6 requests.
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

// Restart crashes the server. Calls fail until it starts again, and then all records are there.
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
	}, func() string { return fmt.Sprintf("the server is back, but Get fails: %v", err) })
}

// LostAnswers cuts connections within the server's answers to a change. It cuts open connections
// after 0, 3, 6, ... bytes, and new connections after 0, 25, 50, ... bytes. It stops when a change
// ends before the cut. After 1,000 bytes, it makes fewer cuts: TLS passes on only whole records.
func LostAnswers[S lease.Store](t *testing.T, open Opener[S], url string) {
	t.Helper()
	const workers = 4 // for each kind and connection; more would open more than 256 files
	direct := Open(t, open, url)
	var unknown [3]atomic.Int32
	var wg sync.WaitGroup
	for i := range 6 * workers {
		c, kind, anew := newCutter(t, host(t, url)), i%3, i%6 < 3
		l := changer{Store: Open(t, open, At(t, url, c.address)), direct: direct, cutter: c,
			kind: kind, was: in(fmt.Sprint("lost answers ", i), 0), unknown: &unknown[kind]}
		n, step := 1+i/6*3, workers*3
		if anew { // each kind takes every third step
			n, step = 1+i/6*75+25*kind, workers*75
		}
		wg.Go(func() {
			for ; c.left.Load() <= 0; n += step {
				c.cut(n, anew)
				Eventually(t, func() bool { return l.change(t) },
					func() string { return l.was.Realm + ": no change passes" })
				if n > 1000 {
					n += n / 4
				}
			}
		})
	}
	wg.Wait()
	for kind := range unknown {
		if unknown[kind].Load() == 0 {
			t.Errorf("no change of kind %d was made without an answer", kind)
		}
	}
}

// A changer makes a record (kind 0), changes a record (kind 1), or does both (kind 2).
type changer struct {
	lease.Store
	direct  lease.Store
	cutter  *cutter
	kind    int
	was     lease.Record
	block   uint32
	unknown *atomic.Int32 // how many changes were made, but returned an error
	late    bool          // answers may come late, on connections that the store has given up
}

// change makes one or two changes. Nobody else changes the records, so the store must not report a
// refusal. It may report success only if it got the complete answer. Later it must return the
// server's records. If there is an error, but no connection was cut, change returns false.
func (l *changer) change(t *testing.T) bool {
	l.block++
	first := lease.Change{Prev: lease.Record{Realm: l.was.Realm,
		Block: lease.Block{NodeID: l.block, Size: 24}}}
	further := lease.Change{Prev: l.was}
	changes := [][]lease.Change{{first}, {further}, {first, further}}[l.kind]
	for i, c := range changes {
		changes[i].Next = following(c.Prev, "lost answer")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond) // NATS waits until then
	defer cancel()
	ok, err := l.CompareAndSetMany(ctx, changes)
	cut, missing := l.cutter.left.Load() <= 0, l.cutter.missing.Load()
	// The last 17 bytes may be the end of a line, or a frame of HTTP/2, after the answer.
	if err == nil && (!ok || missing > 17 && !l.late) {
		t.Errorf("%s: without the last %d bytes: %v, %v", l.was.Realm, missing, ok, err)
	}
	for _, c := range changes {
		if err != nil { // make another change, so that a late request is refused
			if _, err := l.direct.CompareAndSet(t.Context(), c.Prev,
				following(c.Prev, "another")); err != nil {
				t.Error(err)
			}
		}
		is, failed := l.direct.Get(t.Context(), c.Prev.Realm, c.Prev.Block)
		switch {
		case failed != nil || err == nil && is != c.Next:
			t.Errorf("the change returned %v, but the record is %+v, %v", ok, is, failed)
		case err != nil && is == c.Next:
			l.unknown.Add(1)
		}
		l.was = is
		if cut {
			recovers(t, l)
			if ok, err := l.CompareAndSet(t.Context(), c.Prev, c.Next); ok || err != nil {
				t.Errorf("the same change again: %v, %v, want a refusal", ok, err)
			}
			Want(t, l, is)
		}
	}
	l.late = l.late || !cut && err != nil
	return cut || err == nil
}

func following(r lease.Record, name string) lease.Record {
	r.Revision, r.HWM, r.State, r.Name = r.Revision+1, r.HWM+1000, lease.Whole, name
	return r
}

// outage holds a lease while its server is down for longer than the window. Then the lease
// continues, with later ticks.
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
		t.Errorf("tick %d was used, but only ticks before %d were granted", last, until.UnixMilli())
	}
	for range 20 {
		time.Sleep(50 * time.Millisecond)
		if err := claim(); !errors.Is(err, lease.ErrExpired) {
			t.Fatalf("without a store and beyond the window: %v", err)
		}
	}
	Eventually(t, func() bool { return l.Err() != nil },
		func() string { return "the lease reports no error" })
	server.Start()
	wait(nil)
	if err := l.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}
