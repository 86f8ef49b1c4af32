package exact

import (
	"fmt"
	"math"
	"time"

	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

var units = []struct {
	name  string
	units float64 // units in a second
}{
	{"seconds", 1},
	{"units of 1024 ms", 1000.0 / 1024},
	{"units of 256 ms", 1000.0 / 256},
	{"units of 250 ms", 4},
	{"tenths of a second", 10},
	{"hundredths of a second", 100},
	{"milliseconds", 1e3},
	{"microseconds", 1e6},
	{"units of 100 ns", 1e7},
	{"nanoseconds", 1e9},
}

var epochs = []time.Time{
	time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2018, 3, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2010, 11, 4, 1, 42, 54, 657_000_000, time.UTC), // snowflake IDs
	time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1582, 10, 15, 0, 0, 0, 0, time.UTC),
}

// guessMistake looks for another unit or epoch that explains the first impossible timestamp. With
// this unit or epoch, the timestamp is a time in the last ten years. guessMistake returns the check
// of the unit or the epoch, or nil.
func (k *Clock) guessMistake() (guess string, check *findings.Check) {
	f, now := k.f, k.o.Now()
	const decade = 10 * 365.2425 * 86400
	nearest := math.Inf(1)
	try := func(units float64, epoch time.Time, raw, window float64) bool {
		// age is in seconds. A time up to one day after now is also possible.
		age := float64(now.UnixMilli()-epoch.UnixMilli())/1000 - raw/units
		if age < -86400 || age > window || math.Abs(age) >= nearest {
			return false
		}
		nearest = math.Abs(age)
		return true
	}
	own := 1 / f.Tick.Seconds()
	raw := float64(k.outside)
	for _, e := range epochs {
		if !e.Equal(f.Epoch) && try(own, e, raw, decade) {
			guess, check = fmt.Sprintf("the timestamps seem to count from %s, not %s",
				e.Format(time.DateOnly), f.Epoch.Format(time.DateOnly)), k.epoch
		}
	}
	for _, u := range units {
		if u.units != own && try(u.units, f.Epoch, raw, decade) {
			guess, check = fmt.Sprintf("the timestamps seem to be in %s, not in %s",
				u.name, unitName(f)), k.unit
		}
	}
	if check != nil {
		return guess, check
	}
	// The high bits of microseconds do not fit in the field. Guessed high bits make every timestamp
	// look recent, so only times in the last month count.
	const month = 30 * 86400
	period := float64(f.LastTimestamp() + 1)
	micros := float64(now.UnixMicro() - f.Epoch.UnixMicro())
	lost := math.Floor((micros + 86400e6 - raw) / period)
	if period > 12*month*1e6 && lost > 0 && try(1e6, f.Epoch, raw+lost*period, month) {
		return fmt.Sprintf("the timestamps seem to be the low bits of microseconds, not %s",
			unitName(f)), k.unit
	}
	return "", nil
}

func unitName(f *sample.Format) string {
	if f.Tick == time.Millisecond {
		return "milliseconds"
	}
	return "units of " + words.Span(f.Tick, 1)
}
