// Package gencore is the core of the generators of all formats: options, clock, random bits,
// rollback policy, waiting, claims of a lease's ticks, and batches.
package gencore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/parseerr"
)

const NoTick = -1 << 63

const batchSize = 4096

// recheck is the longest wait for a lease before the generator reads the clock again.
const recheck = 50 * time.Millisecond

// ErrRetry tells [Core.Finish] to wait. If Finish returns ErrRetry, the caller must try again.
var ErrRetry = errors.New("gencore: retry")

// errZero is the error of a Core before Init. The clock of such a Core shows clock.NoTime.
var errZero = fmt.Errorf("sortid: %w: the Generator is its zero value; make one with NewGenerator",
	sortid.ErrOption)

type Format struct {
	Name   string // of the format's package
	Epoch  int64  // Unix milliseconds of tick 0
	Shift  int    // a tick has 2^Shift milliseconds
	Policy sortid.RollbackPolicy
}

// A Core is the part of a generator that does not depend on its IDs' layout. Callers must hold the
// lock, unless a method says otherwise.
type Core struct {
	sync.Mutex
	Clock clock.Clock
	Rand  Source

	window   Window
	windowed bool // the clock keeps readings, and the random bits are the default

	format    *Format
	allowance int64 // ticks
	policy    sortid.RollbackPolicy
	micros    bool // ticks are microseconds
	lease     sortid.Lease

	until  int64 // after ErrRetry, Finish waits for this tick
	reason error // the error if the context ends first
}

// Init checks and sets the options. The lease may be nil.
func (c *Core) Init(f *Format, o sortid.GeneratorOptions, l sortid.Lease) error {
	c.format, c.lease, c.policy = f, l, o.RollbackPolicy
	c.Clock, c.Rand = clock.System(), systemSource()
	if o.Clock != nil {
		c.Clock = clock.Injected(o.Clock)
	}
	if o.Entropy != nil {
		c.Rand = sourceOf(o.Entropy)
	}
	c.windowed = c.Clock.Steady() && o.Entropy == nil
	c.SetAllowance(o.RollbackAllowance, c.TickLength())
	switch {
	case c.policy > sortid.RollbackWait:
		return c.OptionError("RollbackPolicy", "no policy %d", c.policy)
	case l != nil && c.policy == sortid.RollbackReset:
		return c.OptionsError([]string{"Lease", "RollbackPolicy"},
			"they exclude each other, because a reset goes back to earlier ticks")
	case l != nil && c.policy == sortid.RollbackDefault:
		c.policy = sortid.RollbackAbort
	case c.policy == sortid.RollbackDefault:
		c.policy = f.Policy
	}
	if l == nil {
		return nil
	}
	if l.NodeBits() == 0 {
		return c.OptionError("Lease", "it is nil, or its node IDs have no bits")
	}
	length, epoch := l.TickLength(), l.Epoch()
	if want := time.UnixMilli(f.Epoch); length != c.TickLength() || !epoch.Equal(want) {
		return c.OptionError("Lease",
			"it is for another format: its ticks are %v long and start at %s, want %v and %s; "+
				"a lease.Config needs Format: lease.%s",
			length, epoch.UTC().Format(clock.Layout), c.TickLength(),
			want.UTC().Format(clock.Layout), strings.ToUpper(f.Name))
	}
	return nil
}

func (c *Core) SetAllowance(d, tick time.Duration) {
	switch {
	case d < 0:
		d = 0
	case d == 0:
		d = sortid.DefaultRollbackAllowance
	}
	c.allowance = int64(d / tick)
}

// UseMicroseconds changes the generator's tick, but not the lease's tick.
func (c *Core) UseMicroseconds(allowance time.Duration) {
	c.micros, c.windowed = true, false
	c.SetAllowance(allowance, time.Microsecond)
}

func (c *Core) TickLength() time.Duration { return time.Millisecond << c.format.Shift }

// Now returns the clock's tick. For the parameter counter, see [clock.Clock.Milli].
func (c *Core) Now(counter uint64) int64 {
	switch {
	case c.format == nil:
		return clock.NoTime
	case c.micros:
		return c.Clock.Micro()
	}
	return (c.Clock.Milli(counter) - c.format.Epoch) >> c.format.Shift
}

func (c *Core) Time(tick int64) time.Time {
	if c.format == nil {
		return time.Time{}
	}
	if c.micros {
		return time.UnixMicro(tick).UTC()
	}
	return time.UnixMilli(tick<<c.format.Shift + c.format.Epoch).UTC()
}

// CheckRollback applies the policy if the clock is too far behind the next ID. It reports whether
// the generator must go back to the clock's tick. The parameters are the ticks of the clock, the
// last ID and the next ID.
func (c *Core) CheckRollback(now, last, next int64) (reset bool, err error) {
	if c.format == nil {
		return false, errZero
	}
	if now+c.allowance >= next {
		return false, nil
	}
	switch c.policy {
	case sortid.RollbackReset:
		return true, nil
	case sortid.RollbackWait:
		return false, c.WaitFor(next-c.allowance, sortid.ErrClockRollback)
	default:
		return false, c.errorf("%w: it shows %s, the last ID has %s", sortid.ErrClockRollback,
			c.Time(now).Format(clock.Layout), c.Time(last).Format(clock.Layout))
	}
}

// WaitFor makes Finish wait for a tick. If the context ends first, the error matches the reason.
func (c *Core) WaitFor(tick int64, reason error) error {
	c.until, c.reason = tick, reason
	return ErrRetry
}

// Waits returns the parameters of the last WaitFor.
func (c *Core) Waits() (until time.Time, reason error) { return c.Time(c.until), c.reason }

// TakeOrLock takes a number if a window is open. Otherwise it locks the generator.
func (c *Core) TakeOrLock(counter uint64) (v Values, taken bool) {
	if v, taken = c.window.Take(counter); taken {
		return v, true
	}
	c.Lock()
	// While this goroutine waited for the lock, another one may have opened a window.
	if v, taken = c.window.Take(counter); taken {
		c.Unlock()
	}
	return v, taken
}

// Open opens a window for IDs after v.Number, if the generator has settled on the clock's last
// tick. There is room for this many IDs.
func (c *Core) Open(settled int64, room uint64, v Values) {
	if !c.windowed || room == 0 {
		return
	}
	ms, from, length, uses := c.Clock.Reading()
	if length == 0 || (ms-c.format.Epoch)>>c.format.Shift != settled {
		return
	}
	v.mask, _ = c.Rand.Uint64() // never fails, because it has no reader
	c.window.open(from, length, min(room, uint64(uses)), v)
}

// Close closes the window, if one is open, and returns how many IDs were made in it.
func (c *Core) Close() uint64 {
	taken := c.window.close()
	c.Clock.Use(int(taken))
	return taken
}

func (c *Core) Leased() bool { return c.lease != nil }

// Claim claims this tick of the lease, or a later tick.
func (c *Core) Claim(tick int64) (nodeID uint32, claimed int64, err error) {
	nodeID, claimed, err = c.lease.ClaimTick(tick)
	if err != nil && c.policy == sortid.RollbackWait && errors.Is(err, sortid.ErrLeaseExpired) {
		err = c.WaitFor(tick, sortid.ErrLeaseExpired)
	}
	return nodeID, claimed, err
}

// Finish unlocks the generator. If err is ErrRetry, it then waits, and returns ErrRetry or the
// error of the wait. It returns all other errors unchanged.
func (c *Core) Finish(ctx context.Context, err error) error {
	until, reason := c.until, c.reason
	c.Unlock()
	if err != ErrRetry {
		return err
	}
	if err := c.wait(ctx, until, reason); err != nil {
		return err
	}
	return ErrRetry
}

// wait waits for a tick, but can return early without an error, because somebody may set the clock.
// So the caller must then read the clock and ask the lease again. It must not hold the lock.
func (c *Core) wait(ctx context.Context, until int64, reason error) error {
	if reason != sortid.ErrLeaseExpired {
		if err := c.Clock.Pause(ctx, c.Time(until).UnixMicro()); err != nil {
			return c.errorf("%w; gave up waiting: %w", reason, err)
		}
		return nil
	}
	short, cancel := context.WithTimeout(ctx, recheck)
	defer cancel()
	err := c.lease.WaitTick(short, until)
	if short.Err() != nil && ctx.Err() == nil && !errors.Is(err, sortid.ErrLeaseClosed) {
		return nil // the caller must read the clock again
	}
	return err
}

// Fill locks the generator and reads the clock once for each batch of ids. The function fill makes
// a batch and returns how many IDs it has made. After an error, Fill clears ids.
func Fill[ID any](ctx context.Context, c *Core, ids []ID,
	fill func(now int64, ids []ID) (int, error)) error {
	if c.format == nil {
		return errZero
	}
	for from := 0; from < len(ids); {
		counter := clock.Counter()
		c.Lock()
		made, err := fill(c.Now(counter), ids[from:min(from+batchSize, len(ids))])
		from += made
		if err = c.Finish(ctx, err); err != nil && err != ErrRetry {
			clear(ids)
			return err
		}
	}
	return nil
}

func All[T any](generate func() (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for yield(generate()) {
		}
	}
}

func (c *Core) OptionError(field, format string, args ...any) error {
	return c.OptionsError([]string{field}, format, args...)
}

func (c *Core) OptionsError(fields []string, format string, args ...any) error {
	return &sortid.OptionError{Format: c.format.Name, Options: fields,
		Err: fmt.Errorf(format, args...)}
}

func (c *Core) TimeRangeError(tick int64) error {
	return c.errorf("%w: it shows %s", sortid.ErrTimeRange, c.Time(tick).Format(clock.Layout))
}

func (c *Core) EntropyError(err error) error {
	return c.errorf("%w: %w", sortid.ErrEntropy, err)
}

func (c *Core) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", c.format.Name, fmt.Errorf(format, args...))
}

// FullError returns an error that matches [sortid.ErrOverflow] and [sortid.ErrClockRollback].
func (c *Core) FullError(format string, args ...any) error {
	return c.errorf("%w: %w", sortid.ErrOverflow, &aheadError{fmt.Sprintf(format, args...)})
}

// An aheadError matches ErrClockRollback, but does not blame the clock.
type aheadError struct{ text string }

func (e *aheadError) Error() string { return e.text }

func (e *aheadError) Is(target error) bool { return target == sortid.ErrClockRollback }

// At makes an ID of a given time. It calls makeID with the time's tick. While it runs, the generator
// is locked. It may use Rand, but must not change the generator's other state.
func At[ID any](c *Core, t time.Time, makeID func(tick int64) (ID, error)) (id ID, err error) {
	if c.format == nil {
		return id, errZero
	}
	counter := clock.Counter()
	c.Lock()
	defer c.Unlock()
	if c.lease != nil {
		return id, c.OptionError("Lease", "it grants only future ticks, not %s",
			t.UTC().Format(clock.Layout))
	}
	c.Rand.Tick(c.Time(c.Now(counter)).UnixMilli())
	tick := (clock.UnixMilli(t) - c.format.Epoch) >> c.format.Shift
	if c.micros {
		tick = clock.UnixMicro(t)
	}
	return makeID(tick)
}

// NoTimeError returns the error for a given time that IDs cannot have.
func (c *Core) NoTimeError(tick int64) error {
	return parseerr.Kindf(sortid.ErrTimeRange, "%s: no ID can have the time %s", c.format.Name,
		c.Time(tick).Format(clock.Layout))
}

func Must[G any](g G, err error) G {
	if err != nil {
		panic(err)
	}
	return g
}
