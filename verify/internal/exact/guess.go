package exact

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A unit is a unit of time that generators use. Its weight says how often they confuse it with the
// format's own unit.
type unit struct {
	name   string
	units  float64 // in a second
	weight float64
}

var allUnits = []unit{
	{"seconds", 1, 1},
	{"milliseconds", 1e3, 1},
	{"microseconds", 1e6, 1},
	{"nanoseconds", 1e9, 1},
	{"units of 100 ns", 1e7, 0.1},
	{"hundredths of a second", 100, 0.1},
	{"tenths of a second", 10, 0.1},
	{"units of 250 ms", 4, 0.02},
	{"units of 256 ms", 1000.0 / 256, 0.02},
	{"units of 1024 ms", 1000.0 / 1024, 0.02},
}

// Epochs that several formats and operating systems use.
var allEpochs = []time.Time{
	time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2010, 11, 4, 1, 42, 54, 657_000_000, time.UTC), // Twitter
	time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1582, 10, 15, 0, 0, 0, 0, time.UTC),
}

const (
	year   = 365.2425 * 86400 // in seconds
	decade = 10 * year

	// Epochs are from the last maxEpochAge seconds.
	maxEpochAge = 60 * year
)

// A guess is a mistake that explains impossible timestamps. The guess with the largest weight wins.
type guess struct {
	check  *findings.Check
	text   string
	weight float64 // probability of one timestamp, if the generator made this mistake; not normed
	order  bool    // the mistake also changes the order of the IDs
}

// guessMistake looks for the mistake that best explains the impossible timestamps: another unit, another
// epoch, swapped bytes, or a time without its high bits. It returns nil if there is none.
func (k *Clock) guessMistake() *guess {
	f := k.f
	own := 1 / f.Tick.Seconds()
	var all []guess
	add := func(check *findings.Check, weight float64, text string, args ...any) {
		all = append(all, guess{check, fmt.Sprintf(text, args...), weight, check == k.bytes})
	}
	epochs := []time.Time{f.Epoch}
	if !f.Epoch.Equal(allEpochs[0]) {
		epochs = append(epochs, allEpochs[0])
	}
	for _, u := range allUnits {
		for i, epoch := range epochs {
			from, to := k.timesIn(u.units, epoch)
			rare := u.weight < 1 && k.ticksOutside < fewOutsiders
			if u.units == own || rare || !k.recent(from) || !k.recent(to) || !k.fits(u.units, epoch) {
				continue
			}
			since, weight := "", u.weight
			if i > 0 {
				since, weight = " since "+day(epoch), weight/4
			}
			if f.Tick == 256*time.Millisecond && u.units == 4 {
				weight = 0.3 // the two units are easily confused
			}
			add(k.unit, weight*k.freshness(to)/(decade*u.units), "the timestamps seem to be in %s%s, not in %s; "+
				"then they are from %s to %s", u.name, since, unitName(f), day(from), day(to))
		}
	}
	k.guessEpoch(own, add)
	k.guessBits(own, add)
	if len(all) == 0 {
		return nil
	}
	best := slices.MaxFunc(all, func(a, b guess) int { return cmp.Compare(a.weight, b.weight) })
	return &best
}

func (k *Clock) guessEpoch(own float64,
	add func(check *findings.Check, weight float64, text string, args ...any)) {
	f, now := k.f, k.o.Now()
	if float64(k.mostOutside)/own > maxEpochAge || k.scattered() {
		return
	}
	newest := f.TimeOf(k.mostOutside)
	text := fmt.Sprintf("the timestamps seem to count from another epoch, not %s; "+
		"if the newest ID is of now, from %s", day(f.Epoch), day(f.Epoch.Add(now.Sub(newest))))
	var known []string
	weight := 0.05
	for _, e := range allEpochs {
		from, to := k.timesIn(own, e)
		if !e.Equal(f.Epoch) && k.recent(from) && k.recent(to) && k.fits(own, e) {
			known = append(known, "with "+day(e)+", the newest ID is of "+day(to))
			weight = max(weight, 0.3*k.freshness(to))
		}
	}
	if len(known) > 0 {
		text += "; " + strings.Join(known, "; ")
	}
	add(k.epoch, weight/(decade*own), "%s", text)
}

// guessBits looks for a mistake in the bits of the timestamps.
func (k *Clock) guessBits(own float64,
	add func(check *findings.Check, weight float64, text string, args ...any)) {
	f, now := k.f, k.o.Now()
	size := bits.Len64(f.LastTimestamp())
	// The times must be recent, and in order.
	recent := func(ticks func(integer.Words) uint64) bool {
		n, last := uint64(0), uint64(0)
		for _, v := range k.outsiders {
			ts := ticks(v)
			if ts >= last && ts <= f.LastTimestamp() && k.recent(f.TimeOf(ts)) {
				n++
			}
			last = ts
		}
		return nearlyAll(n, uint64(len(k.outsiders))) && n >= fewOutsiders
	}
	if size%8 == 0 && recent(func(v integer.Words) uint64 {
		return bits.ReverseBytes64(f.Timestamp(&v)) >> (64 - size)
	}) {
		add(k.bytes, 0.3/(decade*own), "the bytes of the timestamps seem to be in the wrong order: "+
			"the highest byte must be the first")
	}
	if recent(func(v integer.Words) uint64 {
		v = reversed(v, f.Size)
		return f.Timestamp(&v)
	}) {
		add(k.bytes, 0.3/(decade*own), "the bytes of the IDs seem to be in the wrong order: "+
			"the highest byte must be the first")
	}
	if k.scattered() {
		return
	}
	if ticks := now.Sub(f.Epoch).Seconds() * own; k.mostOutside < 1<<32 && ticks >= 1<<32 {
		add(k.bytes, 0.3/math.Ldexp(1, 32), "the timestamps seem to be only the low 32 bits of the time "+
			"in %s; the timestamp has %d bits", unitName(f), size)
	}
	// The high bits of microseconds do not fit in the field. The guess of these bits makes nearly every
	// timestamp look recent, so this guess has the lowest weight.
	period := math.Ldexp(1, size)
	micros := float64(now.UnixMicro() - f.Epoch.UnixMicro())
	lost := math.Floor((micros + 86400e6 - float64(k.outside)) / period)
	age := (micros - float64(k.outside) - lost*period) / 1e6
	const most = 0.2 // IDs in a microsecond
	slow := float64(k.n) <= most*float64(k.last-k.first)
	if own < 1e6 && period > year*1e6 && lost > 0 && age < decade && slow &&
		k.ticksOutside >= fewOutsiders {
		add(k.unit, 0.1/period,
			"the timestamps seem to be the low bits of microseconds, not %s", unitName(f))
	}
}

// fewOutsiders is how many timestamps are enough to see whether they are in order.
const fewOutsiders = 8

// nearlyAll reports whether an explanation of n things of all is enough.
func nearlyAll(n, all uint64) bool { return 10*n >= 9*all }

// fits reports whether nearly all impossible timestamps are recent times in another unit or since
// another epoch, and in order.
func (k *Clock) fits(units float64, epoch time.Time) bool {
	n := uint64(0)
	for i := range k.outsiders {
		if k.recent(at(k.f.Timestamp(&k.outsiders[i]), units, epoch)) {
			n++
		}
	}
	return nearlyAll(n, uint64(len(k.outsiders))) && !k.scattered()
}

// scattered reports whether the impossible timestamps are in no order, although a clock's would be.
// Then no unit and no epoch explains them.
func (k *Clock) scattered() bool {
	const often = 50 // in one of so many ticks
	return !k.o.Unordered && k.ticksOutside >= fewOutsiders && often*k.fallsOutside > k.ticksOutside
}

// timesIn returns the times of the first and the largest impossible timestamp in another unit, or
// since another epoch.
func (k *Clock) timesIn(units float64, epoch time.Time) (first, last time.Time) {
	return at(k.outside, units, epoch), at(k.mostOutside, units, epoch)
}

// at returns the time of a timestamp, or the zero time if it is more than 1000 years after the epoch.
func at(ts uint64, units float64, epoch time.Time) time.Time {
	seconds := float64(ts) / units
	if seconds > 1000*year {
		return time.Time{}
	}
	return time.UnixMilli(epoch.UnixMilli() + int64(seconds*1000))
}

// recent reports whether a time is in the last ten years, or at most one day from now.
func (k *Clock) recent(t time.Time) bool {
	age := k.o.Now().Sub(t).Seconds()
	return age >= -86400 && age <= decade
}

// freshness returns a weight. Half of all logs are new, and the others have any age up to ten years.
func (k *Clock) freshness(newest time.Time) float64 {
	age := math.Abs(k.o.Now().Sub(newest).Seconds())
	return 0.5 + 0.05*decade/(age+86400)
}

func reversed(v integer.Words, size int) integer.Words {
	var b [24]byte
	v.Put(&b)
	slices.Reverse(b[len(b)-size:])
	return integer.FromBytes(&b)
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func unitName(f *sample.Format) string {
	switch f.Tick {
	case time.Second:
		return "seconds"
	case time.Millisecond:
		return "milliseconds"
	case time.Microsecond:
		return "microseconds"
	case 100 * time.Nanosecond:
		return "units of 100 ns"
	case time.Nanosecond:
		return "nanoseconds"
	}
	return "units of " + words.Span(f.Tick, 1)
}
