package lease

import (
	"context"
	"time"

	"github.com/sortid/sortid/internal/clock"
)

// A Generator makes IDs of any kind, and knows nothing of leases. A [Guard] calls its functions one
// at a time.
type Generator[T any] struct {
	// New returns a function that makes IDs with a node ID. As long as the time in its IDs does not
	// go back, this function must not make an ID twice.
	New func(nodeID uint32) (next func() (T, error), err error)
	// Time returns the time in an ID: when the ID's tick begins.
	Time func(id T) time.Time
	// Tick is how long the ticks of the IDs are, such as 10 ms for Sonyflake. 0 means 1 ms.
	Tick time.Duration
}

// ErrIDTime: the time in a generator's IDs is more than a minute too early, or too late by more
// than a minute and the window. The clock was set, or [Generator.Time] is wrong.
var ErrIDTime = newError("the time in the IDs is far from the time of the lease")

// A Guard makes IDs with a [Generator] and a [Lease]. An ID's tick can contain several ticks of the
// realm. The Guard returns the ID only if all of them are granted for the ID's node ID, and if no
// other user of the lease has claimed one. So of all Guards whose leases are of one realm, no two
// return the same ID. This holds even if clocks are set, if processes or machines stand still, if
// leases are evicted, and if the store is away.
//
// It does not hold for a virtual machine that is cloned while it runs, until each clone has renewed
// the lease.
//
// The Guard discards IDs that it must not return. If the lease gets another node ID, the Guard
// makes a new generator.
//
// A Guard is safe for concurrent use. Several Guards may share a lease, but then each tick goes to
// only one of them.
type Guard[T any] struct {
	lease     *Lease
	generator Generator[T]
	busy      chan struct{} // contains a value while Next runs

	next   func() (T, error) // nil: there is no generator yet
	nodeID uint32            // of the generator
	fresh  bool              // no ID of the generator was returned yet

	// The ticks that this Guard has claimed last, and the time in the last returned ID.
	first, last int64
	at          time.Time
}

// NewGuard returns a Guard. The lease must stay open while the Guard is in use.
func NewGuard[T any](l *Lease, g Generator[T]) *Guard[T] {
	if g.Tick == 0 {
		g.Tick = time.Millisecond
	}
	return &Guard[T]{lease: l, generator: g, busy: make(chan struct{}, 1), first: 1}
}

// maxIDDelay is how long Next waits for a generator whose IDs are too early.
const maxIDDelay = time.Minute

// Next returns an ID. It waits until the ID's tick is granted, so while the store is away it waits
// when the window has ended. If ctx ends meanwhile, the error matches [ErrExpired] and the error of
// ctx, and says why the lease was not renewed.
//
// Next fails with [ErrClosed], [ErrIDTime], or an error of the generator or the context.
func (g *Guard[T]) Next(ctx context.Context) (T, error) {
	var id, none T
	select {
	case g.busy <- struct{}{}:
		defer func() { <-g.busy }()
	case <-ctx.Done():
		return none, clock.ContextError(ctx)
	}
	kept, err := false, error(nil) // kept: id is from before a wait
	for ctx.Err() == nil {
		grant, _, over := g.lease.window.Watch()
		switch {
		case over:
			return none, ErrClosed
		case grant.Lo == grant.Hi: // there is none
			if err := g.lease.WaitTick(ctx, g.lease.terms.At(g.lease.config.Now())); err != nil {
				return none, err
			}
			continue
		case g.next == nil || g.nodeID != grant.NodeID:
			kept, g.fresh, g.last, g.first = false, true, 0, 1
			if g.next, err = g.generator.New(grant.NodeID); err != nil {
				g.next = nil
				return none, err
			}
			g.nodeID = grant.NodeID
		}
		if !kept {
			if id, err = g.next(); err != nil {
				return none, err
			}
		}
		at := g.generator.Time(id)
		first, last := g.lease.terms.At(at), g.lease.terms.At(at.Add(g.generator.Tick-1))
		if g.claim(at, first, last) {
			g.at, g.fresh = at, false
			return id, nil
		}
		if kept, err = g.wait(ctx, at, first, last, kept); err != nil {
			return none, err
		}
	}
	return none, clock.ContextError(ctx)
}

// claim reports whether an ID with the ticks from first to last may be returned.
func (g *Guard[T]) claim(at time.Time, first, last int64) bool {
	if g.first <= first && last <= g.last && !at.Before(g.at) {
		return true
	}
	// The generator may have gone back in time, and could make IDs of the claimed ticks twice.
	g.first, g.last = 1, 0
	nodeID, ok := g.lease.window.ClaimTicks(first, last)
	if !ok || nodeID != g.nodeID {
		return false
	}
	g.first, g.last = first, last
	return true
}

// wait waits until an ID with these ticks can be claimed, or until the generator can make one that
// can. It reports whether to keep the ID. The parameter kept says whether it was kept before.
func (g *Guard[T]) wait(ctx context.Context, at time.Time, first, last int64,
	kept bool) (keep bool, err error) {
	l := g.lease
	grant, used := l.window.Grant(), l.window.Used()
	from := max(grant.Lo, used+1)
	switch {
	case grant.Lo == grant.Hi || grant.NodeID != g.nodeID || kept && first < from:
		return false, nil
	case first < from:
		d := l.window.Time(from).Sub(at)
		if d > time.Second && !g.fresh {
			// The clock of the generator may have stood still while the machine was suspended. A
			// new generator has the present time.
			g.next = nil
			return false, nil
		}
		if d > maxIDDelay {
			return false, errorf(ErrIDTime, "the next ID has the time %s, "+
				"and the lease has free times from %s on", at.UTC().Format(timeFormat),
				l.window.Time(from).Format(timeFormat))
		}
		return false, clock.Sleep(ctx, min(max(d, 0), watchPause))
	case last < grant.Hi: // the grant has changed
		return true, nil
	}
	now := l.config.Now()
	if at.Sub(now) > maxIDDelay+l.Window() {
		return false, errorf(ErrIDTime, "the next ID has the time %s, and it is only %s",
			at.UTC().Format(timeFormat), now.UTC().Format(timeFormat))
	}
	return true, l.WaitTick(ctx, last)
}
