package spec

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/words"
)

// Timestamp returns an integer's timestamp, in ticks of f.Tick since f.Epoch.
func (f *Format) Timestamp(w *integer.Words) uint64 {
	if len(f.places) == 1 {
		return f.places[0].Of(w)
	}
	ticks := uint64(0)
	for i := range f.places {
		ticks |= f.places[i].Of(w) << f.timestamp[i].Shift
	}
	return ticks
}

// AfterTime returns the integer with a timestamp of zeros.
func (f *Format) AfterTime(w integer.Words) integer.Words { return w.AndNot(f.timeBits) }

// LastTimestamp returns the largest timestamp, which may be reserved.
func (f *Format) LastTimestamp() uint64 { return f.Timestamp(&f.Codec.Max) }

// TimestampOf returns the timestamp of a time, or the nearest timestamp if IDs cannot show the
// time.
func (f *Format) TimestampOf(t time.Time) uint64 {
	switch {
	case t.Before(f.Epoch):
		return 0
	case t.After(f.Last):
		return f.LastTimestamp()
	}
	return f.ticks(t)
}

// ticks returns a time's timestamp. It does not use a time.Duration, which overflows after 292
// years.
func (f *Format) ticks(t time.Time) uint64 {
	ms := uint64(t.UnixMilli() - f.epochMilli)
	if f.tickMilli == 0 {
		return ms*f.perMilli + uint64(t.Nanosecond()%1e6)/uint64(f.Tick)
	}
	return ms / uint64(f.tickMilli)
}

// MilliOf returns the Unix time of a timestamp in milliseconds.
func (f *Format) MilliOf(timestamp uint64) int64 {
	if f.tickMilli == 0 {
		return f.epochMilli + int64(timestamp/f.perMilli)
	}
	return f.epochMilli + int64(timestamp)*f.tickMilli
}

// TimeOf returns the time of a timestamp in UTC.
func (f *Format) TimeOf(timestamp uint64) time.Time {
	t := time.UnixMilli(f.MilliOf(timestamp)).UTC()
	if f.tickMilli == 0 {
		t = t.Add(time.Duration(timestamp%f.perMilli) * f.Tick)
	}
	return t
}

// Timed returns the format that reads an integer's time, or nil. It is the format of the ID inside,
// if there is one.
func (f *Format) Timed(w *integer.Words) *Format {
	if inner := f.Inner(w); inner != nil {
		f = inner
	}
	if f.Tick == 0 {
		return nil
	}
	return f
}

// Time returns an integer's time in UTC, or the zero time if it has no time.
func (f *Format) Time(w *integer.Words) time.Time {
	timed := f.Timed(w)
	if timed == nil {
		return time.Time{}
	}
	return timed.TimeOf(timed.Timestamp(w))
}

const year = 365 * 24 * time.Hour

// PlausibleRange returns the range of plausible times. It begins when the format was new, or else
// in 2010. If the epoch is later, it begins a month after the epoch, because small integers look
// like times in the first month. It ends a year after the current time.
func (f *Format) PlausibleRange(now time.Time) (from, to time.Time) {
	from = date(cmp.Or(f.Since, 2010), 1)
	if month := f.Epoch.AddDate(0, 1, 0); month.After(from) {
		from = month
	}
	return from, now.UTC().Add(year)
}

// Plausible reports whether an integer's time is in [Format.PlausibleRange], or it has no time.
func (f *Format) Plausible(w *integer.Words, now time.Time) bool {
	timed := f.Timed(w)
	if timed == nil {
		return true
	}
	return timed.PlausibleTicks(timed.Timestamp(w), now)
}

// PlausibleTicks reports whether the time of a timestamp is in [Format.PlausibleRange].
func (f *Format) PlausibleTicks(timestamp uint64, now time.Time) bool {
	ms := f.MilliOf(timestamp)
	return f.plausibleFrom <= ms && ms <= now.UnixMilli()+year.Milliseconds()
}

// Span returns the first and last time that IDs can show, including the reserved timestamps.
func (f *Format) Span() (first, last time.Time) {
	return f.Epoch, f.Time(&f.Codec.Max).Add(f.Tick - time.Nanosecond)
}

// checkTime returns [sortid.ErrTimeRange] with the reason if the time is outside the format's
// range.
func (f *Format) checkTime(t time.Time) error {
	first, last := f.Span()
	if !t.Before(first) && !t.After(last) {
		return nil
	}
	return parseerr.Kindf(sortid.ErrTimeRange, "%s: %s is outside the format's range, %s to %s",
		f.Name, words.Time(t), words.Time(first), words.Time(last))
}

// Bounds returns the bounds of a time range: an ID is in the range if first <= ID and ID < end. The
// bounds are the smallest integers of the ticks that contain the two times. Bounds returns
// [sortid.ErrTimeRange] if a time is outside the format's range. It also fails if the range is
// empty, or if IDs are not in order of time. If IDs have IDs inside, the bounds are for the usual
// format inside.
func (f *Format) Bounds(from, to time.Time) (first, end integer.Words, err error) {
	if f.Within != nil {
		return f.Within[0].Bounds(from, to)
	}
	if !f.Ordered {
		return first, end, fmt.Errorf(
			"%s: IDs are not in order of time, so two IDs cannot bound a time range", f.Name)
	}
	for _, t := range [2]time.Time{from, to} {
		if err := f.checkTime(t); err != nil {
			return first, end, err
		}
	}
	first, end = f.firstOf(from), f.firstOf(to)
	switch {
	case !from.Before(to):
		err = fmt.Errorf("%s: the range from %s to %s is empty: its end must be later than its start",
			f.Name, words.Time(from), words.Time(to))
	case first == end:
		err = fmt.Errorf(
			"%s: the range from %s to %s is within one tick of %v, so its bounds would be equal",
			f.Name, words.Time(from), words.Time(to), f.Tick)
	}
	return first, end, err
}

// firstOf returns the smallest integer of t's tick.
func (f *Format) firstOf(t time.Time) integer.Words {
	w, ticks := f.shared, integer.Words{Low: f.ticks(t)}
	for _, field := range f.timestamp {
		w = w.Or(ticks.Shift(-field.Shift).And(integer.Ones(field.Bits)).Shift(field.Low))
	}
	return w
}
