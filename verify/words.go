package verify

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// stamp words a time as the formats know it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// span words a number of a format's timestamps.
func span(f *format, timestamps uint64) string {
	return duration(float64(timestamps) * f.unit.Seconds())
}

// duration words a number of seconds.
func duration(seconds float64) string {
	const minute, hour, day, year = 60, 3600, 86400, 365.2425 * 86400
	switch {
	case seconds < 1:
		return strconv.FormatFloat(seconds*1000, 'g', 4, 64) + " ms"
	case seconds < 2*minute:
		return trim(seconds) + " s"
	case seconds < 2*hour:
		return trim(seconds/minute) + " min"
	case seconds < 2*day:
		return trim(seconds/hour) + " h"
	case seconds < 2*year:
		return trim(seconds/day) + " days"
	}
	return trim(seconds/year) + " years"
}

// trim words a number with at most three decimals.
func trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// count returns a number with a comma before each three digits.
func count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// times words a number of occurrences.
func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return count(n) + " times"
}

// plural words a number of things.
func plural(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(n) + " " + thing + "s"
}

func percent(part, whole uint64) string {
	return fmt.Sprintf("%.2f%%", 100*float64(part)/float64(max(whole, 1)))
}
