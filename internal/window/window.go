// Package window stands between a lease and the generators that live on it: it hands
// out the ticks of the node ID that the lease holds, each tick once.
//
// A lease grants a node ID together with the ticks, from Lo up to but not including
// Hi, that IDs with this node ID may carry. Package lease fills a [Window] with such
// grants; a generator calls [Window.Claim] before the first ID of a tick, and so an ID
// outside of every grant cannot come about, however long a goroutine was held up.
//
// # For a generator
//
// Once, when the lease is given to the generator: [Window.Fits], with the length and
// the origin of the format's ticks, and [Window.NodeIDSize], which never changes.
//
// Whenever it must leave its last tick, for a clock that has moved on or for a counter
// that is full:
//
//	grant, tick, err := w.Claim(t) // t: the tick wanted, later than that of the last ID
//
// On success all IDs of this tick, and until the next Claim, carry grant.NodeID and
// the timestamp tick, which is t or later: later if the grant begins later, or if
// another generator on the same window has had the tick. By how much it is ahead of
// the clock counts as a rollback of that size. The node ID may differ from the one
// before; as each Claim begins a new tick, the order of IDs does not suffer.
//
// IDs within a claimed tick need no check at all, so a generator on a lease costs
// nothing more per ID, and one Claim (a few atomic operations, no allocation) per tick:
// the tick is the generator's for good, even after the lease is closed or lost.
//
// If Claim fails, then with [ErrExpired] until the lease is renewed, or with [ErrClosed]
// for ever. A generator whose policy is to fail returns the error, and the next call
// tries again. One whose policy is to wait calls [Window.Wait] with the same t, without
// its lock, and then tries again. A generator must never go on without a claim, and
// never go back to a tick that it has left: the policy that resets a generator after a
// large rollback cannot be had with a lease, since Claim only ever goes forward.
package window

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid/internal/clock"
)

var (
	// ErrExpired: no tick is left that may be used, until the lease is renewed.
	ErrExpired = errors.New("lease: expired")
	// ErrClosed: the lease has been closed.
	ErrClosed = errors.New("lease: closed")
	// ErrFit: the lease is one for IDs of another format.
	ErrFit = errors.New("lease: of another format")
)

// None is the tick before all others: nothing has been claimed.
const None = math.MinInt64

// A Grant is a node ID and the ticks [Lo, Hi) that IDs with it may carry. Grants in a
// Window do not change; a renewed lease brings another one.
type Grant struct {
	NodeID uint32
	Lo, Hi int64
}

// A Lease is what generators are given: a *lease.Lease.
type Lease interface{ Window() *Window }

// A Window holds the present grant of a lease. All its methods are safe for concurrent
// use, and any number of generators may share one: a tick goes to one of them only.
// Make one with [New].
type Window struct {
	grant atomic.Pointer[Grant] // never nil
	used  atomic.Int64          // the last tick claimed
	soon  atomic.Int64          // a claim from here on asks for renewal

	size   int
	tick   time.Duration
	origin time.Time
	kick   chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, with each new grant
	closed  bool
	reason  error
}

// The grants of a window that has none.
var (
	none   = &Grant{Lo: None, Hi: None}
	closed = &Grant{Lo: None, Hi: None}
)

// New returns a window without a grant, for node IDs of size bits and for ticks of the
// given length that are counted from origin.
func New(size int, tick time.Duration, origin time.Time) *Window {
	w := &Window{
		size: size, tick: tick, origin: origin,
		kick:    make(chan struct{}, 1),
		changed: make(chan struct{}),
	}
	w.grant.Store(none)
	w.used.Store(None)
	w.soon.Store(None)
	return w
}

// NodeIDSize returns the size of the node IDs in bits.
func (w *Window) NodeIDSize() int { return w.size }

// Fits returns [ErrFit] unless the window counts in such ticks from such an origin.
func (w *Window) Fits(tick time.Duration, origin time.Time) error {
	if w.tick != tick || !w.origin.Equal(origin) {
		return fmt.Errorf("%w: its ticks are %v long and start at %s, want %v and %s", ErrFit,
			w.tick, w.origin.UTC().Format(time.RFC3339), tick, origin.UTC().Format(time.RFC3339))
	}
	return nil
}

// Claim gives the caller the first tick from t on that may be used and that nobody has
// claimed, and all that come before it to nobody. It returns the grant that covers the
// tick, or [ErrExpired] or [ErrClosed], then with the reason why the lease was not
// renewed, if there is one.
func (w *Window) Claim(t int64) (*Grant, int64, error) {
	for {
		g, used := w.grant.Load(), w.used.Load()
		at := max(t, g.Lo)
		if at <= used {
			at = used + 1
		}
		if at >= w.soon.Load() {
			w.Kick()
		}
		if at >= g.Hi && (fenced || g.Hi == None) {
			return nil, 0, w.spent(g, at)
		}
		if !w.used.CompareAndSwap(used, at) {
			continue
		}
		// The mark stands, and only now the grant is looked at for good: Close takes the
		// grant away first and then looks at the mark, so one of the two sees the other.
		if g = w.grant.Load(); g.Lo <= at && at < g.Hi || !fenced && g.Hi != None {
			return g, at, nil
		}
	}
}

func (w *Window) spent(g *Grant, t int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	err := fmt.Errorf("%w: no node ID has been granted", ErrExpired)
	if g != none {
		err = fmt.Errorf("%w: node ID %d/%d was granted up to %s, and the next ID is due at %s", ErrExpired,
			g.NodeID, w.size, w.text(g.Hi), w.text(t))
	}
	if w.reason != nil {
		err = fmt.Errorf("%w; it was not renewed: %w", err, w.reason)
	}
	return err
}

// Time returns the time at which a tick begins.
func (w *Window) Time(t int64) time.Time {
	const limit = 1 << 52 // so that nothing overflows
	ms := min(max(t, -limit/w.tick.Milliseconds()), limit/w.tick.Milliseconds()) * w.tick.Milliseconds()
	return time.UnixMilli(w.origin.UnixMilli() + ms).UTC()
}

func (w *Window) text(t int64) string { return w.Time(t).Format("2006-01-02T15:04:05.000Z") }

// Wait blocks until Claim(t) may succeed, or can never succeed again, which is
// [ErrClosed], or ctx ends: then the error matches [ErrExpired] and the context's.
func (w *Window) Wait(ctx context.Context, t int64) error {
	for {
		w.mu.Lock()
		g, changed, over := w.grant.Load(), w.changed, w.closed
		w.mu.Unlock()
		if over {
			return ErrClosed
		}
		at := max(t, g.Lo)
		if used := w.used.Load(); at <= used {
			at = used + 1
		}
		if at < g.Hi {
			return nil
		}
		w.Kick()
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w; gave up waiting: %w", w.spent(g, at), clock.ContextError(ctx))
		}
	}
}

// Grant returns the present grant, one with Lo == Hi if there is none.
func (w *Window) Grant() Grant { return *w.grant.Load() }

// Used returns the last tick that was claimed, or [None].
func (w *Window) Used() int64 { return w.used.Load() }

// What follows is for package lease.

// Set puts a new grant in the place of the one before. From tick soon on, claims send on
// [Window.Kicked]. After Close, Set does nothing.
func (w *Window) Set(g Grant, soon int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.reason = nil
	w.soon.Store(soon)
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

// Close ends the window for good and returns the last tick claimed. No later tick can
// have been claimed, nor will be.
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

// Kick asks for renewal.
func (w *Window) Kick() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// Kicked receives when a claim has come close to the window's end or beyond.
func (w *Window) Kicked() <-chan struct{} { return w.kick }
