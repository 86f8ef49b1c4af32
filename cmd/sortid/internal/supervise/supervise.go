// Package supervise runs programs on leases of node IDs, and ends them before their leases end. If
// this process cannot end a program, a watchdog process does.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
)

// Options say what to run, and how.
type Options struct {
	Path string   // of the program
	Args []string // with the program's name
	Env  []Variable

	Lease  *nodeid.Options // Bits is 0 if the realm decides
	Format *format.Format  // nil: the realm's
	Realm  lease.Config    // the realm's name, and what to make if it is missing
	Count  int             // how many node IDs; 0: one, which the program need not expect in a list
	NodeID *uint32         // exactly this one; nil: any
	Times  Times

	Restart bool   // after the loss of a lease
	Status  string // a file
	File    string // that keeps receipts for the next start; "" for none
	Metrics string // an address
}

// Run leases node IDs and runs the program. It returns how the program ended.
func Run(c *console.Console, o *Options) error {
	signals := catchSignals() // before the first status, whose reader may send a signal
	var file *leaseFile
	if o.File != "" {
		var err error
		if file, err = openLeaseFile(o.File); err != nil {
			return err
		}
		defer file.close() // after the report, which may still write it
	}
	report, err := newReporter(c, o.Status, o.Realm.Realm)
	if err != nil {
		return err
	}
	defer report.close()
	if o.Metrics != "" {
		stop, err := serveMetrics(o.Metrics, report)
		if err != nil {
			return err
		}
		defer stop()
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	programs, end := relaySignals(c, signals, func(sig os.Signal) {
		report.setState(ending)
		number, _ := sig.(syscall.Signal)
		cancel(console.ExitCode(128 + int(number)))
	})
	defer end()
	if c.Quiet && o.Lease.Log == nil {
		o.Lease.Log = slog.New(slog.DiscardHandler) // no message about a new realm
	}
	s := &starter{options: o, reporter: report, file: file}
	defer func() {
		if s.source != nil {
			s.source.Close()
		}
	}()
	return s.runs(ctx, programs)
}

// runs runs the program and, after the loss of a lease, runs it again if it is to.
func (s *starter) runs(ctx context.Context, programs chan<- *program) error {
	wait, pause := s.options.Lease.Wait, firstPause
	for {
		began := time.Now()
		err := s.run(ctx, wait, programs)
		var lost *lossError
		if !s.options.Restart || !errors.As(err, &lost) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Since(began) > time.Minute {
			pause = firstPause
		}
		next := pause/2 + rand.N(pause/2)
		s.reporter.say("%v; starting it again in %v", err, next.Round(time.Second))
		s.reporter.restarts()
		if err := console.Sleep(ctx, next); err != nil {
			return err
		}
		wait, pause = true, min(2*pause, lastPause)
	}
}

// The pauses before restarts grow from 1 s to 30 s.
const (
	firstPause = 2 * time.Second
	lastPause  = 30 * time.Second
)

// A lossError says that a program was ended because of its lease.
type lossError struct{ path, why string }

func (e *lossError) Error() string { return fmt.Sprintf("%s was ended, because %s", e.path, e.why) }

// run runs the program once.
func (s *starter) run(ctx context.Context, wait bool, programs chan<- *program) error {
	held, err := s.acquire(ctx, wait)
	if err != nil {
		return err
	}
	p, k, err := s.start(ctx, held)
	if err != nil {
		s.gaveBack(held, held.close())
		return err
	}
	programs <- p
	s.reporter.begins(held, p.pid)
	k.run(p.gone)
	s.reporter.setState(ending)
	err = held.release(s.lastTime(p, k))
	if err == nil || len(p.left) > 0 {
		s.keep(kept{})
	}
	s.gaveBack(held, err)
	return k.result(p.code, p.last, p.late)
}

// lastTime returns the latest time of the program's IDs, or zero if processes of it may go on.
func (s *starter) lastTime(p *program, k *keeper) time.Time {
	if len(p.left) > 0 {
		s.reporter.say("processes that were started by %s go on, and sortid may not end them: %v",
			s.options.Path, p.left)
		return time.Time{}
	}
	last := p.last
	if k.latest.After(last) { // the clock was set back
		last = k.latest
	}
	return last.Add(s.options.Times.Ahead)
}

// start starts the program when the first tick of its leases begins.
func (s *starter) start(ctx context.Context, held *holding) (*program, *keeper, error) {
	from, err := held.start()
	if err != nil {
		return nil, nil, err
	}
	if err := console.Sleep(ctx, time.Until(from)); err != nil {
		return nil, nil, err
	}
	now := thisMoment()
	k := &keeper{reporter: s.reporter, times: s.options.Times, path: s.options.Path, held: held,
		now: thisMoment, until: held.until(), since: now, seen: now, latest: now.wall}
	k.changed = func() {
		s.keep(kept{Latest: k.latest, Ahead: s.options.Times.Ahead, Receipts: held.receipts()})
	}
	k.changed()
	env := environment(environ(s.options.Lease), held.nodes, s.options.Env)
	p, err := startProgram(s.reporter.console, s.options.Path, s.options.Args, env,
		s.options.Times.deadlines(k.until))
	k.program = p
	return p, k, err
}

// gaveBack says if node IDs could not be given back.
func (s *starter) gaveBack(held *holding, err error) {
	if err != nil {
		s.reporter.note("%s could not be given back, so others can have it only some time after the "+
			"end of the lease: %v", held.nodes.text(), err)
	}
	s.reporter.setLease(time.Time{})
}
