// Package clock judges the timestamps of IDs by themselves, and compares them with this
// machine's clock.
package clock

import (
	"math"
	"time"

	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/words"
	"github.com/sortid/sortid/verify/report"
)

// Options say what is known of the clock.
type Options struct {
	Now       func() time.Time
	From, To  time.Time // the possible times; zero: the defaults
	Unordered bool      // whether the IDs are of several generators
	Live      bool      // whether to compare with this machine's clock
}

// A Checker judges the timestamps.
type Checker struct {
	f     *ids.Format
	o     Options
	found *findings.List

	possible, unit, epoch, resolution, frozen *findings.Check
	lowest, highest                           uint64 // the timestamps taken for possible
	outside                                   uint64 // the first one that is not
	anyOutside                                bool

	n            uint64 // IDs so far
	current      uint64 // the timestamp of the newest
	since        uint64 // n at its first ID
	line         uint64 // that of its first ID
	ticks        uint64 // timestamps so far; one that comes again counts again
	first        uint64 // the least one
	last         uint64 // the largest one
	divisor      uint64 // the greatest common divisor of all steps
	maxPerTick   uint64 // the most IDs in a row with one timestamp
	longestPause uint64 // the largest step
	timeline     timeline
	live         *liveChecker
}

// maxPerMilli is more IDs in a millisecond than any generator makes.
const maxPerMilli = 1_000_000

// NewChecker returns a checker that adds its checks to the findings.
func NewChecker(f *ids.Format, found *findings.List, o Options) *Checker {
	k := &Checker{
		f: f, o: o, found: found,
		possible:   found.Check("clock.possible", "timestamps are of a possible time", report.Fail),
		unit:       found.Check("clock.unit", "timestamps are in the unit of the format", report.Fail),
		epoch:      found.Check("clock.epoch", "timestamps count from the epoch of the format", report.Fail),
		resolution: found.Check("clock.resolution", "timestamps take all values, not every tenth or thousandth", report.Warn),
		frozen:     found.Check("clock.frozen", "the clock does not stand still", report.Fail),
	}
	if o.Unordered {
		k.frozen.Skip("not asked of several sources")
	}
	from, to := o.From, o.To
	if from.IsZero() {
		from = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		// Timestamps in seconds would otherwise pass for some of a format's first days.
		if start := f.Epoch.AddDate(0, 3, 0); start.After(from) {
			from = start
		}
	}
	if to.IsZero() {
		to = o.Now().AddDate(0, 0, 1)
	}
	k.lowest, k.highest = f.TimestampOf(from), f.TimestampOf(to)
	if o.Live {
		k.live = newLiveChecker(f, found)
	}
	return k
}

// Feed takes IDs of lines that follow each other, and is told if they are known to
// increase.
func (k *Checker) Feed(list []ids.ID, line uint64, rising bool) {
	shift := k.f.Shift
	if k.n == 0 && len(list) > 0 {
		k.current, k.line = list[0].Hi>>shift, line
		k.first = k.current
	}
	current := k.current
	if rising && list[0].Hi>>shift == current && list[len(list)-1].Hi>>shift == current {
		k.n += uint64(len(list))
		return
	}
	for i := range list {
		if ts := list[i].Hi >> shift; ts != current {
			n := k.n + uint64(i)
			k.tick(n)
			k.step(current, ts)
			k.current, k.since, k.line = ts, n, line+uint64(i)
			current = ts
		}
	}
	k.n += uint64(len(list))
}

// tick ends a row of IDs with one timestamp, when there are n IDs so far.
func (k *Checker) tick(n uint64) {
	ts, here := k.current, n-k.since
	k.ticks++
	k.first, k.last = min(k.first, ts), max(k.last, ts)
	k.maxPerTick = max(k.maxPerTick, here)
	k.timeline.add(ts, here)
	if ts < k.lowest || ts > k.highest {
		if !k.anyOutside {
			k.outside, k.anyOutside = ts, true
		}
		k.possible.Count += here
		if len(k.possible.Examples) < report.MaxExamples {
			k.possible.Example(k.line, words.Stamp(k.f.Time(ts)), "%s", words.Plural(here, "ID"))
		}
	}
	if here > uint64(maxPerMilli*k.f.Tick.Milliseconds()) && !k.o.Unordered && k.frozen.Hit() {
		k.frozen.Example(k.line, words.Stamp(k.f.Time(ts)), "%s of one timestamp", words.Plural(here, "ID"))
	}
}

// step takes a step of the clock.
func (k *Checker) step(from, to uint64) {
	d := max(from, to) - min(from, to)
	if to > from {
		k.longestPause = max(k.longestPause, d)
	}
	if k.divisor != 1 {
		k.divisor = gcd(d, k.divisor)
	}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Received compares the newest ID of those read so far, on the given line, with the time
// at which it came.
func (k *Checker) Received(newest ids.ID, at time.Time, line uint64) {
	if k.live != nil {
		k.live.add(at, k.f.Timestamp(newest), line)
	}
}

// Finish draws the conclusions and adds what there is to say of the time to the report.
func (k *Checker) Finish(r *report.Report) {
	if k.n == 0 {
		return
	}
	k.tick(k.n)
	f := k.f
	r.First, r.Last = f.Time(k.first), f.Time(k.last)
	r.Timeline = k.timeline.result(f)
	k.explainOutside()

	// The probability that a sound clock's timestamps differ by multiples of this.
	chance := math.Pow(float64(max(k.divisor, 1)), -float64(k.ticks-1))
	switch {
	case k.ticks < 3 || k.divisor == 1 || k.resolution.Status == report.Skip:
	case chance < findings.Improbable:
		k.resolution.Hit()
		if step := float64(k.divisor) * f.Tick.Seconds(); step >= 1 {
			k.resolution.Severity = report.Fail
		}
		k.resolution.Detail = "all timestamps differ by multiples of " + f.Span(k.divisor)
	}

	seconds := float64(k.last-k.first) * f.Tick.Seconds()
	if k.last > k.first {
		k.found.Fact("time", "%s to %s, %s", words.Stamp(r.First), words.Stamp(r.Last), words.Duration(seconds))
		k.found.Fact("rate", "%s IDs a second on average, at most %s in %s",
			words.Count(uint64(float64(k.n)/seconds)), words.Count(k.maxPerTick), f.Span(1))
		if !k.o.Unordered {
			k.found.Fact("longest pause", "%s", f.Span(k.longestPause))
		}
	} else {
		k.found.Fact("time", "%s", words.Stamp(r.First))
	}
	if k.live != nil {
		r.Lead = k.live.finish()
	}
}

// explainOutside says what may have led to impossible timestamps.
func (k *Checker) explainOutside() {
	from, to := words.Stamp(k.f.Time(k.lowest)), words.Stamp(k.f.Time(k.highest))
	n := k.possible.Count
	if n == 0 {
		return
	}
	k.possible.Detail = words.Plural(n, "ID") + " outside " + from + " to " + to
	if 2*n < k.n {
		return
	}
	guess, kind := guessMistake(k.f, k.outside, k.o.Now())
	t := map[mistake]*findings.Check{wrongUnit: k.unit, wrongEpoch: k.epoch}[kind]
	if t == nil {
		return
	}
	t.Count, t.Examples = k.possible.Count, k.possible.Examples
	t.Detail = k.possible.Detail + "; " + guess
	k.possible.Clear()
	k.possible.Detail = ""
	k.possible.Skip("see %s", t.Name)
	if t == k.unit {
		k.resolution.Skip("see %s", t.Name)
	}
}
