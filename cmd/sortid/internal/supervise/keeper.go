package supervise

import (
	"fmt"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/words"
)

// look is the time between checks of the leases.
const look = 100 * time.Millisecond

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

	until time.Time // the end of the leases that the watchdog knows
	away  bool      // the store is away

	seen   time.Time // when this process looked, by the wall clock
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
			k.look(time.Now().Round(0)) // leases end by the wall clock
		}
	}
}

func (k *keeper) look(now time.Time) {
	late := !now.Before(k.until.Add(-k.times.Kill()))
	if late {
		k.program.kill() // first of all
	}
	stood := now.Sub(k.seen)
	k.seen = now
	if now.After(k.latest) {
		k.latest = now
	}
	lost := k.held.lost()
	switch {
	case k.why != "":
	case late:
		k.ends("its lease ends at "+words.Time(k.until), true)
		if !now.Before(k.until) {
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
func (k *keeper) renewed(now time.Time) {
	if until := k.held.until(); !until.Equal(k.until) {
		k.until = until
		k.reporter.setUntil(until, now)
		if err := k.program.tell(k.times.deadlines(until)); err != nil {
			k.end("its watchdog does not answer: "+err.Error(), false)
			return
		}
	}
	err := k.held.err()
	if k.until.Sub(now) < k.times.Terminate() {
		reason := "the store does not answer"
		if err != nil {
			reason = err.Error()
		}
		k.end(fmt.Sprintf("its lease ends at %s and cannot be renewed: %s",
			words.Time(k.until), reason), true)
		return
	}
	switch away := err != nil; {
	case away && !k.away:
		k.reporter.storeAway(err, k.until.Add(-k.times.Terminate()))
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
	end := words.Time(k.until)
	stopped := late && last.Before(k.until)
	switch {
	case stopped && (k.why == "" || k.stood != 0):
		k.why, k.loss = "sortid was stopped, and the lease ended at "+end, true
	case late && k.why == "":
		k.why, k.loss, k.stood = "its lease ended at "+end, true, time.Now().Round(0).Sub(k.seen)
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
