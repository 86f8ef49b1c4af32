// Package window is the [sortid.Lease] inside a lease of package lease. It gives generators the
// ticks of the lease's node ID, each tick once.
//
// Package lease fills a [Window] with grants. A grant is a node ID and the ticks that IDs with
// this node ID may carry, from Lo up to but not including Hi. A generator calls [Window.ClaimTick]
// before the first ID of a tick. So every ID is inside a grant, however long the goroutine was
// held up: the claim decides, not the clock. A claimed tick remains the generator's after the
// lease is closed or lost.
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

// None is the tick before all others: no tick was claimed.
const None = math.MinInt64

// A Grant is a node ID and the ticks [Lo, Hi) that IDs with it may carry. A Window's Grants do not
// change; a renewed lease has another one.
type Grant struct {
	NodeID uint32
	Lo, Hi int64
}

// A Window holds the current grant of a lease. All its methods are safe for concurrent use. Any
// number of generators may share a Window: each tick goes to only one. Make one with [New].
type Window struct {
	grant     atomic.Pointer[Grant] // never nil
	used      atomic.Int64          // the last tick claimed
	renewFrom atomic.Int64          // a claim from here on asks for renewal

	size     int
	tick     time.Duration
	epoch    time.Time
	requests chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each new grant
	closed  bool
	reason  error
}

// The grants of a window that has no ticks.
var (
	none   = &Grant{Lo: None, Hi: None}
	closed = &Grant{Lo: None, Hi: None}
)

// New returns a window without a grant, for node IDs of size bits and for ticks of the
// given length that are counted from epoch.
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

// NodeBits returns the size of the node IDs in bits.
func (w *Window) NodeBits() int { return w.size }

// TickLength returns the length of a tick.
func (w *Window) TickLength() time.Duration { return w.tick }

// Epoch returns the time at which tick 0 begins.
func (w *Window) Epoch() time.Time { return w.epoch }

// ClaimTick claims the first tick from t on that is granted and not yet claimed. It allocates
// nothing unless it fails.
func (w *Window) ClaimTick(t int64) (nodeID uint32, claimed int64, err error) {
	for {
		g, used := w.grant.Load(), w.used.Load()
		at := max(t, g.Lo)
		if at <= used {
			at = used + 1
		}
		if at >= g.Hi {
			w.RequestRenewal()
			return 0, 0, w.expired(g, at)
		}
		if !w.used.CompareAndSwap(used, at) {
			continue
		}
		// Not before the claim is visible: the lease looks at it to see whether to renew.
		if at >= w.renewFrom.Load() {
			w.RequestRenewal()
		}
		// The claim is visible now, so read the grant once more. Close first takes away the grant
		// and then reads the last claim, so one of the two sees the other.
		if g = w.grant.Load(); g.Lo <= at && at < g.Hi {
			return g.NodeID, at, nil
		}
	}
}

// expired returns why tick t cannot be claimed.
func (w *Window) expired(g *Grant, t int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return sortid.ErrLeaseClosed
	}
	err := fmt.Errorf("%w: no node ID has been granted", sortid.ErrLeaseExpired)
	if g.Hi != None {
		err = fmt.Errorf("%w: node ID %d/%d was granted up to %s, and the next ID is due at %s",
			sortid.ErrLeaseExpired,
			g.NodeID, w.size, w.text(g.Hi), w.text(t))
	}
	if w.reason != nil {
		err = fmt.Errorf("%w; it was not renewed: %w", err, w.reason)
	}
	return err
}

// Time returns the time at which a tick begins.
func (w *Window) Time(t int64) time.Time {
	const limit = 1 << 52 // avoids overflow
	ms := min(max(t, -limit/w.tick.Milliseconds()),
		limit/w.tick.Milliseconds()) * w.tick.Milliseconds()
	return time.UnixMilli(w.epoch.UnixMilli() + ms).UTC()
}

func (w *Window) text(t int64) string { return w.Time(t).Format(clock.Layout) }

// WaitTick blocks until ClaimTick(t) may succeed or never will, or ctx ends.
func (w *Window) WaitTick(ctx context.Context, t int64) error {
	for {
		w.mu.Lock()
		g, changed, over := w.grant.Load(), w.changed, w.closed
		w.mu.Unlock()
		if over {
			return sortid.ErrLeaseClosed
		}
		at := max(t, g.Lo)
		if used := w.used.Load(); at <= used {
			at = used + 1
		}
		if at < g.Hi {
			return nil
		}
		w.RequestRenewal()
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w; gave up waiting: %w", w.expired(g, at), clock.ContextError(ctx))
		}
	}
}

// Grant returns the current grant, with Lo == Hi if there is none.
func (w *Window) Grant() Grant { return *w.grant.Load() }

// Used returns the last tick that was claimed, or [None].
func (w *Window) Used() int64 { return w.used.Load() }

// The methods below are for package lease.

// Set replaces the grant. From tick renewFrom on, claims send on [Window.RenewalRequests]. After
// Close, Set does nothing.
func (w *Window) Set(g Grant, renewFrom int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.reason = nil
	w.renewFrom.Store(renewFrom)
	w.grant.Store(&g)
	w.wake()
}

// Fail sets the reason that errors give until the next Set.
func (w *Window) Fail(reason error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reason = reason
}

// Err returns the reason set by Fail.
func (w *Window) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason
}

// Close ends the window for good and returns the last claimed tick. No later tick has been or will
// be claimed.
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

// RequestRenewal asks the lease to renew.
func (w *Window) RequestRenewal() {
	select {
	case w.requests <- struct{}{}:
	default:
	}
}

// RenewalRequests receives when a claim is near the window's end or after it.
func (w *Window) RenewalRequests() <-chan struct{} { return w.requests }
