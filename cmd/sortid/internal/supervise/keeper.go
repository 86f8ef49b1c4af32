package supervise

import (
	"fmt"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/words"
)

// look is the time between checks of the leases.
const look = 100 * time.Millisecond

// A moment is a time by the wall clock, and by a clock that nobody can set. Leases end by the
// earlier one.
type moment struct {
	wall   time.Time
	steady time.Duration
}

func thisMoment() moment { return moment{time.Now().Round(0), bootTime()} }

// sub returns how far each clock has gone since m.
func (now moment) sub(m moment) (wall, steady time.Duration) {
	return now.wall.Sub(m.wall), now.steady - m.steady
}

// A guarded is what a keeper needs of a program.
type guarded interface {
	tell(deadlines) error
	end(span time.Duration)
	kill()
	unguarded() bool
}

// A keeper ends a program before its leases end.
type keeper struct {
	reporter *reporter
	times    Times
	path     string // of the program
	held     *holding
	program  guarded

	now   func() moment
	until time.Time // the end of the leases that the watchdog knows
	since moment    // when they got this end
	away  bool      // the store is away

	// The function changed is called after a renewal, and when somebody has set the clock forward. It
	// may be nil.
	changed func()

	seen   moment    // when this process looked
	latest time.Time // the latest time that the wall clock has shown

	why  string // why this process ends the program; "" as long as it goes on
	loss bool   // the reason is the lease

	stood time.Duration // how long nothing here ran, if that was past the end of the leases
}

// run returns when the program has gone.
func (k *keeper) run(gone <-chan struct{}) {
	for {
		select {
		case <-gone:
			return
		case <-time.After(look):
			k.look(k.now())
		}
	}
}

// left returns how long the leases last. If somebody sets the clock back, they do not last longer.
func (k *keeper) left(now moment) time.Duration {
	_, passed := now.sub(k.since)
	return min(k.until.Sub(now.wall), k.until.Sub(k.since.wall)-passed)
}

// noticeable is how far clocks must differ to be worth a message.
const noticeable = time.Second

// clock says by how much the clock was set since the leases got their end; "" if it was not.
func (k *keeper) clock(now moment) string {
	wall, steady := now.sub(k.since)
	switch set := (wall - steady).Round(time.Second); {
	case set <= -noticeable:
		return fmt.Sprintf("; this machine's clock was set back by %v", -set)
	case set >= noticeable:
		return fmt.Sprintf("; this machine's clock was set forward by %v", set)
	}
	return ""
}

func (k *keeper) look(now moment) {
	left := k.left(now)
	late := left <= k.times.Kill()
	if late {
		k.program.kill() // first of all
	}
	wall, stood := now.sub(k.seen)
	k.seen = now
	if now.wall.After(k.latest) {
		k.latest = now.wall
	}
	if k.changed != nil && wall-stood >= noticeable {
		k.changed()
	}
	lost := k.held.lost()
	switch {
	case k.why != "":
	case late:
		k.ends("its lease ends at "+words.Time(k.until)+k.clock(now), true)
		if left <= 0 && stood >= noticeable {
			k.stood = stood
		}
	case k.program.unguarded():
		k.end(noWatchdog, false)
	case lost != nil:
		k.end(lost.Error(), true)
	default:
		k.renewed(now)
	}
}

// renewed takes note of renewals, and of renewals that fail.
func (k *keeper) renewed(now moment) {
	if until := k.held.until(); !until.Equal(k.until) {
		k.until, k.since = until, now
		k.reporter.setUntil(until, now.wall)
		if k.changed != nil {
			k.changed()
		}
		if err := k.program.tell(k.times.deadlines(until)); err != nil {
			k.end("its watchdog does not answer: "+err.Error(), false)
			return
		}
	}
	err := k.held.err()
	spare := k.left(now) - k.times.Terminate()
	if spare < 0 {
		reason := "the store does not answer"
		if err != nil {
			reason = err.Error()
		}
		k.end(fmt.Sprintf("its lease ends at %s and cannot be renewed: %s%s",
			words.Time(k.until), reason, k.clock(now)), true)
		return
	}
	switch away := err != nil; {
	case away && !k.away:
		k.reporter.storeAway(err, now.wall.Add(spare))
	case !away && k.away:
		k.reporter.storeBack(k.held.nodes, k.until)
	}
	k.away = err != nil
}

const noWatchdog = "its watchdog has ended"

// end ends the program.
func (k *keeper) end(why string, loss bool) {
	k.program.end(k.times.Grace)
	k.ends(why, loss)
}

// ends takes note of the reason why the program has got a signal.
func (k *keeper) ends(why string, loss bool) {
	k.why, k.loss = why, loss
	k.reporter.setState(ending)
	k.reporter.say("ending the program: %s", why)
}

// result returns how the program ended. Late means that the watchdog has ended it.
func (k *keeper) result(code int, last time.Time, late bool) error {
	if k.why == "" && k.program.unguarded() {
		k.why = noWatchdog
	}
	now := k.now()
	end := words.Time(k.until) + k.clock(now)
	stopped := late && last.Before(k.until)
	switch {
	case stopped && (k.why == "" || k.stood != 0):
		k.why, k.loss = "sortid was stopped, and the lease ended at "+end, true
	case late && k.why == "":
		k.why, k.loss = "its lease ended at "+end, true
		if _, stood := now.sub(k.seen); stood >= noticeable {
			k.stood = stood
		}
	}
	if k.stood != 0 && !stopped {
		k.reporter.say("this machine or container stood still for %.0f s, past the lease's end",
			k.stood.Seconds())
	}
	switch {
	case k.loss:
		return &lossError{k.path, k.why}
	case k.why != "":
		return fmt.Errorf("%s was ended, because %s", k.path, k.why)
	case code != 0:
		return console.ExitCode(code)
	}
	return nil
}
