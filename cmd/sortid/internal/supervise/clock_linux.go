package supervise

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootDeadlines are deadlines by the time since the machine's start. This time goes on while the
// machine is suspended, and nobody can set it.
type bootDeadlines struct{ Terminate, Kill time.Duration }

func (d deadlines) boot() bootDeadlines {
	now, wall := bootTime(), time.Now().Round(0)
	return bootDeadlines{now + d.Terminate.Sub(wall), now + d.Kill.Sub(wall)}
}

func bootTime() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // cannot fail
	return time.Duration(t.Nano())
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
