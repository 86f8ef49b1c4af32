// Package clock tells the Unix time in milliseconds for a few nanoseconds.
//
// Reading the system's clock costs more than all the rest of making an ID, so a
// [Clock] keeps its last reading for as long as a cheap counter says that little
// time has passed. See [Staleness].
package clock

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Staleness bounds how long a reading is kept: a [Clock] may answer with a
// millisecond that the system's clock left (or, after a step, never was in) at
// most this long ago. While the counter is steady it keeps no reading past the end of
// its millisecond.
const Staleness = 100 * time.Microsecond

const (
	// window is half of Staleness: the other half is there for a counter whose
	// rate changes and for cores whose counters differ.
	window = Staleness / 2

	// maxUses ends the life of a reading where the counter stands still.
	maxUses = 4096

	// The counter's rate is measured over intervals of these lengths.
	minSample, maxSample = time.Millisecond, time.Second
)

// A Clock reads the time. It is not safe for concurrent use, save for [Clock.Pause] and
// [Clock.Micro].
type Clock struct {
	ms    int64  // the last reading, Unix milliseconds
	start uint64 // the first counter value that the reading holds for
	span  uint64 // for how many counts from there it holds
	uses  int    // for how many calls more it holds

	now     func() time.Time
	counter func() uint64 // nil: an injected clock, read on each call

	// The sample under way began at since, when the counter was at most at from.
	since       time.Time
	from        uint64
	rate, older float64 // the last two samples, in counts a nanosecond
}

// System returns a clock that reads the system's.
func System() Clock {
	if !steady() {
		return Injected(time.Now)
	}
	return Clock{now: time.Now, counter: Counter}
}

// Injected returns a clock that calls now for each reading.
func Injected(now func() time.Time) Clock { return Clock{now: now} }

// farAway is a number of seconds, some thirty thousand years, that no format reaches.
const farAway = 1 << 40

// UnixMilli is that of t, but for times too far away to be counted in milliseconds:
// those become some that are far away, too, before or after all others.
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

// Milli returns the Unix time in milliseconds, given a counter value that the
// caller read with [Counter] no earlier than its own call began.
func (c *Clock) Milli(counter uint64) int64 {
	if counter-c.start < c.span && c.uses > 0 {
		c.uses--
		return c.ms
	}
	return c.read()
}

// Micro returns the Unix time in microseconds, read at each call.
func (c *Clock) Micro() int64 { return unixMicro(c.now()) }

func (c *Clock) read() int64 {
	if c.counter == nil {
		return UnixMilli(c.now())
	}
	before := c.counter()
	t := c.now()
	after := c.counter()
	c.sample(t, before, after)

	// The smaller of two samples: the other one may be a machine's that slept
	// unnoticed, counting on while its clocks stood still.
	rate := min(c.rate, c.older)
	left := time.Millisecond - time.Duration(t.Nanosecond())%time.Millisecond
	// A caller whose counter is a little older than this reading waited while others
	// came before it: to such a call the reading is new.
	slack := uint64(float64(window) * rate)
	c.ms, c.uses = t.UnixMilli(), maxUses
	c.start, c.span = before-slack, slack+uint64(float64(min(left, window))*rate)
	return c.ms
}

// sample measures the counter's rate, erring on the slow side: it compares the
// counter after the sample's first reading with the one before its last. Whatever is
// not one steady stretch of time ends the use of the rates before it: a counter that
// goes back, a machine that slept or stepped its clock, a long time without a reading.
func (c *Clock) sample(t time.Time, before, after uint64) {
	d, counts := t.Sub(c.since), int64(before-c.from)
	steady := d >= 0 && counts >= 0 && int64(after-before) >= 0
	if steady && d < minSample {
		return
	}
	step := t.Round(0).Sub(c.since.Round(0)) - d // of the wall clock
	if steady && d <= maxSample && step.Abs() <= d/64 {
		c.rate, c.older = float64(counts)/float64(d), c.rate
	} else {
		c.rate, c.older = 0, 0
	}
	c.since, c.from = t, after
}

// Pause is one leg of a wait until us (Unix microseconds): it may return early, after
// some tens of milliseconds, for the caller to see whether the clock went back meanwhile
// and waiting still makes sense. It returns an error that matches the context's if that
// ends. It is safe for concurrent use.
func (c *Clock) Pause(ctx context.Context, us int64) error {
	// A sleeping goroutine wakes late by some tens of microseconds, so it sleeps for less,
	// and not at all where that would be a large part of the wait.
	const early, short, leg = 100 * time.Microsecond, 400 * time.Microsecond, 50 * time.Millisecond
	for {
		micros := us - c.Micro()
		if micros <= 0 {
			return nil
		}
		left := time.Duration(min(micros, leg.Microseconds())) * time.Microsecond
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
		if c.counter == nil || micros > leg.Microseconds() {
			return nil
		}
	}
}

// Sleep waits for d, or until ctx ends: then it returns the error of [ContextError].
func Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Done() == nil { // as without any context: then it allocates nothing
		time.Sleep(d)
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

// ContextError returns an error that matches both the context's and its cause.
func ContextError(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
