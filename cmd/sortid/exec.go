package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	neturl "net/url"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/leases"
	"github.com/sortid/sortid/format"
)

// A program run by "lease exec" makes IDs of the ticks up to the lease's end, and nobody
// checks which ticks. A generator may run ahead of the clock by the rollback allowance, 10 s
// by default. So the program must end at least that long before the lease does.
type execTimes struct {
	terminate time.Duration // before the lease's end: ask the program to end
	kill      time.Duration // before the lease's end: end it
	look      time.Duration // between two looks at the lease
}

var usualTimes = execTimes{20 * time.Second, 15 * time.Second, 100 * time.Millisecond}

// deadlines are the times when a program must end. They are of the wall clock, as ticks are.
type deadlines struct {
	Terminate, Kill time.Time // get it SIGTERM and SIGKILL
	Until           time.Time // the end of the lease
}

// deadlines returns what the watchdog of a program must know. The watchdog asks the program to
// end later than exec does. By then exec has asked, unless it is stopped.
func (t execTimes) deadlines(until time.Time) deadlines {
	return deadlines{until.Add(-(t.terminate + t.kill) / 2), until.Add(-t.kill), until}
}

// window returns the shortest window with which a program can run. Half of it is left when the
// lease is first renewed.
func (t execTimes) window() time.Duration { return 2*t.terminate + t.terminate/2 }

func leaseExecCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "exec URL [flags] -- PROGRAM [ARGUMENT...]",
		Short: "run a program in any language with a leased node ID",
		Long: `exec leases a node ID and runs a program with it, in these environment variables:

  SCRU64_NODE_SPEC  as in 42/8, which the SCRU64 libraries of all languages read
  SORTID_NODE_ID    as in 42
  SORTID_NODE_BITS  as in 8

The program starts when its first tick has come. exec passes signals on to it, and
exits as it does. The exit code is 128 plus the signal's number if a signal ended it,
127 if there is no such program, and 126 if it cannot be run.

exec renews the lease while the program runs. If it cannot, because the store is away
for too long, it ends the program: with SIGTERM 20 seconds before the lease ends, and
with SIGKILL 15 seconds before. Then exec exits with 1. So no ID is made after the
lease's end, if the program's generators run at most 10 seconds ahead of the clock,
which is the default. Nobody knows the program's last tick. So when the program has
ended, its node ID stays out of use until the lease would have ended.

The program does not get the variable NAME of env:NAME or token=env:NAME in the URL,
because it has a secret of the store. If the program needs it, set another variable.
The variable stays in the environment of exec, which other processes of the same user
can read.

If exec is killed, so is the program, on Linux. If exec is stopped, as by Ctrl-Z, its
watchdog ends the program in time, even if the program is stopped, too. The watchdog
is a second process; if it ends, exec ends the program. Other systems have no
watchdog. There a program goes on past the end of the lease if its exec is stopped or
killed.

What exec cannot see: a machine or a container that is suspended as a whole, exec and
its watchdog both stopped, a clock that is set back, and processes that the program
leaves behind.`,
		Example: `  sortid lease exec postgres://localhost/ids --realm orders --node-bits 8 -- node app.js
  sortid lease exec bolt:/var/lib/sortid.db -- python3 worker.py --verbose`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
				return errors.New("exec wants URL -- PROGRAM [ARGUMENT...], with the two hyphens")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	l := &leases.Options{}
	l.AddFlags(cmd)
	usual, _ := byEnvironment()
	given := leases.ChooseFormat(cmd, "the format of the program's IDs (default "+usual.Name+")")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l.URL = args[0]
		s := usual
		if given.Format != nil {
			s = given.Format
		}
		if err := checkExec(cmd, l, s); err != nil {
			return err
		}
		path, err := exec.LookPath(args[1])
		if err != nil { // 127 and 126 are what shells exit with
			c.Complain("%v", err)
			if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
				return exit.Status(127)
			}
			return exit.Status(126)
		}
		return leaseExec(c, usualTimes, l, s, path, args[1:])
	}
	return cmd
}

// byEnvironment returns the format whose libraries read a node ID from an environment variable, and
// the variable.
func byEnvironment() (f *format.Format, variable string) {
	for _, f = range format.Ours() {
		if o, _ := f.Option(f.Node); o.Env != "" {
			return f, o.Env
		}
	}
	panic("no format reads its node ID from the environment")
}

// checkExec finds mistakes before the store is asked for anything.
func checkExec(cmd *cobra.Command, l *leases.Options, s *format.Format) error {
	switch {
	case l.URL == "":
		return exit.Usagef(
			"exec wants the URL of a store, and has an empty text; see sortid lease --help")
	case l.Window != 0 && l.Window < usualTimes.window():
		return exit.Usagef(
			"--lease-window %v: the program must end %v before the lease does, so want at least %v",
			l.Window, usualTimes.terminate, usualTimes.window())
	}
	if err := l.CheckBits(s); err != nil {
		return err
	}
	_, err := l.Wanted(cmd)
	return err
}

// leaseExec runs a program on a lease.
func leaseExec(c *console.Console, times execTimes, l *leases.Options, s *format.Format,
	path string, args []string) error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded...)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	started := make(chan *os.Process, 1)
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		passSignals(c, signals, started, func() { cancel(exit.ErrInterrupted) })
	}()
	defer func() {
		close(started)
		<-passed
	}()

	holder := leaseHolder{leases.NewHolder(c, l, s)}
	if err := holder.Acquire(ctx); err != nil {
		return exit.Cause(ctx, err)
	}
	defer holder.releaseSpent()
	from, err := holder.firstTick()
	if err != nil {
		return err
	}
	if window := holder.Lease.Window(); window < times.window() {
		return fmt.Errorf(
			"realm %q has windows of %v, and the program must end %v before its lease does; have it get at least %v with \"sortid lease set\"",
			l.RealmOf(s), window.Round(time.Second), times.terminate, times.window())
	}
	if err := exit.Sleep(ctx, time.Until(from)); err != nil {
		return exit.Cause(ctx, err)
	}

	env := environ(l)
	until := holder.Lease.Until()
	dog, err := startWatchdog(times.deadlines(until), env)
	if err != nil {
		return err
	}
	node := holder.Lease.NodeID()
	cmd := exec.Command(path)
	cmd.Args = args
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	if f, ok := c.Out.(*os.File); ok {
		cmd.Stdout = f
	}
	_, variable := byEnvironment()
	cmd.Env = append(env,
		variable+"="+holder.Node(),
		"SORTID_NODE_ID="+strconv.FormatUint(uint64(node), 10),
		"SORTID_NODE_BITS="+strconv.Itoa(holder.Lease.NodeBits()))
	dog.guard(cmd)
	ended := make(chan error, 1)
	ran := make(chan error, 1)
	go func() {
		// The child dies when the thread that started it does, so the thread is kept.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		ran <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-ran; err != nil {
		dog.end()
		c.Complain("%s: %v", path, err)
		return exit.Status(126)
	}
	started <- cmd.Process

	var lost string // why the program is ended
	var kill time.Time
	lose := func(why string) {
		if lost != "" {
			return
		}
		lost, kill = why, time.Now().Add(times.terminate-times.kill)
		cmd.Process.Signal(syscall.SIGTERM)
		d := times.deadlines(until)
		d.Terminate = d.Kill // once is enough
		dog.tell(d)
		holder.Say("ending the program: %s", lost)
	}
	told := dog.tell(times.deadlines(until))
	gone := dog.gone
	for {
		if told != nil {
			lose("its watchdog does not answer: " + told.Error())
		}
		select {
		case <-ended:
			if dog.end() && lost == "" {
				lost = "exec was stopped, and its lease ended at " + format.FormatTime(until)
			}
			if lost != "" {
				return fmt.Errorf("%s was ended, because %s", path, lost)
			}
			return exitAs(cmd.ProcessState)
		case <-gone:
			gone = nil
			lose("its watchdog has ended")
		case <-time.After(times.look):
		}
		if now := holder.Lease.Until(); lost == "" && !now.Equal(until) {
			until = now
			told = dog.tell(times.deadlines(until))
		}
		left := time.Until(until)
		moved := holder.Lease.NodeID() != node
		switch {
		case lost == "" && (left < times.terminate || moved):
			lose(holder.whyLost(moved))
		case lost != "" && (left < times.kill || moved || time.Now().After(kill)):
			cmd.Process.Kill()
		}
	}
}

// environ returns the environment of a program, without variables that have a secret of the
// store.
func environ(l *leases.Options) []string {
	var secret []string
	url := l.URL
	if name, ok := strings.CutPrefix(url, "env:"); ok {
		secret, url = append(secret, name), os.Getenv(name)
	}
	_, query, _ := strings.Cut(url, "?")
	parameters, _ := neturl.ParseQuery(query)
	if name, ok := strings.CutPrefix(parameters.Get("token"), "env:"); ok {
		secret = append(secret, name)
	}
	same := func(a, b string) bool {
		return a == b || runtime.GOOS == "windows" &&
			strings.EqualFold(a, b)
	}
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(secret, func(s string) bool { return same(s, name) })
	})
}

// passSignals passes signals on to the program that it receives from started, until started is
// closed. An earlier signal that ends programs interrupts the wait for the node ID. It is also
// kept for the program, which may run already.
func passSignals(c *console.Console, signals <-chan os.Signal, started <-chan *os.Process,
	interrupt func()) {
	var program *os.Process
	var early []os.Signal
	for {
		select {
		case program = <-started:
			if program == nil {
				return
			}
			for _, sig := range early {
				program.Signal(sig)
			}
		case sig := <-signals:
			switch {
			case program == nil && ends(sig):
				early = append(early, sig)
				interrupt()
			case program != nil && !(c.InTerminal && fromKeyboard(sig)): // else the terminal has sent it to both
				program.Signal(sig)
			}
		}
	}
}

// A leaseHolder knows when the ticks of its lease begin.
type leaseHolder struct{ *leases.Holder }

// firstTick returns the time of the first tick that the lease grants from now on.
func (t leaseHolder) firstTick() (time.Time, error) {
	_, tick, err := t.Lease.ClaimTick(t.tickOf(time.Now()))
	return t.timeOf(tick), err
}

func (t leaseHolder) tickOf(at time.Time) int64 {
	return at.Sub(t.Lease.Epoch()).Milliseconds() / t.Lease.TickLength().Milliseconds()
}

func (t leaseHolder) timeOf(tick int64) time.Time {
	return t.Lease.Epoch().Add(time.Duration(tick) * t.Lease.TickLength())
}

// whyLost says why a program cannot go on.
func (t leaseHolder) whyLost(moved bool) string {
	if moved {
		return "the lease of its node ID was lost"
	}
	reason := "the store does not answer"
	if err := t.Lease.Err(); err != nil {
		reason = err.Error()
	}
	return fmt.Sprintf("its lease ends at %s and cannot be renewed: %s",
		format.FormatTime(t.Lease.Until()), reason)
}

// releaseSpent gives the node ID back with all its ticks used, because the program's last tick
// is not known.
func (t leaseHolder) releaseSpent() {
	t.Lease.ClaimTick(t.tickOf(t.Lease.Until()) - 1) // fails if no tick is left, which is just as good
	t.Release()
}

// exitAs returns the error with which the command exits as a program did.
func exitAs(state *os.ProcessState) error {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exit.Status(128 + int(status.Signal()))
	}
	if code := state.ExitCode(); code != 0 {
		return exit.Status(code)
	}
	return nil
}
