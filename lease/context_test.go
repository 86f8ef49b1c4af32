package lease

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// endsWithin waits until ctx ends, and checks the cause and how long it took.
func endsWithin(t *testing.T, ctx context.Context, least, most time.Duration, want ...any) {
	t.Helper()
	began := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(24 * time.Hour):
	}
	if d := time.Since(began); d < least || d > most {
		t.Errorf("the context ended after %v, want %v to %v", d, least, most)
	}
	fails(t, "the context", context.Cause(ctx), want...)
}

func TestContext(t *testing.T) {
	const early = 10 * time.Second
	for name, test := range map[string]func(t *testing.T, n *network, l *Lease, ctx context.Context,
		cancel func(), ahead *atomic.Int64){
		"the store is away": func(t *testing.T, n *network, l *Lease, ctx context.Context, _ func(),
			_ *atomic.Int64) {
			time.Sleep(time.Hour)
			if ctx.Err() != nil {
				t.Fatal("while the lease is renewed:", context.Cause(ctx))
			}
			n.set(func() { n.down = true })
			left := time.Until(l.Until())
			endsWithin(t, ctx, left-early, left-early+watchPause, ErrExpired, errDown,
				`of realm "workers" is granted up to`, "its use ends 10s earlier")
		},
		"evicted": func(t *testing.T, n *network, l *Lease, ctx context.Context, _ func(),
			_ *atomic.Int64) {
			_, err := Evict(t.Context(), n, "workers", held(t, n)[0].Block, Owner{})
			check.OK(t, err)
			endsWithin(t, ctx, 0, 31*time.Second, ErrLost, `of realm "workers" was lost`)
		},
		"closed": func(t *testing.T, n *network, l *Lease, ctx context.Context, _ func(),
			_ *atomic.Int64) {
			time.AfterFunc(time.Second, func() { l.Close(t.Context()) })
			endsWithin(t, ctx, time.Second, time.Second, ErrClosed)
		},
		"canceled": func(t *testing.T, n *network, l *Lease, ctx context.Context, cancel func(),
			_ *atomic.Int64) {
			cancel()
			cancel()
			endsWithin(t, ctx, 0, 0, context.Canceled)
		},
		"the clock is set back": func(t *testing.T, n *network, l *Lease, ctx context.Context,
			_ func(), ahead *atomic.Int64) {
			n.set(func() { n.down = true })
			left := time.Until(l.Until())
			time.Sleep(time.Second)
			ahead.Store(int64(-time.Hour))
			endsWithin(t, ctx, left-early-time.Second, left-early-time.Second+watchPause, ErrExpired)
		},
		// A monotonic clock that stands still cannot be had here, but the wall clock shows the same.
		"the machine was suspended": func(t *testing.T, n *network, l *Lease, ctx context.Context,
			_ func(), ahead *atomic.Int64) {
			n.set(func() { n.down = true })
			time.Sleep(time.Second)
			ahead.Store(int64(time.Hour))
			endsWithin(t, ctx, 0, watchPause, ErrExpired)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, direct := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					n := &network{Store: NewMemory()}
					c := workers(1)
					ahead := skewed(&c)
					_, err := Create(t.Context(), n, c)
					check.OK(t, err)
					var l *Lease
					if direct {
						l, err = Acquire(t.Context(), n, c)
					} else {
						l, err = AcquireFrom(t.Context(), NewLessor(n, LessorOptions{}), c)
					}
					check.OK(t, err)
					ctx, cancel := l.Context(t.Context(), early)
					test(t, n, l, ctx, cancel, ahead)
					cancel()
					n.set(func() { n.down = false })
					l.Close(t.Context())
				})
			}
		})
	}
}

// The context ends with its parent, and at once if it begins too late.
func TestContextBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := acquire(t, NewMemory(), workers(1))
		parent, end := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		ctx, cancel := l.Context(parent, 0)
		end(stop)
		endsWithin(t, ctx, 0, 0, stop)
		cancel()
		ctx, cancel = l.Context(t.Context(), time.Minute)
		endsWithin(t, ctx, 0, 0, ErrExpired)
		cancel()
		closed(t, l)
		ctx, cancel = l.Context(t.Context(), 0)
		endsWithin(t, ctx, 0, 0, ErrClosed)
		cancel()
	})
}

// A lease that got the same node ID again is another lease: somebody else had it meanwhile.
func TestContextSameNodeID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{Store: NewMemory()}
		c := workers(3)
		zero := uint32(0) // a window without a grant also has this node ID
		c.NodeID = &zero
		l := acquire(t, n, c)
		ctx, cancel := l.Context(t.Context(), time.Second)
		defer cancel()
		_, err := Evict(t.Context(), n, "workers", Block{0, 3}, Owner{})
		check.OK(t, err)
		endsWithin(t, ctx, 0, 31*time.Second, ErrLost)
		closed(t, l)
	})
}

// After an eviction, the spans of two users have no moment in common, even if their clocks differ
// by twice the lead.
func TestSoleUse(t *testing.T) {
	for name, precision := range map[string]time.Duration{"exact": 0, "a second": time.Second} {
		for _, remote := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				store := Store(NewMemory())
				if precision != 0 {
					store = imprecise{store}
				}
				c := config(2)
				c.OneSize = true
				if _, err := Create(t.Context(), store, c); err != nil {
					t.Fatal(err)
				}
				get := func(c Config) *Lease {
					t.Helper()
					if remote {
						l, err := AcquireFrom(t.Context(), NewLessor(store, LessorOptions{}), c)
						check.OK(t, err)
						return l
					}
					return acquire(t, store, c)
				}
				id := uint32(1)
				slow, fast := c, c
				slow.NodeID, fast.NodeID, slow.Once = &id, &id, true
				slow.Window = 30 * time.Second
				skewed(&slow).Store(-int64(9 * time.Second))
				skewed(&fast).Store(int64(9 * time.Second))
				fast.Wait = true
				first := get(slow)
				naive := first.Until()
				_, until := first.SoleUse()
				_, err := Evict(t.Context(), store, c.Realm, Block{1, 2}, Owner{})
				check.OK(t, err)
				second := get(fast)
				from, _ := second.SoleUse()
				until, from = until.Add(9*time.Second), from.Add(-9*time.Second)
				if until.After(from) || until.Before(from.Add(-2*time.Second-precision*2)) {
					t.Errorf("%s, remote %v: until %v, then from %v", name, remote, until, from)
				}
				if naive.Add(9 * time.Second).Before(second.From().Add(-9 * time.Second)) {
					t.Errorf("%s, remote %v: the clocks do not matter here", name, remote)
				}
				closed(t, second)
				first.Close(t.Context())
			})
		}
	}
}
