package exact

import (
	"fmt"
	"math"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// A liveChecker measures how far the newest ID is ahead of this machine's clock.
type liveChecker struct {
	f                               *sample.Format
	found                           *findings.List
	allowance                       time.Duration // largest lead of a correct generator
	ahead, lagging, stopped, drifts *findings.Check

	points   []report.Lead // each is the largest lead in perPoint calls of add
	perPoint int
	n        int // calls of add for the last point

	timestamp uint64
	moved     time.Time // when timestamp last increased
	mostAhead time.Duration
	start     time.Time
}

const (
	// tolerance is how far the clocks of two machines may differ. lagTolerance is how old the
	// newest ID may be, because programs buffer their output.
	tolerance    = time.Second
	lagTolerance = 10 * time.Second
	// After a rollback, a correct generator keeps a timestamp for less than maxStay.
	maxStay = 15 * time.Second

	maxDrift  = 0.002 // four times the rate at which NTP adjusts clocks
	maxPoints = 240
)

func newLiveChecker(f *sample.Format, found *findings.List) *liveChecker {
	l := &liveChecker{
		f: f, found: found, perPoint: 1, allowance: tolerance,
		ahead: found.Check("clock.ahead", "no ID is ahead of this machine's clock",
			"IDs are ahead of this machine's clock"),
		lagging: found.Check("clock.lagging", "the newest ID is recent", "the newest ID is old"),
		stopped: found.Check("clock.stopped", "the timestamps advance", "the timestamps stand still"),
		drifts: found.Check("clock.drift",
			"the timestamps advance as fast as this machine's clock",
			"the timestamps are faster or slower than this machine's clock"),
	}
	if f.NodeCounter > 0 { // a full counter advances the timestamp
		l.allowance += sortid.DefaultRollbackAllowance
	}
	return l
}

func (l *liveChecker) add(at time.Time, timestamp, line uint64) {
	f := l.f
	const far = 1 << 40
	ahead := time.Duration(max(
		-far, min(far, f.TimeOf(timestamp).UnixMilli()-at.UnixMilli()))) * time.Millisecond
	if l.start.IsZero() {
		l.start, l.moved, l.mostAhead = at, at, ahead
	}
	l.mostAhead = max(l.mostAhead, ahead)
	if timestamp > l.timestamp {
		l.timestamp, l.moved = timestamp, at
	} else if at.Sub(l.moved) > maxStay {
		l.stopped.Found(line, words.Time(f.TimeOf(timestamp)),
			"the timestamp has not changed for %v", at.Sub(l.moved).Round(time.Second))
	}
	if ahead > l.allowance {
		l.ahead.Found(line, words.Time(f.TimeOf(timestamp)), "arrived at %s",
			words.Time(at))
	}
	if l.n == 0 || l.n >= l.perPoint {
		if len(l.points) == maxPoints {
			l.fold()
		}
		l.points, l.n = append(l.points, report.Lead{At: at, Ahead: ahead}), 0
	}
	if p := &l.points[len(l.points)-1]; ahead >= p.Ahead {
		p.At, p.Ahead = at, ahead
	}
	l.n++
}

func (l *liveChecker) fold() {
	half := l.points[:0]
	for i := 0; i < len(l.points); i += 2 {
		p := l.points[i]
		if i+1 < len(l.points) && l.points[i+1].Ahead > p.Ahead {
			p = l.points[i+1]
		}
		half = append(half, p)
	}
	l.points, l.perPoint = half, 2*l.perPoint
}

func (l *liveChecker) finish() []report.Lead {
	if len(l.points) == 0 {
		return nil
	}
	if l.mostAhead < 0 {
		l.found.Fact("newest ID", "at least %s behind this machine's clock", span(l.mostAhead))
	} else {
		l.found.Fact("newest ID", "at most %s ahead of this machine's clock", span(l.mostAhead))
	}
	if l.mostAhead < -lagTolerance {
		l.lagging.Count++
		l.lagging.Detail = "the newest ID is at least " + span(l.mostAhead) + " old" + zoneHint(l.mostAhead)
	}
	if l.ahead.Count > 0 {
		l.ahead.Detail = "by at most " + span(l.mostAhead) + zoneHint(l.mostAhead)
	}
	slope, rest, length := fit(l.points)
	if length < 5*time.Second || len(l.points) < 10 {
		l.drifts.Skip("the input must last 5 s or more, with 10 readings of the clock")
		return l.points
	}
	change := math.Abs(slope) * length.Seconds()
	l.drifts.Detail = "in a second, the timestamps " + drift(slope)
	if math.Abs(slope) > maxDrift && change > max(0.05, 2*l.f.Tick.Seconds(), 6*rest) {
		l.drifts.Count++
	}
	return l.points
}

// zoneHint recognizes the offsets of time zones: multiples of 15 minutes, up to 14 hours.
func zoneHint(ahead time.Duration) string {
	const step, most = 15 * time.Minute, 14 * time.Hour
	offset := ahead.Round(step)
	if offset == 0 || offset.Abs() > most || (ahead-offset).Abs() > lagTolerance {
		return ""
	}
	return fmt.Sprintf("; the generator may use the local time of UTC%+03d:%02d instead of UTC",
		int(offset/time.Hour), int(offset.Abs()/time.Minute)%60)
}

// span returns the length of a time, ahead or behind.
func span(d time.Duration) string { return words.Duration(math.Abs(d.Seconds())) }

func drift(slope float64) string {
	if slope < 0 {
		return "lose " + words.Duration(-slope)
	}
	return "gain " + words.Duration(slope)
}

// fit fits a line to the points. It returns the slope, the standard deviation from the line in
// seconds, and the time from the first to the last point.
func fit(points []report.Lead) (slope, rest float64, length time.Duration) {
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
