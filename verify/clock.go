package verify

import (
	"math"
	"time"

	"github.com/sortid/sortid/verify/internal/words"
)

// A clock judges the timestamps by themselves.
type clock struct {
	c *checker

	possible, unit, epoch, resolution, frozen *tally
	lowest, highest                           uint64 // the timestamps taken for possible
	outside                                   item   // the first one outside them

	n        uint64 // IDs so far
	current  uint64 // the timestamp under way
	since    uint64 // n at its first ID
	line     uint64 // of that
	ticks    uint64 // timestamps so far, each stay counted
	first    uint64 // the least one
	last     uint64 // the largest one
	divisor  uint64 // of all differences between successive ones
	densest  uint64 // IDs in one stay
	pause    uint64 // the largest step
	timeline timeline
	live     *live
}

// mostPerMilli is more IDs in a millisecond than any generator makes.
const mostPerMilli = 1_000_000

func newClock(c *checker) *clock {
	k := &clock{
		c:        c,
		possible: c.tally("clock.possible", "timestamps are of a possible time", Fail),
		unit:     c.tally("clock.unit", "timestamps are in the unit of the format", Fail),
		epoch:    c.tally("clock.epoch", "timestamps count from the epoch of the format", Fail),
	}
	k.resolution = c.tally("clock.resolution", "timestamps take all values, not every tenth or thousandth", Warn)
	k.frozen = c.tally("clock.frozen", "the clock does not stand still", Fail)
	if c.o.Unordered {
		k.frozen.skip("not asked of several sources")
	}
	from, to := c.o.From, c.o.To
	if from.IsZero() {
		from = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		// Timestamps in seconds would otherwise pass for some of a format's first days.
		if young := c.f.epoch.AddDate(0, 3, 0); young.After(from) {
			from = young
		}
	}
	if to.IsZero() {
		to = c.o.Now().AddDate(0, 0, 1)
	}
	k.lowest, k.highest = c.f.timestampOf(from), c.f.timestampOf(to)
	if c.o.Live {
		k.live = newLive(c)
	}
	return k
}

// timestampOf returns the timestamp of a time, as far as the format reaches.
func (f *format) timestampOf(t time.Time) uint64 {
	ms := t.UnixMilli() - f.epoch.UnixMilli()
	return min(uint64(max(ms, 0)/f.unit.Milliseconds()), f.last)
}

// run takes IDs of lines that follow each other, and is told if they are known to
// increase.
func (k *clock) run(ids []id, line uint64, rising bool) {
	shift := k.c.f.shift
	if k.n == 0 && len(ids) > 0 {
		k.current, k.line = ids[0].hi>>shift, line
		k.first = k.current
	}
	current := k.current
	if rising && ids[0].hi>>shift == current && ids[len(ids)-1].hi>>shift == current {
		k.n += uint64(len(ids))
		return
	}
	for i := range ids {
		if ts := ids[i].hi >> shift; ts != current {
			n := k.n + uint64(i)
			k.tick(n)
			k.step(current, ts)
			k.current, k.since, k.line = ts, n, line+uint64(i)
			current = ts
		}
	}
	k.n += uint64(len(ids))
}

// tick ends the stay at a timestamp, with n IDs so far.
func (k *clock) tick(n uint64) {
	ts, here := k.current, n-k.since
	k.ticks++
	k.first, k.last = min(k.first, ts), max(k.last, ts)
	k.densest = max(k.densest, here)
	k.timeline.add(ts, here)
	if ts < k.lowest || ts > k.highest {
		if k.outside.line == 0 {
			k.outside = item{id{hi: ts << k.c.f.shift}, k.line}
		}
		k.possible.Count += here
		if len(k.possible.Examples) < maxExamples {
			k.possible.example(k.line, words.Stamp(k.c.f.time(ts)), "%s", words.Plural(here, "ID"))
		}
	}
	if here > uint64(mostPerMilli*k.c.f.unit.Milliseconds()) && !k.c.o.Unordered && k.frozen.hit() {
		k.frozen.example(k.line, words.Stamp(k.c.f.time(ts)), "%s of one timestamp", words.Plural(here, "ID"))
	}
}

// step notes how far the clock has moved.
func (k *clock) step(from, to uint64) {
	d := max(from, to) - min(from, to)
	if to > from {
		k.pause = max(k.pause, d)
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

// received compares the newest ID of a block with the time it came at.
func (k *clock) received(b *block) {
	if k.live != nil && len(b.ids) > 0 {
		k.live.add(b.at, k.c.f.timestamp(b.ids[len(b.ids)-1]))
	}
}

func (k *clock) finish() {
	if k.n == 0 {
		return
	}
	k.tick(k.n)
	c, f, r := k.c, k.c.f, &k.c.report
	r.First, r.Last = f.time(k.first), f.time(k.last)
	r.Timeline = k.timeline.result(f)
	k.fault()

	// The probability that a sound clock's timestamps differ by multiples of this.
	chance := math.Pow(float64(max(k.divisor, 1)), -float64(k.ticks-1))
	switch {
	case k.ticks < 3 || k.divisor == 1 || k.resolution.Status == Skip:
	case chance < improbable:
		k.resolution.hit()
		if step := float64(k.divisor) * f.unit.Seconds(); step >= 1 {
			k.resolution.severity = Fail
		}
		k.resolution.Detail = "all timestamps differ by multiples of " + f.span(k.divisor)
	}

	seconds := float64(k.last-k.first) * f.unit.Seconds()
	if k.last > k.first {
		c.fact("time", "%s to %s, %s", words.Stamp(r.First), words.Stamp(r.Last), words.Duration(seconds))
		c.fact("rate", "%s IDs a second on average, at most %s in %s",
			words.Count(uint64(float64(k.n)/seconds)), words.Count(k.densest), f.span(1))
		if k.c.order != nil {
			c.fact("longest pause", "%s", f.span(k.pause))
		}
	} else {
		c.fact("time", "%s", words.Stamp(r.First))
	}
	if k.live != nil {
		k.live.finish()
	}
}

// fault says what may have led to impossible timestamps.
func (k *clock) fault() {
	from, to := words.Stamp(k.c.f.time(k.lowest)), words.Stamp(k.c.f.time(k.highest))
	n := k.possible.Count
	if n == 0 {
		return
	}
	k.possible.Detail = words.Plural(n, "ID") + " outside " + from + " to " + to
	if 2*n < k.n {
		return
	}
	guess, kind := k.c.f.guess(k.c.f.timestamp(k.outside.id), k.c.o.Now())
	t := map[mistake]*tally{wrongUnit: k.unit, wrongEpoch: k.epoch}[kind]
	if t == nil {
		return
	}
	t.Count, t.Examples = k.possible.Count, k.possible.Examples
	t.Detail = k.possible.Detail + "; " + guess
	k.possible.Count, k.possible.Examples, k.possible.Detail = 0, nil, ""
	k.possible.skip("see %s", t.Name)
	if t == k.unit {
		k.resolution.skip("see %s", t.Name)
	}
}
