package supervise

import (
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
)

// Times say how long before the end of its lease a program must end. Nothing checks that the
// program's ticks are in the lease, and its generator may run ahead of the clock. So the program
// must end some time before the lease.
type Times struct {
	Ahead time.Duration // how far the program's generator runs ahead of the clock at most
	Grace time.Duration // from SIGTERM to SIGKILL
}

// Usual has the default times.
var Usual = Times{Ahead: 10 * time.Second, Grace: 5 * time.Second}

const (
	// reserve is the time for a slow kernel, and for clocks that differ a little.
	reserve = 5 * time.Second
	// Outage is how long a store can be away without harm to a program, with the usual times.
	Outage = 2 * time.Minute
)

// Kill returns the time from SIGKILL to the end of the lease.
func (t Times) Kill() time.Duration { return t.Ahead + reserve }

// Terminate returns the time from SIGTERM to the end of the lease.
func (t Times) Terminate() time.Duration { return t.Kill() + t.Grace }

// deadlines returns the watchdog's deadlines. The watchdog sends SIGTERM a little later than this
// process does, which knows why.
func (t Times) deadlines(until time.Time) deadlines {
	later := min(time.Second, t.Grace/2)
	return deadlines{until.Add(later - t.Terminate()), until.Add(-t.Kill()), until}
}

// Window returns the shortest window for a program.
func (t Times) Window() time.Duration { return 2 * t.Terminate() }

// answer is the longest time until a renewal fails for which no answer comes, plus a second for the
// renewal that succeeds.
const answer = 11 * time.Second

// Survives returns how long the store can be away without harm to a program, if it goes away just
// before a renewal. When the store is back, a renewal without an answer and a pause may be under
// way.
func (t Times) Survives(window time.Duration, pace nodeid.Pace) time.Duration {
	renewal := pace.RenewAfter(window)
	return max(0, window-renewal-answer-renewal/4-t.Terminate())
}

// WindowFor returns a window with which a program survives the outage.
func (t Times) WindowFor(outage time.Duration, pace nodeid.Pace) time.Duration {
	const step = 5 * time.Second
	for window := t.Window(); ; window += step {
		if window = window.Truncate(step); t.Survives(window, pace) >= outage {
			return window
		}
	}
}

// FreeAfter returns how long after the last renewal the node ID is free if exec is killed. A lease
// that nobody renews ends half a window after its window.
func FreeAfter(window time.Duration) time.Duration { return window + window/2 }

// Table returns a table of windows in lines, for the usual times.
func Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %-8s%-10s%-12s%s\n", "window", "survives", "free after", "node IDs")
	for _, window := range []time.Duration{Usual.Window(), time.Minute, nodeid.UsualPace.Window,
		5 * time.Minute, 10 * time.Minute} {
		free := FreeAfter(window)
		survives := Usual.Survives(window, nodeid.UsualPace)
		fmt.Fprintf(&b, "  %-8v%-10v%-12v%d\n", window, survives.Truncate(time.Second),
			free.Truncate(time.Second), 1+(free+time.Minute-1)/time.Minute)
	}
	return b.String()
}
