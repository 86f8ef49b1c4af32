package faulttest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
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

// An Opener is the function Open of a kind of store.
type Opener[S lease.Store] = func(ctx context.Context, url string) (S, error)

func Open[S lease.Store](t *testing.T, open Opener[S], url string) S {
	t.Helper()
	s, err := open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Refused opens a store. That must fail with these words, without the password "secret" and without
// a second attempt.
func Refused[S lease.Store](t *testing.T, open Opener[S], url string, want ...string) error {
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
	says(t, err, want...)
	return err
}

func says(t *testing.T, err error, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in the error: %v", w, err)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("an error with the password: %v", err)
	}
}

// Unsafe opens a store. That must fail with [lease.ErrUnsafe] and these words.
func Unsafe[S lease.Store](t *testing.T, open Opener[S], url string, want ...string) {
	t.Helper()
	if err := Refused(t, open, url, want...); !errors.Is(err, lease.ErrUnsafe) {
		t.Errorf("%v, want ErrUnsafe", err)
	}
}

// BadURLs opens malformed URLs. Each error must contain its words.
func BadURLs[S lease.Store](t *testing.T, open Opener[S], urls map[string]string) {
	t.Helper()
	for url, want := range urls {
		if err := Refused(t, open, url, want); !errors.Is(err, connect.ErrURL) {
			t.Errorf("%s: %v, want ErrURL", url, err)
		}
	}
}

// Secrets opens URLs with a password, however that is written. No error repeats it.
func Secrets[S lease.Store](t *testing.T, open Opener[S], urls ...string) {
	t.Helper()
	for _, form := range []string{"%s", "a%%40%s", "%%zz%s", "#%s", "/%s", "?%s", "@%s", ":%s",
		"a:%s@b", "1#%s", "1/%s", "1?%s=", "1@%s", "[%s", "]%s", " %s", "\x00%s", "\\%s", "&%s",
		")/%s", "`: %s", "1/%s?x=%[1]s", "1/a?%s#%[1]s"} {
		for _, url := range urls {
			url = strings.Replace(url, "PASSWORD", fmt.Sprintf(form, "hushhush"), 1)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			s, err := open(ctx, url)
			cancel()
			if err == nil {
				s.Close()
				t.Fatalf("%q: no error", url)
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), "hushhush") {
					t.Errorf("%q: %v", url, e)
				}
			}
		}
	}
}

func Away(t *testing.T) string {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
	conn, err := d.Dial("tcp", Listen(t, anyPort, nil).Addr().String())
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
func NoServer[S lease.Store](t *testing.T, open Opener[S], url string, want ...string) {
	t.Helper()
	away, silent := Away(t), Listen(t, anyPort, nil).Addr().String()
	for address, want := range map[string][]string{
		away:   append(want, away, "refused", "tried for "),
		silent: {"no answer from " + silent + " in "},
	} {
		err := Patiently(t, 600*time.Millisecond, func(ctx context.Context) error {
			s, err := open(ctx, At(t, url, address))
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
		says(t, err, want...)
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %q", err)
		}
	}
}

// Crowd uses many more stores at a time than their server has connections.
func Crowd[S lease.Store](t *testing.T, open Opener[S], url string) {
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

// RacingOpens opens a store that does not exist from many goroutines at once. All must get the same
// store.
func RacingOpens[S lease.Store](t *testing.T, open Opener[S], url string, remove func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range 5 {
		remove()
		var wg sync.WaitGroup
		var changed atomic.Int32
		begin := make(chan struct{})
		for range 12 {
			wg.Go(func() {
				<-begin
				s, err := open(ctx, url)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				if ok, err := s.CompareAndSet(ctx, Record(0), Record(1)); err != nil {
					t.Error(err)
				} else if ok {
					changed.Add(1)
				}
			})
		}
		close(begin)
		wg.Wait()
		if n := changed.Load(); n != 1 {
			t.Errorf("%d of 12 made the same change", n)
		}
	}
}
