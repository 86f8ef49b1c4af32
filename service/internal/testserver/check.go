package testserver

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
)

// CheckLostAnswers loses one answer of the server after the other, on the way to a store
// that reaches it through the proxy, and tests that no change is then reported as
// refused: it may have been made, so it must be an error. The other store, of the same
// records, tells whether it was.
func CheckLostAnswers(t *testing.T, p *Proxy, through, direct lease.Store) {
	t.Helper()
	const most = 50
	for _, kind := range []string{"first", "further"} {
		b := lease.Block{NodeID: 42, Size: 8}
		was := lease.Record{Realm: "lost " + kind, Block: b}
		if kind == "further" {
			next := was
			next.Epoch = 1
			if ok, err := direct.CompareAndSet(t.Context(), was, next); err != nil || !ok {
				t.Fatal(ok, err)
			}
			was = next
		}
		made, lost := 0, true
		for n := 1; lost; n++ {
			if n > most {
				t.Fatalf("after %d answers of a %s change the proxy still loses some", most, kind)
			}
			if kind == "first" {
				b.NodeID++
				was = lease.Record{Realm: was.Realm, Block: b}
			}
			next := was
			next.Epoch, next.HWM, next.State, next.Request = was.Epoch+1, was.HWM+1000, lease.Whole, uint64(n)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			p.Lose(n)
			ok, err := through.CompareAndSet(ctx, was, next)
			lost = p.Lost()
			p.Lose(0)
			cancel()
			is := latest(t, direct, was, lost && err != nil)
			if err == nil && !ok {
				t.Errorf("without answer %d a %s change was reported as refused; made: %v", n, kind, is == next)
			}
			if err == nil && ok != (is == next) {
				t.Errorf("without answer %d a %s change was reported as %v, there is %+v", n, kind, ok, is)
			}
			if err != nil && !lost {
				t.Errorf("a %s change failed though no answer was lost: %v", kind, err)
			}
			if err != nil && is == next {
				made++
			}
			was = is
		}
		if made == 0 {
			t.Errorf("no answer was lost of a %s change that was made", kind)
		}
	}
}

// latest returns the record that is stored. After an ambiguous error the change may still
// be under way; it is given a moment.
func latest(t *testing.T, s lease.Store, r lease.Record, ambiguous bool) lease.Record {
	t.Helper()
	if ambiguous {
		time.Sleep(50 * time.Millisecond)
	}
	is, err := s.Get(t.Context(), r.Realm, r.Block)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// CheckOutage holds a lease of the store while its server is down for longer than the
// window, and tests that ticks are handed out until the window ends, then none, and soon
// after the server is back again.
func CheckOutage(t *testing.T, s *Server, store lease.Store) {
	t.Helper()
	const window = 2 * time.Second
	l, err := lease.Acquire(t.Context(), store, lease.Config{
		Realm: "outage", NodeIDSize: 8, Window: window,
		Format: lease.Format{Bits: 8, Tick: time.Millisecond, Epoch: time.UnixMilli(0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	claim := func() error {
		t.Helper()
		_, tick, err := l.Window().Claim(time.Now().UnixMilli())
		if err == nil && tick <= last {
			t.Fatalf("tick %d after tick %d", tick, last)
		}
		last = max(last, tick)
		return err
	}
	// For longer than a window, so it must have been renewed.
	for began := time.Now(); time.Since(began) < window+window/4; time.Sleep(10 * time.Millisecond) {
		if err := claim(); err != nil {
			t.Fatalf("with the server up: %v", err)
		}
	}
	s.Stop()
	stopped := time.Now()
	if err := claim(); err != nil {
		t.Errorf("just after the server stopped: %v", err)
	}
	for claim() == nil {
		if time.Since(stopped) > 2*window {
			t.Fatal("without a server ticks are handed out beyond the window")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := claim(); !errors.Is(err, lease.ErrExpired) {
		t.Errorf("without a server: %v, want %v", err, lease.ErrExpired)
	}
	if l.Err() == nil {
		t.Error("without a server the lease tells no error")
	}
	s.Start()
	started := time.Now()
	for claim() != nil {
		if time.Since(started) > 20*time.Second {
			t.Fatalf("%v after the server is back: %v", time.Since(started), claim())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}
