// Package window has the part of a lease that generators call. A [Window] is a [sortid.Lease].
// Package lease sets its [Grant]. A generator calls [Window.ClaimTick] before the first ID of a
// tick. So every ID belongs to a grant, even if there is a delay between the claim and the ID. The
// generator can still use a claimed tick after the lease is closed or lost.
package window

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
)

// None is the tick before all others.
const None = math.MinInt64

// A Grant is a node ID and its ticks, from Lo to Hi-1. A Grant does not change.
type Grant struct {
	NodeID uint32
	Lo, Hi int64
}

// A Window contains the current grant of a lease. It is safe for concurrent use. Generators may
// share a Window, because each tick goes to only one of them. Make a Window with [New].
type Window struct {
	grant     atomic.Pointer[Grant] // never nil
	used      atomic.Int64          // the last claimed tick
	renewFrom atomic.Int64          // a claim of this tick or a later tick asks for renewal

	size     int
	tick     time.Duration
	epoch    time.Time
	requests chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each new grant
	closed  bool
	reason  error // why the last renewal failed, or nil
}

var (
	none   = &Grant{Lo: None, Hi: None}
	closed = &Grant{Lo: None, Hi: None}
)

// New returns a window without a grant, for node IDs of size bits. Tick 0 starts at epoch.
func New(size int, tick time.Duration, epoch time.Time) *Window {
	w := &Window{
		size: size, tick: tick, epoch: epoch,
		requests: make(chan struct{}, 1),
		changed:  make(chan struct{}),
	}
	w.grant.Store(none)
	w.used.Store(None)
	w.renewFrom.Store(None)
	return w
}

func (w *Window) NodeBits() int { return w.size }

func (w *Window) TickLength() time.Duration { return w.tick }

func (w *Window) Epoch() time.Time { return w.epoch }

// ClaimTick claims the first tick from t on that is granted and not yet claimed. It allocates only
// if it fails.
func (w *Window) ClaimTick(t int64) (nodeID uint32, claimed int64, err error) {
	for {
		g, used := w.grant.Load(), w.used.Load()
		at := max(t, g.Lo, used+1)
		if at >= g.Hi {
			w.RequestRenewal()
			return 0, 0, w.expired(g, at)
		}
		if !w.used.CompareAndSwap(used, at) {
			continue
		}
		// Request the renewal after the claim is visible, because the lease reads the claim to
		// decide whether to renew.
		if at >= w.renewFrom.Load() {
			w.RequestRenewal()
		}
		// The claim is visible, so read the grant once more. Close first removes the grant and then
		// reads the last claim. So either Close sees this claim, or this call sees that the grant
		// is gone.
		if g = w.grant.Load(); g.Lo <= at && at < g.Hi {
			return g.NodeID, at, nil
		}
	}
}

// ClaimTicks claims the ticks from first to last, or none. It returns false if some of them are not
// granted, or not after all claimed ticks.
func (w *Window) ClaimTicks(first, last int64) (nodeID uint32, ok bool) {
	for {
		g, used := w.grant.Load(), w.used.Load()
		if first <= used || first < g.Lo || last < first || last >= g.Hi {
			return 0, false
		}
		if !w.used.CompareAndSwap(used, last) {
			continue
		}
		if last >= w.renewFrom.Load() {
			w.RequestRenewal()
		}
		// As in ClaimTick, read the grant once more.
		g = w.grant.Load()
		return g.NodeID, g.Lo <= first && last < g.Hi
	}
}

func (w *Window) expired(g *Grant, t int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return sortid.ErrLeaseClosed
	}
	err := fmt.Errorf("%w: no node ID has been granted", sortid.ErrLeaseExpired)
	if g.Hi != None {
		err = fmt.Errorf("%w: node ID %d/%d was granted up to %s, and the next ID is due at %s",
			sortid.ErrLeaseExpired, g.NodeID, w.size, w.text(g.Hi), w.text(t))
	}
	if w.reason != nil {
		err = fmt.Errorf("%w; the lease was not renewed: %w", err, w.reason)
	}
	return err
}

func (w *Window) Time(t int64) time.Time {
	tick := w.tick.Milliseconds()
	limit := 1 << 52 / tick // avoids overflow
	return time.UnixMilli(w.epoch.UnixMilli() + min(max(t, -limit), limit)*tick).UTC()
}

func (w *Window) text(t int64) string { return w.Time(t).Format(clock.Layout) }

func (w *Window) WaitTick(ctx context.Context, t int64) error {
	for {
		g, changed, over := w.Watch()
		if over {
			return sortid.ErrLeaseClosed
		}
		at := max(t, g.Lo, w.used.Load()+1)
		if at < g.Hi {
			return nil
		}
		w.RequestRenewal()
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w; gave up waiting: %w", w.expired(&g, at), clock.ContextError(ctx))
		}
	}
}

// Watch returns the current grant, a channel that is closed when the grant changes, and whether the
// window is closed.
func (w *Window) Watch() (g Grant, changed <-chan struct{}, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.grant.Load(), w.changed, w.closed
}

// Grant returns the current grant, with Lo == Hi if there is none.
func (w *Window) Grant() Grant { return *w.grant.Load() }

// Used returns the last claimed tick, or [None].
func (w *Window) Used() int64 { return w.used.Load() }

// The methods below are for package lease.

func (w *Window) Set(g Grant, renewFrom int64) { w.Renew(g, renewFrom, nil) }

// Renew replaces the grant, and the reason why the last renewal failed. A claim of tick renewFrom
// or a later tick sends on [Window.RenewalRequests]. After Close, Renew does nothing.
func (w *Window) Renew(g Grant, renewFrom int64, reason error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.reason = reason
	w.renewFrom.Store(renewFrom)
	w.grant.Store(&g)
	w.wake()
}

// Fail sets the reason why the last renewal failed. Errors contain it until the next Renew. After
// Close, Fail does nothing.
func (w *Window) Fail(reason error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.reason = reason
	}
}

func (w *Window) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason
}

// Close ends the window permanently and returns the last claimed tick. After Close, no claim of a
// later tick succeeds.
func (w *Window) Close() (used int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.grant.Store(closed)
	w.wake()
	return w.used.Load()
}

func (w *Window) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *Window) RequestRenewal() {
	select {
	case w.requests <- struct{}{}:
	default:
	}
}

// RenewalRequests returns a channel. The channel receives a value when a generator asks for a tick
// near the end of the grant or after it.
func (w *Window) RenewalRequests() <-chan struct{} { return w.requests }
