package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/window"
)

// Defaults for a new realm.
const (
	DefaultWindow  = time.Minute
	DefaultMaxLead = 10 * time.Second
)

// A Config says what to lease. Realm, Format and NodeIDSize are needed.
type Config struct {
	// Realm is the name of the set of node IDs among which the leased one is unique: up
	// to 100 bytes of UTF-8, without control characters and without @. The first to come
	// makes the realm.
	Realm string
	// Format is the format of the realm's IDs, with the largest size of a node ID: one of
	// [SCRU64], [SCRU160] and [UID60], or one of these with fewer bits.
	Format Format
	// NodeIDSize is the size of the node ID in bits, from 1 to Format.Bits. Leases of
	// different sizes share a realm.
	NodeIDSize int

	// Window is how far ahead of the time the lease is kept renewed, which is how long
	// generators go on without the store, at least half of it; from 4 ticks to a day.
	// Longer ones also keep the node ID of a process that has died from others for
	// longer. 0 means the realm's, which is 1 minute unless it was made with another; a
	// lease cannot have more than its realm.
	Window time.Duration
	// MaxLead is how far ahead of the time a lease may start, and how far this machine's
	// clock and the store's may be apart; from 1 tick to a day. 0 means the realm's, which
	// is 10 seconds unless it was made with another; a lease cannot have more than its
	// realm.
	MaxLead time.Duration

	// Name tells people who holds the lease: up to 100 bytes of UTF-8. It decides nothing.
	Name string
	// Now is this machine's clock, the one that the generators use. It is time.Now if nil.
	Now func() time.Time
	// Logger hears of renewals that fail and of node IDs lost and found. nil means none.
	Logger *slog.Logger
}

// Validate returns [ErrConfig] if no store could give a lease for this configuration, and
// says why.
func (c Config) Validate() error {
	_, err := c.complete()
	return err
}

// complete checks the configuration and fills in what has a default.
func (c Config) complete() (Config, error) {
	if err := checkRealm(c.Realm); err != nil {
		return c, err
	}
	if err := checkName("name", c.Name); err != nil {
		return c, err
	}
	f := c.Format
	const day = 24 * time.Hour
	switch {
	case f.Tick < time.Millisecond || f.Tick > time.Hour || f.Tick%time.Millisecond != 0:
		return c, fmt.Errorf("%w: the format's tick is %v, want whole milliseconds up to an hour", ErrConfig, f.Tick)
	case f.Bits < 1 || f.Bits > MaxBits:
		return c, fmt.Errorf("%w: the format's node IDs have %d bits, want 1 to %d", ErrConfig, f.Bits, MaxBits)
	case c.NodeIDSize < 1 || c.NodeIDSize > f.Bits:
		return c, fmt.Errorf("%w: a node ID of %d bits, want 1 to %d", ErrConfig, c.NodeIDSize, f.Bits)
	case c.Window != 0 && (c.Window < 4*f.Tick || c.Window > day):
		return c, fmt.Errorf("%w: a window of %v, want %v to %v", ErrConfig, c.Window, 4*f.Tick, day)
	case c.MaxLead != 0 && (c.MaxLead < f.Tick || c.MaxLead > day):
		return c, fmt.Errorf("%w: a lead of %v, want %v to %v", ErrConfig, c.MaxLead, f.Tick, day)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// terms returns the terms of a realm that this configuration makes.
func (c Config) terms() Terms {
	tick := c.Format.Tick
	t := Terms{
		Bits:   c.Format.Bits,
		Tick:   tick.Milliseconds(),
		Epoch:  c.Format.Epoch.UnixMilli(),
		Window: max(4, int64(DefaultWindow/tick)),
		Lead:   max(1, int64(DefaultMaxLead/tick)),
	}
	if c.Window != 0 {
		t.Window = int64(c.Window / tick)
	}
	if c.MaxLead != 0 {
		t.Lead = int64(c.MaxLead / tick)
	}
	return t
}

// check returns [ErrRealm] if the realm's terms are not what is configured.
func (c Config) check(t Terms) error {
	mine := c.terms()
	wrong := func(what string, has, want any) error {
		return fmt.Errorf("%w: %q has %s %v, this process wants %v; ask for no more than it has, or name another realm", ErrRealm, c.Realm, what, has, want)
	}
	switch {
	case t.Tick != mine.Tick:
		return wrong("ticks of", t.Duration(1), mine.Duration(1))
	case t.Epoch != mine.Epoch:
		return wrong("the epoch", t.Time(0).Format(timeFormat), mine.Time(0).Format(timeFormat))
	case t.Bits != mine.Bits:
		return wrong("node IDs with at most so many bits:", t.Bits, mine.Bits)
	case c.Window != 0 && mine.Window > t.Window:
		return wrong("windows of at most", t.Duration(t.Window), c.Window)
	case c.MaxLead != 0 && mine.Lead > t.Lead:
		return wrong("leads of at most", t.Duration(t.Lead), c.MaxLead)
	}
	return nil
}

// ticks returns the window and the lead in ticks, in a realm of these terms.
func (c Config) ticks(t Terms) (window, lead int64) {
	window, lead = t.Window, t.Lead
	if c.Window != 0 {
		window = c.terms().Window
	}
	if c.MaxLead != 0 {
		lead = c.terms().Lead
	}
	return window, lead
}

// A Lease is a node ID that is this process's own, for as long as it is renewed, which a
// goroutine does until Close. Generators live on its [Lease.Window].
//
// If the store cannot be reached, generators go on to the window's end and then fail, or
// wait; once it is back, so are they. If meanwhile somebody else has been given the node
// ID, the lease gets another one, and its generators go over to that, without a step
// back in time; so NodeID may change, NodeIDSize never does.
//
// All methods are safe for concurrent use.
type Lease struct {
	window  *window.Window
	node    atomic.Uint32
	session *session // the goroutine's own until done is closed
	stop    context.CancelFunc
	done    chan struct{}

	closing chan struct{} // holds one Close at a time
	closed  bool
}

// Acquire leases a node ID of the realm in the store, which must stay open until the
// lease is closed. The context bounds this call and not the lease. If the store fails,
// Acquire tries a few times.
//
// It fails with [ErrConfig], [ErrRealm], [ErrFull], [ErrLead], [ErrClock], [ErrBusy], an
// error of the store or of the context.
func Acquire(ctx context.Context, store Store, config Config) (*Lease, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	s := newSession(store, config)
	err = insist(ctx, func() error {
		if s.root.Epoch == 0 {
			if err := s.enter(ctx, true); err != nil {
				return err
			}
		}
		return s.renew(ctx, window.None)
	})
	if err != nil {
		if s.pending != nil {
			// It may have been granted. Others can have it sooner if it is given back.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = s.release(ctx, window.None)
		}
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &Lease{
		window:  window.New(config.NodeIDSize, config.Format.Tick, config.Format.Epoch),
		session: s,
		stop:    stop,
		done:    make(chan struct{}),
		closing: make(chan struct{}, 1),
	}
	l.publish()
	go l.keep(ctx)
	return l, nil
}

// insist calls f up to four times, as long as it fails for the store's sake.
func insist(ctx context.Context, f func() error) (err error) {
	pause := 200 * time.Millisecond
	for range 4 {
		if err = f(); err == nil || settled(err) || clock.Sleep(ctx, jitter(pause)) != nil {
			return err
		}
		pause *= 2
	}
	return err
}

// settled reports whether an error is an answer, which it is no use to ask for again.
func settled(err error) bool {
	for _, e := range []error{ErrConfig, ErrRealm, ErrNoRealm, ErrFull, ErrLead, ErrClock, ErrForgotten, ErrUnsafe} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// jitter returns a random duration from half of d to d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// NodeID returns the node ID that the lease has now, or had last. For generators it is
// the window's grants that count.
func (l *Lease) NodeID() uint32 { return l.node.Load() }

// NodeIDSize returns the size of the node ID in bits.
func (l *Lease) NodeIDSize() int { return l.window.NodeIDSize() }

// Window returns what generators live on, for the option WithLease of a format package,
// which is given the lease. Several generators of one format may share a lease; a tick
// then serves only one of them, so they may run a little ahead of the clock.
func (l *Lease) Window() *window.Window {
	if l == nil {
		return nil // and the option says that there is no lease
	}
	return l.window
}

// Until returns when the present window ends, by this machine's clock; generators go on
// until then even if the store is gone. It is in the past if the lease has not been
// renewed in time, or is closed.
func (l *Lease) Until() time.Time { return l.window.Time(l.window.Grant().Hi) }

// Err returns why the last renewal failed, or nil if it did not.
func (l *Lease) Err() error { return l.window.Err() }

// publish gives the generators what the session has.
func (l *Lease) publish() {
	s := l.session
	if id := s.held.Block.NodeID; l.node.Swap(id) != id {
		s.log.Info("lease: node ID", "realm", s.config.Realm, "node", s.held.Block.String())
	}
	l.window.Set(window.Grant{NodeID: s.held.Block.NodeID, Lo: s.lo, Hi: s.held.HWM}, s.held.HWM-s.window/2)
}

// left returns how much of the window is left to the generators, in ticks.
func (l *Lease) left() int64 {
	s, g := l.session, l.window.Grant()
	return g.Hi - min(g.Hi, max(l.window.Used(), s.root.Terms.At(s.config.Now())))
}

// keep renews the lease until ctx ends: whenever half of the window is left or less, by
// the generators' ticks or by the clock, whichever is further.
func (l *Lease) keep(ctx context.Context) {
	defer close(l.done)
	s := l.session
	terms := s.root.Terms
	// A clock can be set, which wakes nobody, so it is looked at now and then.
	look := max(terms.Duration(s.window)/8, time.Millisecond)
	patience := max(look, 100*time.Millisecond)
	pause := look / 8
	for ctx.Err() == nil {
		if spare := l.left() - s.window/2; spare > 0 {
			timer := time.NewTimer(min(look, terms.Duration(min(spare, s.window))))
			select {
			case <-timer.C:
			case <-l.window.Kicked():
			case <-ctx.Done():
			}
			timer.Stop()
			continue
		}
		limited, cancel := context.WithTimeout(ctx, patience)
		err := s.renew(limited, l.window.Used())
		cancel()
		if err == nil {
			l.publish()
			pause = look / 8
			if l.left() > s.window/2 {
				continue
			}
			// Granted, and still short: the clocks disagree.
		} else if ctx.Err() == nil {
			s.log.Warn("lease: not renewed", "realm", s.config.Realm, "node", Block{l.NodeID(), uint8(l.NodeIDSize())}.String(), "left", terms.Duration(l.left()), "error", err)
			l.window.Fail(err)
		}
		if clock.Sleep(ctx, jitter(pause)) != nil {
			return
		}
		pause = min(2*pause, look)
	}
}

// Close ends the lease: generators get no further tick, renewal stops, and the node ID
// goes back to the store, free at once, with the ticks that were never used. If the
// store fails, or ctx ends, Close returns the error and may be called again; without
// that the node ID becomes free by itself, half a window after the present one.
func (l *Lease) Close(ctx context.Context) error {
	used := l.window.Close()
	l.stop()
	select {
	case <-l.done:
	case <-ctx.Done():
		return fmt.Errorf("lease: a renewal is still under way: %w", context.Cause(ctx))
	}
	select {
	case l.closing <- struct{}{}:
		defer func() { <-l.closing }()
	case <-ctx.Done():
		return fmt.Errorf("lease: another Close is still under way: %w", context.Cause(ctx))
	}
	if l.closed {
		return nil
	}
	err := insist(ctx, func() error { return l.session.release(ctx, used) })
	l.closed = err == nil
	return err
}
