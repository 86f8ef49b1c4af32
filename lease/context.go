package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/sortid/sortid/internal/window"
)

// Context returns a context that ends a time of early before the lease does, so that a program can
// stop in time. It also ends when the lease loses its node ID, even if it gets the same one again,
// and when the lease is closed. [context.Cause] then matches [ErrExpired], [ErrLost] or
// [ErrClosed]. While the lease is renewed, the context does not end. The caller must call the
// returned function when the context is no longer needed.
//
// Choose early so that it covers how far the program's generators run ahead of the clock, and how
// long the program needs to stop. If early is the window or longer, the context ends at once.
//
// The context ends when the wall clock or the monotonic clock has reached the end of
// [Lease.SoleUse]. So neither a clock that is set back nor a suspended machine, whose monotonic
// clock may stand still, makes the context end too late. But the context cannot see that both
// happened at once. And after a process or a machine stood still past the end, the context ends
// some milliseconds after the process continues. In these milliseconds the program may use a node
// ID that others have. A [Guard] excludes this.
func (l *Lease) Context(parent context.Context, early time.Duration) (context.Context,
	context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	first := l.window.Grant()
	go func() { cancel(l.watch(ctx, first, early)) }()
	return ctx, func() { cancel(nil) }
}

// watchPause is how long watch waits at most before it looks at the clocks again.
const watchPause = 50 * time.Millisecond

// watch waits for the end of a lease, and returns why it has ended.
func (l *Lease) watch(ctx context.Context, first window.Grant, early time.Duration) error {
	var stop time.Time // by the monotonic clock
	for hi := int64(window.None); ; {
		g, changed, over := l.window.Watch()
		switch {
		case over:
			return ErrClosed
		case g.NodeID != first.NodeID || g.Lo != first.Lo:
			return errorf(ErrLost, "node ID %v of realm %q was lost",
				Block{first.NodeID, uint8(l.NodeBits())}, l.config.Realm)
		}
		_, until := l.SoleUse()
		left := until.Sub(l.config.Now().Round(0)) - early
		if g.Hi != hi {
			hi, stop = g.Hi, time.Now().Add(left)
		}
		if left = min(left, time.Until(stop)); left <= 0 {
			return l.ending(g, early)
		}
		timer := time.NewTimer(min(left, watchPause))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		timer.Stop()
	}
}

func (l *Lease) ending(g window.Grant, early time.Duration) error {
	err := fmt.Errorf("%w: node ID %v of realm %q is granted up to %s, and its use ends %v earlier",
		ErrExpired, Block{g.NodeID, uint8(l.NodeBits())}, l.config.Realm,
		l.window.Time(g.Hi).Format(timeFormat), early)
	if reason := l.Err(); reason != nil {
		err = fmt.Errorf("%w; the lease was not renewed: %w", err, reason)
	}
	return err
}
