// Package clock reads the Unix time in milliseconds at a cost of a few nanoseconds.
//
// Reading the system clock costs more than the rest of making an ID. So a [Clock] keeps its last
// reading while a cheap counter shows that little time has passed. See [Staleness].
package clock

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Staleness limits how long a reading is kept. A [Clock] may return a millisecond that ended at
// most this long ago, or that a step of the system clock skipped. While the counter is steady, no
// reading is kept past the end of its millisecond.
const Staleness = 100 * time.Microsecond

const (
	// lifetime is how long a reading is kept: half of Staleness. The other half allows for a
	// changing counter rate, and for counters that differ between cores.
	lifetime = Staleness / 2

	// maxUses is how often a reading is used, in case the counter stands still.
	maxUses = 4096

	// The counter's rate is measured over intervals of these lengths.
	minSample, maxSample = time.Millisecond, time.Second
)

// A Clock reads the time. It is not safe for concurrent use, except for [Clock.Pause]
// and [Clock.Micro].
type Clock struct {
	ms        int64  // the last reading, Unix milliseconds
	validFrom uint64 // the reading is valid from this counter value
	validFor  uint64 // for this number of counts
	usesLeft  int    // and this number of calls

	now     func() time.Time
	counter func() uint64 // nil: an injected clock, read on each call

	// The current sample began at sampleTime, when the counter was at most sampleCount.
	sampleTime         time.Time
	sampleCount        uint64
	rate, previousRate float64 // the last two samples, in counts per nanosecond
}

// System returns a clock that reads the system's clock.
func System() Clock {
	if !steady() {
		return Injected(time.Now)
	}
	return Clock{now: time.Now, counter: Counter}
}

// Injected returns a clock that calls now for each reading.
func Injected(now func() time.Time) Clock { return Clock{now: now} }

// Layout is how errors and reports show a time in UTC: RFC 3339 to the millisecond.
const Layout = "2006-01-02T15:04:05.000Z"

// farAway is a number of seconds, over thirty thousand years, that no format reaches.
const farAway = 1 << 40

// NoTime is what the zero Clock shows, in milliseconds: no format reaches it.
const NoTime = -farAway * 1000

// UnixMilli returns t.UnixMilli(). For a time too far away to be counted in milliseconds, it
// returns a time before or after all others.
func UnixMilli(t time.Time) int64 {
	if s := t.Unix(); s < -farAway || s > farAway {
		return max(-farAway, min(s, farAway)) * 1000
	}
	return t.UnixMilli()
}

// unixMicro is UnixMilli for microseconds.
func unixMicro(t time.Time) int64 {
	if s := t.Unix(); s < -farAway || s > farAway {
		return max(-farAway, min(s, farAway)) * 1_000_000
	}
	return t.UnixMicro()
}

// Milli returns the Unix time in milliseconds. The caller must have read counter with [Counter]
// after its own call began.
func (c *Clock) Milli(counter uint64) int64 {
	if counter-c.validFrom < c.validFor && c.usesLeft > 0 {
		c.usesLeft--
		return c.ms
	}
	return c.read()
}

// Micro returns the Unix time in microseconds, read at each call.
func (c *Clock) Micro() int64 { return unixMicro(c.now()) }

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

	// Use the smaller of two samples. During the other one the machine may have slept: its counter
	// continued while its clocks stood still.
	rate := min(c.rate, c.previousRate)
	left := time.Millisecond - time.Duration(t.Nanosecond())%time.Millisecond
	// A caller with a counter value slightly older than this reading has waited for the lock. For
	// that caller the reading is new.
	slack := uint64(float64(lifetime) * rate)
	c.ms, c.usesLeft = t.UnixMilli(), maxUses
	c.validFrom, c.validFor = before-slack, slack+uint64(float64(min(left, lifetime))*rate)
	return c.ms
}

// sample measures the counter's rate, rounded down: from the counter after the sample's first
// reading to the counter before its last one. It discards both rates if the counter went back, if
// the machine slept or stepped its clock, and after a long time without a reading.
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

// Pause waits until the clock shows us (Unix microseconds), but at most 50 ms, so that the caller
// can check whether the clock was set meanwhile. If ctx ends, Pause returns an error that matches
// the error of ctx. It is safe for concurrent use.
func (c *Clock) Pause(ctx context.Context, us int64) error {
	// A sleeping goroutine wakes some tens of microseconds late. So sleep a little less, and do
	// not sleep at all if the delay would be a large part of the wait.
	const early, short, longest = 100 * time.Microsecond, 400 * time.Microsecond, 50 * time.Millisecond
	for {
		micros := us - c.Micro()
		if micros <= 0 {
			return nil
		}
		left := time.Duration(min(micros, longest.Microseconds())) * time.Microsecond
		switch {
		case c.counter == nil:
			left = early // an injected clock need not run as real time does
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

// Sleep waits for d, or until ctx ends: then it returns the error of [ContextError].
func Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Done() == nil { // as for context.Background: this allocates nothing
		time.Sleep(d)
		return nil
	}
	// If the timer ends as well, the select below chooses at random.
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

// ContextError returns an error that matches both the context's error and its cause.
func ContextError(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
