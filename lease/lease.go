package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/window"
)

// Defaults for a new realm.
const (
	DefaultWindow  = time.Minute
	DefaultMaxLead = 10 * time.Second
)

// A Config says which node ID to lease, and for how long.
type Config struct {
	// Realm names a set of node IDs. Leases of one realm have different node IDs. The name must be
	// 1 to 100 bytes of UTF-8, without control characters and @, and not ".", ".." or "/".
	Realm string
	// If the realm is missing, [Acquire] creates it. With MustExist, Acquire fails with
	// [ErrNoRealm] instead, because the store may have lost the realm. [AcquireFrom] never creates
	// a realm.
	MustExist bool
	// Format is [SCRU64], [SCRU160], [UID60], one of these with fewer Bits, the LeaseFormat of a
	// format in package nodefield, or the [Terms.LeaseFormat] of a realm. The zero Format is for any
	// generator: the realm grants only node IDs of NodeBits, for ticks of 1 ms since 1970.
	Format Format
	// NodeBits is the size of the node ID in bits, from 1 to Format.Bits, or to [MaxBits] with the
	// zero Format. Leases of different sizes can share a realm of a Format that is Mixed.
	NodeBits int
	// NodeID asks for one node ID; nil means any. The lease never gets another one. If somebody has
	// it, Acquire fails with a [HeldError], or waits with Wait.
	NodeID *uint32
	// OneSize makes a new realm grant only node IDs of NodeBits. A realm of a Format that is not
	// Mixed always grants one size.
	OneSize bool

	// Window is from 4 ticks to a day. A renewal extends the lease to the present time plus Window.
	// If the store is down, generators continue for at least half a window. A process that dies
	// blocks its node ID for up to one and a half windows. 0 means the realm's window or, in a new
	// realm, 1 minute. A Window longer than the realm's is an error.
	Window time.Duration
	// Renew is how long after a renewal the next one begins at the latest. 0 means half a window,
	// which is also the most. If the store is down, generators continue for at least the window
	// minus Renew.
	Renew time.Duration
	// MaxLead limits how far in the future a lease starts, from 1 tick to a day. For example,
	// a lease starts in the future if this machine's clock is behind the end of an earlier lease.
	// This machine's clock and the store's clock may differ by at most MaxLead. 0 means the realm's
	// lead or, in a new realm, 10 seconds. A MaxLead longer than the realm's is an error. With
	// [AcquireFrom], MaxLead must be 0.
	MaxLead time.Duration

	// Once makes the lease end when its node ID is lost, such as by an eviction. Then [Lease.Err]
	// matches [ErrLost]. Without Once, the lease gets another node ID.
	Once bool
	// Wait makes [Acquire] wait instead of failing with [ErrFull], [ErrLead] or [ErrBusy].
	Wait bool
	// Retry may be nil. It is asked after several tries have failed for a reason that can pass, for
	// example because the store does not answer. If it returns true, Acquire tries again. If it
	// returns false, Acquire fails, also with Wait.
	//
	// All tries of one Acquire ask for the same grant. After a lost answer, a second Acquire gets a
	// second node ID. So do not call Acquire again, but return true.
	Retry func(err error) bool

	// Name is the holder's name, for people who look at leases. It may have up to 100 bytes of
	// UTF-8.
	Name string
	// Now is the clock of the lease and its generators. nil means time.Now.
	Now func() time.Time
	// Logger logs new realms, failed renewals, and lost or new node IDs.
	Logger *slog.Logger
}

// Validate returns [ErrConfig] if [Acquire] would refuse the configuration.
func (c Config) Validate() error {
	_, err := c.complete()
	return err
}

func (c Config) complete() (Config, error) {
	if err := checkRealm(c.Realm); err != nil {
		return c, err
	}
	if err := checkName("name", c.Name); err != nil {
		return c, err
	}
	if c.Format == (Format{}) {
		c.Format = anyGenerator(c.NodeBits)
	}
	f := c.Format
	switch {
	case f.Tick < time.Millisecond || f.Tick > time.Hour || f.Tick%time.Millisecond != 0:
		return c, errorf(ErrConfig,
			"the format's tick is %v, want whole milliseconds up to an hour", f.Tick)
	case f.Bits < 1 || f.Bits > MaxBits:
		return c, errorf(ErrConfig, "the format's node IDs have %d bits, want 1 to %d",
			f.Bits, MaxBits)
	case c.NodeBits < 1 || c.NodeBits > f.Bits:
		return c, errorf(ErrConfig, "a node ID of %d bits, want 1 to %d", c.NodeBits,
			f.Bits)
	case c.NodeID != nil && *c.NodeID >= 1<<c.NodeBits:
		return c, errorf(ErrConfig, "node ID %d needs more than %d bits", *c.NodeID,
			c.NodeBits)
	case c.Renew < 0:
		return c, errorf(ErrConfig, "a renewal after %v", c.Renew)
	}
	if err := checkSpans(f.Tick, c.Window, c.MaxLead); err != nil {
		return c, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// anyGenerator is what the zero Format means.
func anyGenerator(bits int) Format {
	if bits < 1 || bits > MaxBits {
		bits = MaxBits
	}
	return Format{Bits: bits, Tick: time.Millisecond, Epoch: time.UnixMilli(0)}
}

func checkSpans(tick, window, lead time.Duration) error {
	const day = 24 * time.Hour
	switch {
	case window != 0 && (window < 4*tick || window > day):
		return errorf(ErrConfig, "a window of %v, want %v to %v", window, 4*tick, day)
	case lead != 0 && (lead < tick || lead > day):
		return errorf(ErrConfig, "a lead of %v, want %v to %v", lead, tick, day)
	}
	return nil
}

func (c Config) terms() Terms {
	t := Terms{
		Bits:  c.Format.Bits,
		Tick:  c.Format.Tick.Milliseconds(),
		Epoch: c.Format.Epoch.UnixMilli(),
	}
	if t.Format = c.Format.Name; !c.Format.Mixed || c.OneSize {
		t.Only = cmp.Or(c.NodeBits, c.Format.Bits)
	}
	t.Window = max(4, t.ticks(cmp.Or(c.Window, DefaultWindow)))
	t.Lead = t.ticks(cmp.Or(c.MaxLead, DefaultMaxLead))
	return t
}

// check reports whether the realm's terms make sense and are equal to the terms of c.
func (c Config) check(root Record) error {
	if err := checkTerms(root); err != nil {
		return err
	}
	t, mine := root.Terms, c.terms()
	wrong := func(what string, has, want any, advice string) error {
		if advice == otherFormat && c.Format.Name == "" && t.Format != "" {
			advice = "the Config has no Format; set the realm's, which is " + t.Format
		}
		return errorf(ErrRealm, "%q has %s %v, this process wants %v; %s", c.Realm, what,
			has, want, advice)
	}
	const less = "ask for less, or change the realm (sortid lease set)"
	switch {
	case t.Tick != mine.Tick:
		return wrong("ticks of", t.Duration(1), mine.Duration(1), otherFormat)
	case t.Epoch != mine.Epoch:
		return wrong("the epoch", t.Time(0).Format(timeFormat), mine.Time(0).Format(timeFormat),
			otherFormat)
	case t.Format != "" && mine.Format != "" && t.Format != mine.Format:
		return wrong("the format", t.Format, mine.Format, otherFormat)
	case t.Only != 0 && c.NodeBits != 0 && t.Only != c.NodeBits:
		return otherSize(c.Realm, t.Only, c.NodeBits)
	case t.Only == 0 && t.Bits != mine.Bits:
		return wrong("a largest node ID size of", t.Bits, mine.Bits, otherFormat)
	case c.Window != 0 && mine.Window > t.Window:
		return wrong("windows of at most", t.Rounded(t.Window), c.Window, less)
	case c.MaxLead != 0 && mine.Lead > t.Lead:
		return wrong("leads of at most", t.Rounded(t.Lead), c.MaxLead, less)
	}
	return nil
}

func otherSize(realm string, has, want int) error {
	return errorf(ErrRealm, "realm %q grants node IDs of %d bits, not %d", realm, has, want)
}

const otherFormat = "it serves IDs of another format: " +
	"use the realm that all generators of this format use"

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

var _ sortid.Lease = (*Lease)(nil)

// A Lease gives this process a node ID of its own. A goroutine renews the lease until Close. A
// Lease is safe for concurrent use, and generators may share it.
//
// If the store is down, generators continue to the end of the window. Then they fail or wait. If
// another process takes the node ID, the lease gets a new one, and the IDs still increase.
type Lease struct {
	config  Config
	terms   Terms // only Tick and Epoch matter here
	window  *window.Window
	node    atomic.Uint32
	length  atomic.Int64
	sole    atomic.Pointer[span]
	returns atomic.Pointer[receipt]
	keeper  keeper // until done is closed, only the goroutine of renewLoop may use it
	renewAt int64  // renewLoop renews when this many ticks are left; nothing else uses it
	stop    context.CancelFunc
	done    chan struct{}
	due     time.Time // when renewLoop renews at the latest, by the monotonic clock

	renewing atomic.Bool // renewLoop waits for an answer

	closing chan struct{} // contains a value while Close runs
	closed  bool
}

// Acquire leases a node ID from a store. The store must stay open until the lease is closed. The
// context limits only this call.
//
// Acquire fails with [ErrConfig], [ErrRealm], [ErrNoRealm], [ErrFull], [ErrLead], [ErrClock],
// [ErrBusy], [ErrForgotten], or an error of the store or the context.
func Acquire(ctx context.Context, store Store, config Config) (*Lease, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	if err := checkStore(store); err != nil {
		return nil, err
	}
	return start(ctx, newSession(store, config), config)
}

// AcquireFrom is like [Acquire], but leases from a lessor, such as a server. It never makes a
// realm, because a realm that was lost and made again would grant held node IDs. So if the realm is
// missing, AcquireFrom fails with [ErrNoRealm].
//
// If an error of the lessor has a method RetryAfter() time.Duration, the lease sends the next
// request after this time or later.
func AcquireFrom(ctx context.Context, lessor Lessor, config Config) (*Lease, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	if config.MaxLead != 0 {
		return nil, errorf(ErrConfig, "a MaxLead of %v; a lessor uses the realm's, so leave it 0",
			config.MaxLead)
	}
	if lessor == nil {
		return nil, errorf(ErrConfig, "the lessor is nil; open one, such as the client of a server")
	}
	return start(ctx, newHolder(lessor, config), config)
}

func start(ctx context.Context, k keeper, config Config) (*Lease, error) {
	var took time.Duration
	limit, waiting := tryLimit, time.Duration(0)
	try := func() error {
		began := time.Now()
		defer func() { took = time.Since(began) }()
		if config.Retry == nil {
			return k.keep(ctx, window.None)
		}
		limited, cancel := context.WithTimeout(ctx, limit+waiting)
		defer cancel()
		err := k.keep(limited, window.None)
		if limited.Err() != nil { // the request may be lost, or the store is slow
			limit = min(2*limit, maxTryLimit)
		}
		return err
	}
	err := retry(ctx, try)
	for config.again(err) {
		before, pause := err, jitter(storePause)
		if passes(err) {
			pause = jitter(waitPause)
			waiting = maxWait // from now on, a lessor may wait before it answers
		}
		if clock.Sleep(ctx, pauseAfter(err, pause)) == nil {
			err = retry(ctx, try)
		}
		if err != nil && ctx.Err() != nil {
			if err = before; passes(before) {
				err = fmt.Errorf("%w; gave up waiting: %w", before, context.Cause(ctx))
			}
			break
		}
	}
	if err != nil {
		if k.unsure() {
			// The grant may have been made. Release it, so that other processes can have the node
			// ID.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = k.release(ctx, window.None)
		}
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &Lease{
		config:  config,
		terms:   config.terms(),
		window:  window.New(config.NodeBits, config.Format.Tick, config.Format.Epoch),
		keeper:  k,
		stop:    stop,
		done:    make(chan struct{}),
		closing: make(chan struct{}, 1),
	}
	l.spread()
	l.publish(nil)
	l.rest()
	go l.renewLoop(ctx, took)
	return l, nil
}

const (
	waitPause   = 5 * time.Second // for a node ID
	storePause  = 3 * time.Second
	tryLimit    = 5 * time.Second
	maxTryLimit = 30 * time.Second
)

// again reports whether Acquire tries again after err.
func (c Config) again(err error) bool {
	switch can := passes(err) || !isPermanent(err); {
	case err == nil || !can:
		return false
	case c.Retry != nil:
		return c.Retry(err)
	}
	return c.Wait && passes(err)
}

func passes(err error) bool { return isAny(err, ErrFull, ErrLead, ErrBusy) }

func isPermanent(err error) bool {
	return isAny(err, ErrConfig, ErrRealm, ErrNoRealm, ErrFull, ErrLead, ErrClock, ErrForgotten,
		ErrUnsafe)
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// retry calls f up to four times, until f succeeds or fails permanently. It does not count errors
// that say when to try again. Then it ends with ctx or, without a deadline, after maxBusy.
func retry(ctx context.Context, f func() error) (err error) {
	began, pause := time.Now(), 200*time.Millisecond
	_, limited := ctx.Deadline()
	for n := 0; n < 4; {
		if err = f(); err == nil || isPermanent(err) {
			return err
		}
		wait, busy := retryAfter(err)
		if busy && !limited && time.Since(began)+wait > maxBusy {
			return err
		}
		if clock.Sleep(ctx, pauseAfter(err, jitter(pause))) != nil {
			return err
		}
		pause = min(2*pause, maxPause)
		if !busy {
			n++
		}
	}
	return err
}

const (
	maxPause = 1600 * time.Millisecond
	maxBusy  = 30 * time.Second
)

// retryAfter returns how long the server wants the client to wait after err.
func retryAfter(err error) (time.Duration, bool) {
	var e interface {
		error
		RetryAfter() time.Duration
	}
	if !errors.As(err, &e) || e.RetryAfter() <= 0 {
		return 0, false
	}
	return e.RetryAfter(), true
}

// pauseAfter returns the pause or, if err asks for a longer one, a time that is up to half as long
// again as err asks.
func pauseAfter(err error, pause time.Duration) time.Duration {
	d, _ := retryAfter(err)
	if d = min(d, time.Minute); d < pause {
		return pause
	}
	return d + rand.N(d/2+1)
}

func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// NodeID returns the current node ID or, after the lease has lost it, the last one.
func (l *Lease) NodeID() uint32 { return l.node.Load() }

// NodeBits returns the size of the node ID in bits, or 0 for a nil Lease.
func (l *Lease) NodeBits() int {
	if l == nil {
		return 0
	}
	return l.window.NodeBits()
}

// TickLength returns the length of a tick.
func (l *Lease) TickLength() time.Duration { return l.window.TickLength() }

// Epoch returns when tick 0 begins.
func (l *Lease) Epoch() time.Time { return l.window.Epoch() }

// ClaimTick is for generators; see [sortid.Lease]. It fails with [ErrExpired] or [ErrClosed].
func (l *Lease) ClaimTick(tick int64) (nodeID uint32, claimed int64, err error) {
	return l.window.ClaimTick(tick)
}

// WaitTick is for generators; see [sortid.Lease].
func (l *Lease) WaitTick(ctx context.Context, tick int64) error {
	return l.window.WaitTick(ctx, tick)
}

// From returns the time when the lease begins, by this machine's clock. This time may be up to the
// lead in the future. A generator that does not claim its ticks must not make IDs before this time.
func (l *Lease) From() time.Time { return l.window.Time(l.window.Grant().Lo) }

// Until returns the time when the current window ends, by this machine's clock. This time may be in
// the past.
func (l *Lease) Until() time.Time { return l.window.Time(l.window.Grant().Hi) }

// SoleUse returns from when and until when this process is the only user of the node ID, even if
// clocks differ by the lead. Both times are by this machine's clock at the last renewal. They are
// within [Lease.From] and [Lease.Until]. The store's clock must not be set forward.
func (l *Lease) SoleUse() (from, until time.Time) {
	s := l.sole.Load()
	return later(s.from, l.From()), earlier(s.until, l.Until())
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Window returns how long after the present time a renewed lease ends.
func (l *Lease) Window() time.Duration { return time.Duration(l.length.Load()) }

// Err returns why the last renewal failed, or nil.
func (l *Lease) Err() error { return l.window.Err() }

func (l *Lease) publish(reason error) {
	is := l.keeper.state()
	l.length.Store(int64(l.terms.Duration(is.window)))
	if !is.held {
		l.returns.Store(nil)
	}
	switch {
	case !is.held && is.withdrawn:
		l.window.Renew(window.Grant{Lo: window.None, Hi: window.None}, window.None, reason)
		return
	case !is.held:
		l.window.Fail(reason) // the last grant stays valid
		return
	}
	l.sole.Store(&is.sole)
	r := l.keeper.receipt()
	l.returns.Store(&r)
	if id := is.block.NodeID; l.node.Swap(id) != id {
		l.config.Logger.Info("lease: got a node ID", "realm", l.config.Realm, "node",
			is.block.String())
	}
	l.window.Renew(window.Grant{NodeID: is.block.NodeID, Lo: is.from, Hi: is.end},
		is.end-l.renewAt, reason)
}

// rest lets the store close idle connections if the next renewal is probably a second or more away.
func (l *Lease) rest() {
	c, ok := l.keeper.connections().(IdleCloser)
	if ok && l.Window() >= 3*time.Second {
		c.CloseIdleConnections()
	}
}

// spare returns how long it is until the next renewal, by the clock that says so first.
func (l *Lease) spare() time.Duration {
	ticks := min(l.left()-l.renewAt, l.keeper.state().window)
	return min(l.terms.Duration(ticks), time.Until(l.due))
}

func (l *Lease) left() int64 {
	g := l.window.Grant()
	return g.Hi - min(g.Hi, max(l.window.Used(), l.terms.At(l.config.Now())))
}

// spread puts the next renewal at a random time before it is due. So leases that were acquired or
// renewed together do not renew together again.
func (l *Lease) spread() { l.schedule(1) }

func (l *Lease) next() { l.schedule(4) }

// schedule puts the next renewal into the last part of the time until it is due.
func (l *Lease) schedule(part int64) {
	w, every := l.rhythm()
	l.renewAt = w - every + rand.Int64N(every/part+1)
	l.due = time.Now().Add(l.terms.Duration(w - l.renewAt))
}

// rhythm returns the window and, at most half of it, how long after a renewal the next one begins
// at the latest, in ticks.
func (l *Lease) rhythm() (window, every int64) {
	window = l.keeper.state().window
	every = window - window/2
	if l.config.Renew != 0 {
		every = min(every, max(1, int64(l.config.Renew/l.terms.Duration(1))))
	}
	return window, every
}

// renewLoop renews the lease whenever Config.Renew has passed, or half of the window, until ctx
// ends. It counts the ticks that are left after the generators' last tick or the clock's tick,
// whichever is later. It allows a renewal twice the time that Acquire took, because the renewal may
// have to connect.
func (l *Lease) renewLoop(ctx context.Context, took time.Duration) {
	defer close(l.done)
	k, terms := l.keeper, l.terms
	// If somebody sets the clock forward, a timer does not notice. So look at the clock regularly.
	_, every := l.rhythm()
	look := max(terms.Duration(every)/4, time.Millisecond)
	patience := max(look, min(max(leastPatience, 2*took), maxPatience))
	first := min(look, leastPause) / 8
	pause, failing := first, time.Time{} // failing: the time of the first failure
	for ctx.Err() == nil {
		if spare := l.spare(); spare > 0 {
			timer := time.NewTimer(min(look, spare))
			select {
			case <-timer.C:
			case <-l.window.RenewalRequests():
			case <-ctx.Done():
			}
			timer.Stop()
			continue
		}
		limited, cancel := context.WithTimeout(ctx, patience)
		l.renewing.Store(true)
		err := k.keep(limited, l.window.Used())
		l.renewing.Store(false)
		slow := limited.Err() != nil
		cancel()
		switch {
		case err != nil && failing.IsZero():
			failing = time.Now()
		case err == nil && !failing.IsZero():
			failing = time.Time{}
			l.spread()
		case err == nil:
			l.next()
		}
		l.publish(err)
		if err == nil {
			l.rest()
			pause = first
			if w, every := l.rhythm(); l.left() > w-every {
				continue
			}
			// The next renewal is already due, but pause first.
		} else if ctx.Err() == nil {
			l.config.Logger.Warn("lease: not renewed", "realm", l.config.Realm, "node",
				Block{l.NodeID(), uint8(l.NodeBits())}.String(), "left", terms.Duration(l.left()),
				"error", err)
			if slow { // the next renewal may need more time
				patience = max(patience, min(2*patience, maxPatience))
			}
		}
		if clock.Sleep(ctx, pauseAfter(err, rand.N(pause+1))) != nil {
			return
		}
		pause = min(2*pause, look, max(leastPause, time.Since(failing)/32))
	}
}

const (
	// A renewal's time limit is between these two, or a quarter of the time between renewals if that
	// is longer. At the limit, renewLoop tries again, because the request may be lost.
	leastPatience = time.Second
	maxPatience   = 10 * time.Second
	// The pauses between failed renewals grow to leastPause, or to 1/32 of the time since the first
	// failure if that is longer. So leases soon find a store that works again, but not all at
	// once.
	leastPause = 1500 * time.Millisecond
)

// closeTime is how long Close takes at most if its context ended before the call.
const closeTime = 5 * time.Second

// Close ends the lease and gives the node ID and its unused ticks back. Generators may still make
// IDs in ticks that they have claimed. These IDs are unique, too.
//
// Close stops when ctx ends. But if ctx has ended before the call, Close takes up to 5 seconds. So a
// program can pass the context that told it to stop. If Close fails, call it again. If nobody does,
// the node ID becomes free half a window after the current window ends.
func (l *Lease) Close(ctx context.Context) error {
	used := l.window.Close()
	l.stop()
	if ctx.Err() != nil {
		limited, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), closeTime,
			fmt.Errorf("lease: no answer within %v: %w", closeTime, context.DeadlineExceeded))
		defer cancel()
		ctx = limited
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		if l.renewing.Load() {
			return fmt.Errorf("lease: a renewal is still under way: %w", context.Cause(ctx))
		}
		return fmt.Errorf("lease: the node ID is not given back: %w", context.Cause(ctx))
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
	err := retry(ctx, func() error { return l.keeper.release(ctx, used) })
	l.closed = err == nil
	return err
}
