package limit

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// Take takes n from a limit and returns 0. If fewer are left, it takes none and returns how long
// to wait. A nil limit has no end.
func Take(l *rate.Limiter, n int) time.Duration {
	if l == nil {
		return 0
	}
	now := time.Now()
	if l.AllowN(now, n) {
		return 0
	}
	return max(time.Millisecond, Lacks(l, n, now))
}

// Lacks returns how long after now the limit has n, without taking them.
func Lacks(l *rate.Limiter, n int, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	missing := float64(n) - l.TokensAt(now)
	return max(0, time.Duration(math.Ceil(missing/float64(l.Limit())*float64(time.Second))))
}
