package faulttest

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/testserver"
)

// Block is the node ID of [Record].
var Block = lease.Block{NodeID: 42, Size: 8}

// Record returns the record that stands for a revision in tests, or none for revision 0.
func Record(revision uint64) lease.Record {
	r := lease.Record{Realm: "realm", Block: Block}
	if revision > 0 {
		r.Revision, r.HWM, r.State = revision, int64(revision)*1000, lease.Whole
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

// Refused opens a store, which must fail with an error with these words, and not try
// again.
func Refused[S lease.Store](t *testing.T, open func(context.Context, string) (S, error), url string, want ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := open(ctx, url)
	if err == nil {
		s.Close()
		t.Fatalf("no error, want one with %q", want)
	}
	if ctx.Err() != nil {
		t.Errorf("it was tried again: %v", err)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in the error: %v", w, err)
		}
	}
	return err
}

// NoServer opens a store on a server that is away, and on one that accepts connections and
// says nothing. Both must fail when the context ends, and not before, with errors that
// name the address, and have these words if the server is away.
func NoServer[S lease.Store](t *testing.T, open func(context.Context, string) (S, error), url func(address string) string, want ...string) {
	t.Helper()
	away, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away.Close()
	silent := Silent(t)
	for address, want := range map[string][]string{
		away.Addr().String(): append(want, "refused", "tried for "),
		silent:               {"no answer from " + silent + " in 0."},
	} {
		const patience = 600 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		began := time.Now()
		s, err := open(ctx, url(address))
		if err == nil {
			s.Close()
			t.Fatal("no error")
		}
		if took := time.Since(began); took < patience-100*time.Millisecond || took > patience+2*time.Second {
			t.Errorf("it gave up after %v: %v", took, err)
		}
		for _, w := range append(want, address) {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("no %q in the error: %v", w, err)
			}
		}
		if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("an error of several lines, or with the password: %q", err)
		}
	}
}

// Comes opens a store on a server that is started only after a while.
func Comes[S lease.Store](t *testing.T, open func(context.Context, string) (S, error), server *testserver.Server) {
	t.Helper()
	server.Stop()
	var wg sync.WaitGroup
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
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

// Crowd has many more stores at a time than their server has connections. All of them can
// be opened and used.
func Crowd[S lease.Store](t *testing.T, open func(context.Context, string) (S, error), url string) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range uint32(60) {
		wg.Go(func() {
			s, err := open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 3 {
				if _, err := s.Get(t.Context(), "realm", lease.Block{NodeID: i, Size: 8}); err != nil {
					t.Error(err)
				}
				time.Sleep(150 * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// WrongClocks leases node IDs for processes whose clocks are wrong, from a store whose
// server's clock is that of this machine. Only those within the lead get one.
func WrongClocks(t *testing.T, s lease.Store) {
	t.Helper()
	for _, c := range []struct {
		ahead time.Duration
		want  error
	}{
		{0, nil}, {5 * time.Second, nil}, {-5 * time.Second, nil},
		{15 * time.Second, lease.ErrClock}, {-15 * time.Second, lease.ErrClock},
		{365 * 24 * time.Hour, lease.ErrClock}, {-365 * 24 * time.Hour, lease.ErrClock},
	} {
		l, err := lease.Acquire(t.Context(), s, lease.Config{
			Realm: "clocks", Format: lease.SCRU64, NodeIDSize: 8, Now: func() time.Time { return time.Now().Add(c.ahead) },
		})
		if !errors.Is(err, c.want) {
			t.Errorf("a process %v ahead: %v, want %v", c.ahead, err, c.want)
		}
		if err == nil {
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// Change makes a change that must succeed.
func Change(t *testing.T, s lease.Store, prev, next lease.Record) {
	t.Helper()
	if ok, err := s.CompareAndSet(t.Context(), prev, next); !ok || err != nil {
		t.Fatalf("CompareAndSet: %v, %v", ok, err)
	}
}

// NotARecord tests that the record at [Block] of the realm "realm" is an error with these
// words, after somebody has done to it what is told.
func NotARecord(t *testing.T, s lease.Store, done, want string) {
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
