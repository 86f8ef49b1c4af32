// Package faulttest tests what stores do when their servers fail.
package faulttest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/testserver"
)

func record(revision uint64, name string) lease.Record {
	return lease.Record{Realm: "fault", Block: Block, Revision: revision, HWM: 1000,
		State: lease.Whole, Name: name}
}

func want(t *testing.T, s lease.Store, r lease.Record) {
	t.Helper()
	if got, err := s.Get(t.Context(), r.Realm, r.Block); err != nil || got != r {
		t.Fatalf("Get: %+v, %v, want %+v", got, err, r)
	}
}

// Restart crashes the server twice. Calls fail meanwhile, and afterwards the records are there.
func Restart(t *testing.T, server *testserver.Server, s lease.Store) {
	t.Helper()
	was := lease.Record{Realm: "fault", Block: Block}
	for revision := uint64(1); revision < 5; revision += 2 {
		is := record(revision, "before")
		Change(t, s, was, is)
		server.Stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if r, err := s.Get(ctx, "fault", Block); err == nil {
			t.Fatalf("from a server that is gone: %+v", r)
		}
		if ok, err := s.CompareAndSet(ctx, is, record(revision+1, "never")); err == nil {
			t.Fatalf("from a server that is gone: %v", ok)
		}
		cancel()
		server.Start()
		recovers(t, s)
		want(t, s, is)
		was = record(revision+1, "after")
		Change(t, s, is, was)
	}
}

func recovers(t *testing.T, s lease.Store) {
	t.Helper()
	var err error
	Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err = s.Get(ctx, "fault", Block)
		return err == nil
	}, func() string { return fmt.Sprintf("the server is back, and still: %v", err) })
}

// LostAnswer cuts the store's connection after a change has reached the server and before the
// answer comes back. CompareAndSet must return an error: the store cannot know of the change.
func LostAnswer(t *testing.T, proxy *Proxy, s, direct lease.Store) {
	t.Helper()
	was := lease.Record{Realm: "fault", Block: Block}
	for revision := uint64(1); revision <= 3; revision++ {
		is := record(revision, "lost answer")
		sent, cut := proxy.Lose(is.Name)
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

// Outage holds a lease while its server is away for longer than the window. Its ticks run out. When
// the server is back, the lease continues by itself, with later ticks.
func Outage(t *testing.T, server *testserver.Server, s lease.Store) {
	t.Helper()
	const window = 4 * time.Second
	l, err := lease.Acquire(t.Context(), s, lease.Config{
		Realm: "outage", NodeBits: 3, Window: window,
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
