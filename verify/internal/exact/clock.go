package exact

import (
	"math"
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// ClockOptions are what a [Clock] must know.
type ClockOptions struct {
	Now       func() time.Time
	From, To  time.Time // possible times; zero means the default
	Unordered bool      // IDs of several generators
	Live      bool      // compare with this machine's clock
}

// A Clock checks the timestamps of a source.
type Clock struct {
	f     *sample.Format
	o     ClockOptions
	found *findings.List

	possible, unit, epoch, bytes, resolution, frozen *findings.Check

	lowest, highest      uint64          // The range of possible timestamps.
	outside, mostOutside uint64          // The first and the largest impossible timestamp.
	ticksOutside         uint64          // How many ticks have impossible timestamps.
	fallsOutside         uint64          // How often such a timestamp goes back.
	outsiders            []integer.Words // The first ID of every eachOutside of these ticks.
	eachOutside          uint64

	n            uint64        // number of IDs
	current      uint64        // the newest timestamp
	newest       integer.Words // the first ID with this timestamp
	since        uint64        // number of IDs before the first ID with this timestamp
	line         uint64        // line of this first ID
	ticks        uint64
	first        uint64
	last         uint64
	divisor      uint64 // greatest common divisor of the steps between timestamps
	maxPerTick   uint64 // largest number of consecutive IDs with the same timestamp
	longestPause uint64 // largest step forward
	timeline     timeline
	live         *liveChecker

	rounded *integer.Place // the bit that says that a time is rounded, or nil
	precise bool           // in some IDs this bit is 0
	misread bool           // the check clock.bits explains faults of other checks
}

const (
	// No generator makes maxPerMilli IDs in a millisecond.
	maxPerMilli = 1_000_000

	maxOutsiders = 64
)

func NewClock(f *sample.Format, found *findings.List, o ClockOptions) *Clock {
	k := &Clock{
		f: f, o: o, found: found, eachOutside: 1,
		possible: found.Check("clock.possible", "timestamps are possible times",
			"timestamps are impossible times"),
		unit: found.Check("clock.unit", "timestamps are in the unit of the format",
			"timestamps are in another unit than the format's"),
		epoch: found.Check("clock.epoch", "timestamps count from the epoch of the format",
			"timestamps count from another epoch than the format's"),
		bytes: found.Check("clock.bits", "timestamps have all bits, the highest byte first",
			"timestamps lack bits, or have their bytes in another order"),
		resolution: found.Check("clock.resolution",
			"timestamps have all values, not only every tenth or thousandth",
			"all timestamps are multiples of a step"),
		frozen: found.Check("clock.frozen", "the clock does not stand still", "the clock stands still"),
	}
	k.resolution.Severity = report.Warn
	if bit, ok := f.Rounded(); ok {
		place := integer.PlaceOf(bit.Low, bit.Bits)
		k.rounded = &place
	}
	if o.Unordered {
		k.frozen.Skip("not checked for unordered IDs")
	}
	from, to := o.From, o.To
	if from.IsZero() {
		from = earliest(f, o.Now())
		// A clock that counts seconds shows times before this one.
		age := o.Now().Sub(f.Epoch).Seconds()
		if end := f.Epoch.Add(time.Duration(age * float64(f.Tick))); f.Tick < time.Second &&
			end.After(from) {
			from = end
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

// Feed checks IDs on consecutive lines. The parameter rising says that they increase.
func (k *Clock) Feed(list []integer.Words, line uint64, rising bool) {
	f := k.f
	if k.n == 0 && len(list) > 0 {
		k.current, k.newest, k.line = f.Timestamp(&list[0]), list[0], line
		k.first = k.current
	}
	current := k.current
	if rising && f.Timestamp(&list[0]) == current && f.Timestamp(&list[len(list)-1]) == current {
		k.n += uint64(len(list))
		return
	}
	for i := 0; i < len(list); i++ {
		const far = 32
		if rising && i+far < len(list) && f.Timestamp(&list[i+far]) == current {
			i += far // all IDs up to here have this timestamp
			continue
		}
		if ts := f.Timestamp(&list[i]); ts != current {
			n := k.n + uint64(i)
			k.tick(n)
			k.step(current, ts)
			k.precise = k.precise || k.rounded != nil && k.rounded.Of(&list[i]) == 0
			k.current, k.newest, k.since, k.line = ts, list[i], n, line+uint64(i)
			current = ts
		}
	}
	k.n += uint64(len(list))
}

func (k *Clock) tick(n uint64) {
	ts, here := k.current, n-k.since
	k.ticks++
	k.first, k.last = min(k.first, ts), max(k.last, ts)
	k.maxPerTick = max(k.maxPerTick, here)
	k.timeline.add(ts, here)
	if ts < k.lowest || ts > k.highest {
		if len(k.outsiders) == 0 {
			k.outside = ts
		}
		k.mostOutside = max(k.mostOutside, ts)
		k.keepOutsider()
		k.possible.Found(k.line, words.Time(k.f.TimeOf(ts)), "%s", words.Plural(here, "ID"))
		k.possible.Count += here - 1
	}
	if here > uint64(maxPerMilli*max(1, k.f.Tick.Milliseconds())) && !k.o.Unordered {
		k.frozen.Found(k.line, words.Time(k.f.TimeOf(ts)), "%s have this timestamp",
			words.Plural(here, "ID"))
	}
}

func (k *Clock) keepOutsider() {
	if k.ticksOutside++; (k.ticksOutside-1)%k.eachOutside > 0 {
		return
	}
	if len(k.outsiders) == maxOutsiders {
		for i := range maxOutsiders / 2 {
			k.outsiders[i] = k.outsiders[2*i]
		}
		k.outsiders, k.eachOutside = k.outsiders[:maxOutsiders/2], 2*k.eachOutside
	}
	k.outsiders = append(k.outsiders, k.newest)
}

func (k *Clock) step(from, to uint64) {
	d := max(from, to) - min(from, to)
	if from > to && (from < k.lowest || from > k.highest) {
		k.fallsOutside++
	}
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

// Received compares the newest ID with its time of arrival.
func (k *Clock) Received(newest integer.Words, at time.Time, line uint64) {
	if k.live != nil {
		k.live.add(at, k.f.Timestamp(&newest), line)
	}
}

func (k *Clock) Finish(r *report.Report) {
	if k.n == 0 {
		return
	}
	k.tick(k.n)
	f := k.f
	r.First, r.Last = f.TimeOf(k.first), f.TimeOf(k.last)
	r.Timeline = k.timeline.result(f)
	k.explainOutside()

	if k.rounded != nil && !k.precise {
		k.resolution.Skip("the IDs say that their times are rounded")
	}
	// The probability that the divisor divides all steps of a correct clock. Merged sources go back and
	// forth between few timestamps.
	divisor := max(k.divisor, 1)
	steps := min(k.ticks-1, (k.last-k.first)/divisor)
	chance := math.Pow(float64(divisor), -float64(steps))
	if k.ticks >= 3 && k.divisor != 1 && k.resolution.Status != report.Skip &&
		chance < findings.Improbable {
		k.resolution.Count++
		if step := float64(k.divisor) * f.Tick.Seconds(); step >= 1 {
			k.resolution.Severity = report.Fail
		}
		k.resolution.Detail = "all timestamps differ by multiples of " +
			words.Span(f.Tick, k.divisor)
	}

	seconds := float64(k.last-k.first) * f.Tick.Seconds()
	if k.last > k.first {
		k.found.Fact("time", "%s to %s, %s", words.Time(r.First), words.Time(r.Last),
			words.Duration(seconds))
		k.found.Fact("rate", "%s a second on average, at most %s in %s",
			words.Plural(uint64(float64(k.n)/seconds), "ID"), words.Count(k.maxPerTick),
			words.Span(f.Tick, 1))
		if !k.o.Unordered {
			k.found.Fact("longest pause", "%s", words.Span(f.Tick, k.longestPause))
		}
	} else {
		k.found.Fact("time", "%s", words.Time(r.First))
	}
	if k.live != nil {
		r.Lead = k.live.finish()
	}
}

// Misread returns the name of the check that says that the bits of the timestamps are in the wrong
// places, or "". Then the IDs' order means nothing.
func (k *Clock) Misread() string {
	if !k.misread {
		return ""
	}
	return k.bytes.Name
}

// earliest returns the start of the format's plausible range, or an earlier time: 2010, or a month
// after a later epoch. A simulated generator can make IDs of a time before the format was known.
func earliest(f *sample.Format, now time.Time) time.Time {
	from, _ := f.PlausibleRange(now)
	early := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
	if month := f.Epoch.AddDate(0, 1, 0); month.After(early) {
		early = month
	}
	if early.Before(from) {
		return early
	}
	return from
}

// limited reports whether the impossible timestamps would be possible without the limits in the
// options.
func (k *Clock) limited() bool {
	now := k.o.Now()
	return !(k.o.From.IsZero() && k.o.To.IsZero()) &&
		!k.f.TimeOf(k.outside).Before(earliest(k.f, now)) &&
		!k.f.TimeOf(k.mostOutside).After(now.AddDate(0, 0, 1))
}

func (k *Clock) explainOutside() {
	from, to := words.Time(k.f.TimeOf(k.lowest)), words.Time(k.f.TimeOf(k.highest))
	n := k.possible.Count
	if n == 0 {
		return
	}
	k.possible.Detail = words.Plural(n, "ID") + " outside the range from " + from + " to " + to
	if !nearlyAll(n, k.n) || k.limited() {
		return
	}
	g := k.guessMistake()
	if g == nil {
		k.possible.Detail += "; these times fit no unit and no epoch"
		if k.scattered() {
			k.possible.Detail += ": they are scattered, as if the alphabet or the case of letters were wrong"
		}
		return
	}
	t := g.check
	t.Count, t.Examples = k.possible.Count, k.possible.Examples
	t.Detail = k.possible.Detail + "; " + g.text
	k.misread = g.order
	k.possible.Clear()
	k.possible.Detail = ""
	k.possible.Skip("see %s", t.Name)
	if t == k.unit {
		k.resolution.Skip("see %s", t.Name)
	}
}
