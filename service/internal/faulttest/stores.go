package faulttest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/service/internal/testserver"
)

// Block is the node ID of [Record].
var Block = lease.Block{NodeID: 42, Size: 8}

// Record returns the record that stands for an epoch in tests, or none for epoch 0.
func Record(epoch uint64) lease.Record {
	r := lease.Record{Realm: "realm", Block: Block}
	if epoch > 0 {
		r.Epoch, r.HWM, r.State = epoch, int64(epoch)*1000, lease.Whole
	}
	return r
}

// Open opens a store, and closes it with the test.
func Open[S lease.Store](t *testing.T, open func(context.Context, string) (S, error), url string) S {
	t.Helper()
	s, err := open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Refused opens a store, which must fail with an error with these words.
func Refused[S lease.Store](t *testing.T, open func(context.Context, string) (S, error), url string, want ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := open(ctx, url)
	if err == nil {
		s.Close()
		t.Fatalf("no error, want one with %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in the error: %v", w, err)
		}
	}
	return err
}

// Change makes a change that must succeed.
func Change(t *testing.T, s lease.Store, prev, next lease.Record) {
	t.Helper()
	if ok, err := s.CompareAndSet(t.Context(), prev, next); !ok || err != nil {
		t.Fatalf("CompareAndSet: %v, %v", ok, err)
	}
}

// Foreign tests that the record at [Block] of the realm "realm" is an error with these
// words, after somebody has done to it what is told.
func Foreign(t *testing.T, s lease.Store, done, want string) {
	t.Helper()
	if r, err := s.Get(t.Context(), "realm", Block); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: Get: %+v, %v", done, r, err)
	}
	if r, err := s.List(t.Context(), "realm"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: List: %+v, %v", done, r, err)
	}
}

// RacingOpens has many open a store at once that is not there, five times. One makes it,
// and all go on.
func RacingOpens[S lease.Store](t *testing.T, open func(context.Context, string) (S, error), url string, remove func()) {
	t.Helper()
	for range 5 {
		remove()
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for range 12 {
			wg.Go(func() {
				<-begin
				s, err := open(t.Context(), url)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.List(t.Context(), "realm"); err != nil {
					t.Error(err)
				}
				s.Close()
			})
		}
		close(begin)
		wg.Wait()
	}
}

// RestartInUse crashes the server while both connections of a store's pool have been in
// use, three times. Calls fail while it is down, with its address in the error, and no
// longer; what was stored is there.
func RestartInUse(t *testing.T, server *testserver.Server, s lease.Store) {
	t.Helper()
	Change(t, s, Record(0), Record(1))
	for i := range uint64(3) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if _, err := s.Get(t.Context(), "realm", Block); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		server.Stop()
		if i == 1 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			if _, err := s.Get(ctx, "realm", Block); err == nil || !strings.Contains(err.Error(), "127.0.0.1:") {
				t.Errorf("without a server: %v", err)
			}
			cancel()
		}
		server.Start()
		Change(t, s, Record(1+i), Record(2+i))
	}
}
