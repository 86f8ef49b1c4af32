// Package words has numbers and times as people write them.
package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/clock"
)

func Duration(seconds float64) string {
	const minute, hour, day, year = 60, 3600, 86400, 365.2425 * 86400
	switch {
	case seconds < 1:
		return strconv.FormatFloat(seconds*1000, 'g', 4, 64) + " ms"
	case seconds < 2*minute:
		return Trim(seconds) + " s"
	case seconds < 2*hour:
		return Trim(seconds/minute) + " min"
	case seconds < 2*day:
		return Trim(seconds/hour) + " h"
	case seconds < 2*year:
		return Trim(seconds/day) + " days"
	}
	return Trim(seconds/year) + " years"
}

func Span(tick time.Duration, ticks uint64) string {
	return Duration(float64(ticks) * tick.Seconds())
}

// Trim returns a number with at most three decimals.
func Trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func Times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return Count(n) + " times"
}

func Plural(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

func Percent(part, whole uint64) string {
	return fmt.Sprintf("%.2f%%", 100*float64(part)/float64(max(whole, 1)))
}

func Probability(p float64) string {
	if p < 1e-300 {
		return "< 1e-300"
	}
	return fmt.Sprintf("= %.2g", p)
}

// Time returns a time in UTC, in RFC 3339 to the millisecond.
func Time(t time.Time) string { return string(AppendTime(nil, t)) }

// AppendTime appends the text of [Time]. It is faster than time.Time.AppendFormat.
func AppendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, clock.Layout)
	}
	hour, minute, second := t.Clock()
	b = append(b, "0000-00-00T00:00:00.000Z"...)
	text := (*[24]byte)(b[len(b)-24:])
	put := func(at, n int) { text[at], text[at+1] = byte('0'+n/10), byte('0'+n%10) }
	milli := t.Nanosecond() / 1e6
	put(0, year/100)
	put(2, year%100)
	put(5, int(month))
	put(8, day)
	put(11, hour)
	put(14, minute)
	put(17, second)
	put(20, milli/10)
	text[22] = byte('0' + milli%10)
	return b
}

// List returns the names as in "a, b and c", with the conjunction "and" or "or".
func List(names []string, conjunction string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + conjunction + " " + names[n]
}
