// Package clock reads the Unix time in milliseconds. This takes a few nanoseconds.
//
// Reading the system clock takes longer than all other work for an ID. So a [Clock] keeps a reading
// while a cheap counter shows that at most [Staleness] has passed.
package clock

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Staleness limits how long a [Clock] keeps a reading. So a Clock returns a millisecond that the
// system clock showed at most Staleness ago, even if somebody has set the system clock since then.
// While the counter's rate is constant, a Clock discards a reading when the reading's millisecond
// ends.
const Staleness = 100 * time.Microsecond

const (
	// lifetime is how long a Clock keeps a reading. The other half of Staleness is a margin,
	// because the counter's rate may change, and counters may differ between cores.
	lifetime = Staleness / 2

	// maxUses limits the uses of a reading, in case the counter stops.
	maxUses = 4096

	// A sample is an interval over which a Clock measures the counter's rate.
	minSample, maxSample = time.Millisecond, time.Second
)

// A Clock is not safe for concurrent use, except for [Clock.Pause] and [Clock.Micro].
type Clock struct {
	ms        int64  // the last reading, Unix milliseconds
	validFrom uint64 // the reading is valid from this counter value
	validFor  uint64 // how many counts the reading is valid
	usesLeft  int    // how many more calls may return the reading

	now     func() time.Time
	counter func() uint64 // nil for an injected clock, which is read on each call

	// The current sample began at sampleTime, when the counter was at most sampleCount.
	sampleTime         time.Time
	sampleCount        uint64
	rate, previousRate float64 // counts per nanosecond in the last two samples
}

// isSteady asks the processor once. In a virtual machine, the question takes microseconds.
var isSteady = sync.OnceValue(steady)

func System() Clock {
	if !isSteady() {
		return Injected(time.Now)
	}
	return Clock{now: time.Now, counter: Counter}
}

// Injected returns a clock that calls the function now for each reading.
func Injected(now func() time.Time) Clock { return Clock{now: now} }

// Layout is how errors and reports show a time in UTC: RFC 3339 to the millisecond.
const Layout = "2006-01-02T15:04:05.000Z"

// farAway is more than 30,000 years, in seconds. No format reaches it.
const farAway = 1 << 40

// NoTime is the time of the zero Clock, in milliseconds.
const NoTime = -farAway * 1000

// UnixMilli returns t.UnixMilli(). If t is farther from 1970 than farAway, it returns a time before
// or after all timestamps.
func UnixMilli(t time.Time) int64 {
	if s := t.Unix(); s < -farAway || s > farAway {
		return max(-farAway, min(s, farAway)) * 1000
	}
	return t.UnixMilli()
}

// UnixMicro is like [UnixMilli], in microseconds.
func UnixMicro(t time.Time) int64 {
	if s := t.Unix(); s < -farAway || s > farAway {
		return max(-farAway, min(s, farAway)) * 1_000_000
	}
	return t.UnixMicro()
}

// Milli returns the Unix time in milliseconds. The parameter counter is a value of [Counter] that
// the caller has read for this ID or batch. With an older value, the time may be too old.
func (c *Clock) Milli(counter uint64) int64 {
	if counter-c.validFrom < c.validFor && c.usesLeft > 0 {
		c.usesLeft--
		return c.ms
	}
	return c.read()
}

// Steady reports whether the clock keeps readings.
func (c *Clock) Steady() bool { return c.counter != nil }

// Reading returns the last reading, from which counter value and for how many counts it is valid,
// and how many more calls may use it. A clock that is read on each call returns a length of zero.
func (c *Clock) Reading() (ms int64, validFrom, validFor uint64, usesLeft int) {
	return c.ms, c.validFrom, c.validFor, c.usesLeft
}

// Use says that n callers have used the [Clock.Reading].
func (c *Clock) Use(n int) { c.usesLeft -= n }

func (c *Clock) Micro() int64 { return UnixMicro(c.now()) }

func (c *Clock) read() int64 {
	if c.now == nil {
		return NoTime
	}
	if c.counter == nil {
		return UnixMilli(c.now())
	}
	before := c.counter()
	t := c.now()
	after := c.counter()
	c.sample(t, before, after)

	// Use the smaller of the two rates. The larger rate is wrong if the machine slept during its
	// sample: the counter continued, but the monotonic clock stopped.
	rate := min(c.rate, c.previousRate)
	left := time.Millisecond - time.Duration(t.Nanosecond())%time.Millisecond
	// Another caller may have called Counter a little earlier, and then waited for the lock. The
	// reading is valid for that caller, too.
	slack := uint64(float64(lifetime) * rate)
	c.ms, c.usesLeft = t.UnixMilli(), maxUses
	c.validFrom, c.validFor = before-slack, slack+uint64(float64(min(left, lifetime))*rate)
	return c.ms
}

// sample measures the counter's rate. It counts from just after the sample's first reading of the
// clock to just before the last reading, so the rate is rounded down. It discards both rates if the
// counter went back, the machine slept, somebody set the clock, or the sample is too long.
func (c *Clock) sample(t time.Time, before, after uint64) {
	d, counts := t.Sub(c.sampleTime), int64(before-c.sampleCount)
	steady := d >= 0 && counts >= 0 && int64(after-before) >= 0
	if steady && d < minSample {
		return
	}
	step := t.Round(0).Sub(c.sampleTime.Round(0)) - d // of the wall clock
	if steady && d <= maxSample && step.Abs() <= d/64 {
		c.rate, c.previousRate = float64(counts)/float64(d), c.rate
	} else {
		c.rate, c.previousRate = 0, 0
	}
	c.sampleTime, c.sampleCount = t, after
}

// Pause waits until the clock shows the given Unix time in microseconds. It waits at most 50 ms,
// because somebody may set the clock meanwhile. If ctx ends, the error matches the error of ctx.
func (c *Clock) Pause(ctx context.Context, us int64) error {
	// A sleeping goroutine wakes some tens of microseconds late. So sleep a little less, and do not
	// sleep for a short wait.
	const early, short = 100 * time.Microsecond, 400 * time.Microsecond
	const longest = 50 * time.Millisecond
	for {
		micros := us - c.Micro()
		if micros <= 0 {
			return nil
		}
		left := time.Duration(min(micros, longest.Microseconds())) * time.Microsecond
		switch {
		case c.counter == nil:
			left = early // an injected clock may be faster or slower
		case left <= short:
			runtime.Gosched()
			continue
		default:
			left -= early
		}
		if err := Sleep(ctx, left); err != nil {
			return err
		}
		if c.counter == nil || micros > longest.Microseconds() {
			return nil
		}
	}
}

// Sleep waits for d. If ctx ends first, it returns [ContextError].
func Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Done() == nil { // avoids an allocation
		time.Sleep(d)
		return nil
	}
	// Check the context first. If the timer has ended, too, the select below chooses at random.
	if ctx.Err() != nil {
		return ContextError(ctx)
	}
	// A timer that ends at once can crash the race detector in a bubble of testing/synctest.
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ContextError(ctx)
	}
}

// ContextError returns an error that matches the context's error and its cause.
func ContextError(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
