package faulttest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/testserver"
)

// patience makes a test fail instead of hang, even on a slow machine.
const patience = 3 * time.Minute

func Eventually(t *testing.T, ok func() bool, what func() string) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal(what())
		}
	}
}

var Block = lease.Block{NodeID: 42, Size: 8}

// Record returns a test record for a revision, or none for revision 0.
func Record(revision uint64) lease.Record {
	r := lease.Record{Realm: "realm", Block: Block}
	if revision > 0 {
		r.Revision, r.HWM, r.State = revision, int64(revision)*1000, lease.Whole
	}
	return r
}

func Open[S lease.Store](t *testing.T, open func(context.Context, string) (S, error),
	url string) S {
	t.Helper()
	s, err := open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Refused opens a store. That must fail with these words, without a second attempt.
func Refused[S lease.Store](t *testing.T, open func(context.Context, string) (S, error), url string,
	want ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

func Away(t *testing.T) string {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
	conn, err := d.Dial("tcp", Silent(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.LocalAddr().String()
}

// Patiently calls f with longer and longer contexts, until its error contains these words.
func Patiently(t *testing.T, first time.Duration, f func(context.Context) error,
	want ...string) (err error) {
	t.Helper()
	for d := first; d < patience; d *= 4 {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		err = f(ctx)
		ended := ctx.Err() != nil
		cancel()
		if err == nil || !ended ||
			!slices.ContainsFunc(want, func(w string) bool {
				return !strings.Contains(err.Error(), w)
			}) {
			break
		}
	}
	return err
}

// NoServer opens a store on a server that is away, and on one that says nothing. Both must fail
// when the context ends, and not before. The errors must name the address.
func NoServer[S lease.Store](t *testing.T, open func(context.Context, string) (S, error),
	url func(address string) string, want ...string) {
	t.Helper()
	away, silent := Away(t), Silent(t)
	for address, want := range map[string][]string{
		away:   append(want, "refused", "tried for "),
		silent: {"no answer from " + silent + " in "},
	} {
		err := Patiently(t, 600*time.Millisecond, func(ctx context.Context) error {
			s, err := open(ctx, url(address))
			if err == nil {
				s.Close()
			} else if ctx.Err() == nil {
				t.Errorf("it gave up before the context ended: %v", err)
			}
			return err
		}, want...)
		if err == nil {
			t.Fatal("no error")
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

func Comes[S lease.Store](t *testing.T, open func(context.Context, string) (S, error),
	server *testserver.Server) {
	t.Helper()
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

// Crowd uses many more stores at a time than their server has connections.
func Crowd[S lease.Store](t *testing.T, open func(context.Context, string) (S, error), url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for i := range uint32(60) {
		wg.Go(func() {
			s, err := open(ctx, url)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 3 {
				if _, err := s.Get(ctx, "realm", lease.Block{NodeID: i, Size: 8}); err != nil {
					t.Error(err)
				}
				time.Sleep(150 * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// WrongClocks leases node IDs for processes with wrong clocks. Only those within the lead get one.
func WrongClocks(t *testing.T, s lease.Store) {
	t.Helper()
	for _, c := range []struct {
		ahead time.Duration
		want  error
	}{
		{0, nil}, {30 * time.Second, nil}, {-30 * time.Second, nil},
		{90 * time.Second, lease.ErrClock}, {-90 * time.Second, lease.ErrClock},
		{365 * 24 * time.Hour, lease.ErrClock}, {-365 * 24 * time.Hour, lease.ErrClock},
	} {
		l, err := lease.Acquire(t.Context(), s, lease.Config{
			Realm: "clocks", Format: lease.SCRU64, NodeBits: 8, MaxLead: time.Minute,
			Now: func() time.Time { return time.Now().Add(c.ahead) },
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

func SameClock(t *testing.T, s lease.Store) {
	t.Helper()
	const exact = 2 * time.Second
	began := time.Now()
	now, err := s.Time(t.Context())
	if err != nil || now.Before(began.Add(-exact)) || now.After(time.Now().Add(exact)) {
		t.Errorf("asked from %v to %v, the store says %v, %v", began, time.Now(), now, err)
	}
}

func Change(t *testing.T, s lease.Store, prev, next lease.Record) {
	t.Helper()
	if ok, err := s.CompareAndSet(t.Context(), prev, next); !ok || err != nil {
		t.Fatalf("CompareAndSet: %v, %v", ok, err)
	}
}

// Stores makes a change in a cluster that may have no leader for a while. After an error, the
// change may be stored or not.
func Stores(t *testing.T, when string, s lease.Store, was, next lease.Record) {
	t.Helper()
	var err error
	Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var r lease.Record
		if r, err = s.Get(ctx, was.Realm, was.Block); err == nil && r == was {
			_, err = s.CompareAndSet(ctx, was, next)
		} else if err == nil && r != next {
			t.Fatalf("%s: got %+v, want %+v or %+v", when, r, was, next)
		}
		return err == nil && r == next
	}, func() string { return fmt.Sprintf("%s: %v", when, err) })
}

// NotARecord tests that reading the record at [Block] of the realm "realm" is an error.
func NotARecord(t *testing.T, s lease.Store, done, want string) {
	t.Helper()
	if r, err := s.Get(t.Context(), "realm", Block); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%s: Get: %+v, %v", done, r, err)
	}
	if r, err := s.List(t.Context(), "realm"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: List: %+v, %v", done, r, err)
	}
}

func Idles(t *testing.T, s lease.Store, times int, connections func() int) {
	t.Helper()
	revision := uint64(0)
	for range times {
		// On a slow machine they may be closed before they are counted.
		Eventually(t, func() bool {
			Change(t, s, Record(revision), Record(revision+1))
			revision++
			return connections() > 0
		}, func() string { return "just after its use there are no connections to be seen" })
		n := 0
		Eventually(t, func() bool {
			n = connections()
			return n == 0
		}, func() string { return fmt.Sprintf("long after its use there are %d connections", n) })
	}
	Change(t, s, Record(revision), Record(revision+1))
}

// RacingOpens opens a store that does not exist from many goroutines at once.
func RacingOpens[S lease.Store](t *testing.T, open func(context.Context, string) (S, error),
	url string, remove func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range 5 {
		remove()
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for range 12 {
			wg.Go(func() {
				<-begin
				s, err := open(ctx, url)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.List(ctx, "realm"); err != nil {
					t.Error(err)
				}
				s.Close()
			})
		}
		close(begin)
		wg.Wait()
	}
}

// RestartInUse crashes the server after both connections of a store's pool have been used. Calls
// fail only while it is down.
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
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			if _, err := s.Get(ctx, "realm", Block); err == nil ||
				!strings.Contains(err.Error(), "127.0.0.1:") {
				t.Errorf("without a server: %v", err)
			}
			cancel()
		}
		server.Start()
		Change(t, s, Record(1+i), Record(2+i))
	}
}
