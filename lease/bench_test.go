package lease

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// A ticking store's clock moves a second with each reading.
type ticking struct {
	Store
	now time.Time
}

func (s *ticking) Time(context.Context) (time.Time, error) {
	s.now = s.now.Add(time.Second)
	return s.now, nil
}

func benchmarkSession(b *testing.B) (*session, context.Context) {
	b.Helper()
	store := &ticking{NewMemory(), time.UnixMilli(1_700_000_000_000)}
	c, err := Config{Realm: "bench", Format: SCRU160(), NodeBits: 8,
		Now: func() time.Time { return store.now }}.complete()
	if err != nil {
		b.Fatal(err)
	}
	s, ctx := newSession(store, c), context.Background()
	check.OK(b, s.enter(ctx, true))
	return s, ctx
}

// BenchmarkSession leases from a store in memory, so it shows only what the protocol costs.
func BenchmarkSession(b *testing.B) {
	b.Run("acquire", func(b *testing.B) {
		s, ctx := benchmarkSession(b)
		for b.Loop() {
			check.OK(b, s.renew(ctx, -1<<62))
			check.OK(b, s.release(ctx, 0))
		}
	})
	b.Run("renew", func(b *testing.B) {
		s, ctx := benchmarkSession(b)
		for b.Loop() {
			check.OK(b, s.renew(ctx, -1<<62))
		}
	})
}

// BenchmarkLessor leases through a lessor over a store in memory.
func BenchmarkLessor(b *testing.B) {
	store := &ticking{NewMemory(), time.UnixMilli(1_700_000_000_000)}
	l, ctx := NewLessor(store, LessorOptions{}), context.Background()
	if _, _, err := l.CreateRealm(ctx, Config{Realm: "bench", Format: SCRU160(),
		NodeBits: 8}); err != nil {
		b.Fatal(err)
	}
	i := 0
	acquire := func(b *testing.B) Grant {
		i++
		g, err := l.Acquire(ctx, "bench", AcquireRequest{Request: fmt.Sprintf("%16d", i), NodeID: -1})
		if err != nil {
			b.Fatal(err)
		}
		return g
	}
	release := func(b *testing.B, g Grant) {
		if err := l.Release(ctx, "bench", g.ID, ReleaseRequest{Secret: g.Secret,
			EndTick: g.EndTick, LastTime: g.ValidFrom()}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("acquire", func(b *testing.B) {
		for b.Loop() {
			release(b, acquire(b))
		}
	})
	b.Run("renew", func(b *testing.B) {
		g := acquire(b)
		for b.Loop() {
			next, err := l.Renew(ctx, "bench", g.ID, RenewRequest{Secret: g.Secret,
				EndTick: g.EndTick, Renewal: fmt.Sprint(g.EndTick)})
			if err != nil {
				b.Fatal(err)
			}
			g = next
		}
		release(b, g)
	})
}
