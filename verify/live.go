package verify

import (
	"math"
	"time"

	"github.com/sortid/sortid/verify/internal/words"
)

// A live watches how far the newest ID is ahead of this machine's clock.
type live struct {
	c                               *checker
	ahead, lagging, stopped, drifts *tally

	points []Lead // the most ahead of as many blocks each
	every  int
	n      int // blocks in the last point

	timestamp uint64 // the largest so far
	moved     time.Time
	best      time.Duration // the most ahead
	start     time.Time
}

const (
	// tolerance is what clocks of two machines may differ by, lagTolerance how old the
	// newest ID may be where programs buffer their output.
	tolerance    = time.Second
	lagTolerance = 10 * time.Second
	// A generator may stay at one timestamp for the rollback allowance.
	standstill = 15 * time.Second

	maxDrift  = 0.002 // clocks are slewed by at most a quarter of that
	maxPoints = 240
)

func newLive(c *checker) *live {
	return &live{
		c:       c,
		every:   1,
		ahead:   c.tally("clock.ahead", "IDs are not of the time to come", Fail),
		lagging: c.tally("clock.lagging", "the newest ID is of now", Fail),
		stopped: c.tally("clock.stopped", "the timestamps move on with the time", Fail),
		drifts:  c.tally("clock.drift", "the timestamps are as fast as this machine's clock", Fail),
	}
}

// add notes the timestamp of an ID that came at a time.
func (l *live) add(at time.Time, timestamp uint64) {
	f := l.c.f
	const far = 1 << 40 // ms; more would not fit a Duration
	ahead := time.Duration(max(-far, min(far, f.time(timestamp).UnixMilli()-at.UnixMilli()))) * time.Millisecond
	if l.start.IsZero() {
		l.start, l.moved, l.best = at, at, ahead
	}
	l.best = max(l.best, ahead)
	if timestamp > l.timestamp {
		l.timestamp, l.moved = timestamp, at
	} else if at.Sub(l.moved) > standstill && l.stopped.hit() {
		l.stopped.example(l.c.report.Lines, words.Stamp(f.time(timestamp)), "has been the timestamp for %v", at.Sub(l.moved).Round(time.Second))
	}
	if ahead > tolerance+f.lead && l.ahead.hit() {
		l.ahead.example(l.c.report.Lines, words.Stamp(f.time(timestamp)), "came at %s", words.Stamp(at))
	}
	if l.n == 0 || l.n >= l.every {
		if len(l.points) == maxPoints {
			l.fold()
		}
		l.points, l.n = append(l.points, Lead{at, ahead}), 0
	}
	if p := &l.points[len(l.points)-1]; ahead >= p.Ahead {
		p.At, p.Ahead = at, ahead
	}
	l.n++
}

func (l *live) fold() {
	half := l.points[:0]
	for i := 0; i < len(l.points); i += 2 {
		p := l.points[i]
		if i+1 < len(l.points) && l.points[i+1].Ahead > p.Ahead {
			p = l.points[i+1]
		}
		half = append(half, p)
	}
	l.points, l.every = half, 2*l.every
}

func (l *live) finish() {
	l.c.report.Lead = l.points
	if len(l.points) == 0 {
		return
	}
	l.c.fact("ahead of this machine's clock", "at most %s", signed(l.best))
	if l.best < -lagTolerance {
		l.lagging.hit()
		l.lagging.Detail = "it is " + words.Duration(-l.best.Seconds()) + " old"
	}
	slope, rest, length := fit(l.points)
	if length < 5*time.Second || len(l.points) < 10 {
		l.drifts.skip("that takes at least 5 s and 10 looks at the clock")
		return
	}
	change := math.Abs(slope) * length.Seconds()
	l.drifts.Detail = words.Trim(slope*1e6) + " µs a second"
	if math.Abs(slope) > maxDrift && change > max(0.05, 2*l.c.f.unit.Seconds(), 6*rest) {
		l.drifts.hit()
	}
}

func signed(d time.Duration) string {
	if d < 0 {
		return "-" + words.Duration(-d.Seconds())
	}
	return words.Duration(d.Seconds())
}

// fit puts a straight line through the points: its slope, the standard deviation of the
// points from it in seconds, and the time from first to last.
func fit(points []Lead) (slope, rest float64, length time.Duration) {
	n := float64(len(points))
	var x, y, xx, xy, yy float64
	for _, p := range points {
		a, b := p.At.Sub(points[0].At).Seconds(), p.Ahead.Seconds()
		x, y, xx, xy, yy = x+a, y+b, xx+a*a, xy+a*b, yy+b*b
	}
	xx, xy, yy = xx-x*x/n, xy-x*y/n, yy-y*y/n
	if xx > 0 {
		slope = xy / xx
		rest = math.Sqrt(max(0, yy-slope*xy) / n)
	}
	return slope, rest, points[len(points)-1].At.Sub(points[0].At)
}
