// Package wrap runs programs on leases of node IDs, and ends them before their leases end. If this
// process cannot end a program, a watchdog process does.
package wrap

import (
	"context"
	"fmt"
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

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/leases"
	"github.com/sortid/sortid/format"
)

// Times say how long before the end of its lease a program must end. Nothing checks that the
// program's ticks are in the lease, and its generator can run up to 10 s ahead of the clock by
// default. So the program must end some time before the lease.
type Times struct {
	Terminate time.Duration // from SIGTERM to the end of the lease
	Kill      time.Duration // from SIGKILL to the end of the lease
	Look      time.Duration // between checks of the lease
}

var Usual = Times{20 * time.Second, 15 * time.Second, 100 * time.Millisecond}

// deadlines are by the wall clock, because ticks are, too.
type deadlines struct {
	Terminate, Kill time.Time // when the program gets SIGTERM and SIGKILL
	Until           time.Time // the end of the lease
}

// deadlines returns the watchdog's deadlines. The watchdog sends SIGTERM later than this
// process does.
func (t Times) deadlines(until time.Time) deadlines {
	return deadlines{until.Add(-(t.Terminate + t.Kill) / 2), until.Add(-t.Kill), until}
}

// Window returns the shortest window for a program. At the first renewal, half of the window is
// left. This half must be longer than Terminate.
func (t Times) Window() time.Duration { return 2*t.Terminate + t.Terminate/2 }

// ByEnvironment returns the format whose libraries read a node ID from an environment variable,
// and the variable's name.
func ByEnvironment() (f *format.Format, variable string) {
	for _, f = range format.Ours() {
		if o, _ := f.Option(f.Node); o.Env != "" {
			return f, o.Env
		}
	}
	panic("no format reads its node ID from the environment")
}

func Run(c *console.Console, times Times, l *leases.Options, s *format.Format, path string,
	args []string) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	started, end := relaySignals(c, func() { cancel(exit.ErrInterrupted) })
	defer end()

	holder := leaseHolder{leases.NewHolder(c, l, s)}
	if err := holder.Acquire(ctx); err != nil {
		return exit.Cause(ctx, err)
	}
	defer holder.releaseSpent()
	from, err := holder.firstTick()
	if err != nil {
		return err
	}
	if window := holder.Lease.Window(); window < times.Window() {
		return fmt.Errorf(
			"realm %q has windows of %v, and the program must end %v before its lease does; "+
				"make the windows at least %v long with \"sortid lease set\"",
			l.RealmOf(s), window.Round(time.Second), times.Terminate, times.Window())
	}
	if err := exit.Sleep(ctx, time.Until(from)); err != nil {
		return exit.Cause(ctx, err)
	}
	p := &program{holder: holder, times: times, path: path}
	if err := p.start(c, args, environ(l)); err != nil {
		return err
	}
	started <- p.cmd.Process
	return p.watch()
}

type program struct {
	holder leaseHolder
	times  Times
	path   string

	cmd   *exec.Cmd
	ended chan error
	dog   *watchdog
	node  uint32
	until time.Time // the lease's end that the watchdog knows
	lost  string    // why this process ends the program
	kill  time.Time // when this process kills the program
}

func (p *program) start(c *console.Console, args, env []string) (err error) {
	lease := p.holder.Lease
	p.until, p.node = lease.Until(), lease.NodeID()
	if p.dog, err = startWatchdog(p.times.deadlines(p.until), env); err != nil {
		return err
	}
	p.cmd = exec.Command(p.path)
	p.cmd.Args = args
	p.cmd.Stdin, p.cmd.Stderr = os.Stdin, os.Stderr
	if f, ok := c.Out.(*os.File); ok {
		p.cmd.Stdout = f
	}
	_, variable := ByEnvironment()
	p.cmd.Env = append(env,
		variable+"="+p.holder.Node(),
		"SORTID_NODE_ID="+strconv.FormatUint(uint64(p.node), 10),
		"SORTID_NODE_BITS="+strconv.Itoa(lease.NodeBits()))
	p.dog.guard(p.cmd)
	p.ended = make(chan error, 1)
	ran := make(chan error, 1)
	go func() {
		// The kernel kills the child when this thread ends, so keep the thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		ran <- err
		if err == nil {
			p.ended <- p.cmd.Wait()
		}
	}()
	if err := <-ran; err != nil {
		p.dog.end()
		c.Say("%s: %v", p.path, err)
		return exit.Status(126)
	}
	return nil
}

func (p *program) watch() error {
	p.tell()
	gone := p.dog.gone
	for {
		select {
		case <-p.ended:
			return p.result()
		case <-gone:
			gone = nil
			p.lose("its watchdog has ended")
		case <-time.After(p.times.Look):
		}
		if now := p.holder.Lease.Until(); p.lost == "" && !now.Equal(p.until) {
			p.until = now
			p.tell()
		}
		left := time.Until(p.until)
		moved := p.holder.Lease.NodeID() != p.node
		switch {
		case p.lost == "" && (left < p.times.Terminate || moved):
			p.lose(p.holder.whyLost(moved))
		case p.lost != "" && (left < p.times.Kill || moved || time.Now().After(p.kill)):
			p.cmd.Process.Kill()
		}
	}
}

func (p *program) tell() {
	if err := p.dog.tell(p.times.deadlines(p.until)); err != nil {
		p.lose("its watchdog does not answer: " + err.Error())
	}
}

func (p *program) lose(why string) {
	if p.lost != "" {
		return
	}
	p.lost, p.kill = why, time.Now().Add(p.times.Terminate-p.times.Kill)
	p.cmd.Process.Signal(syscall.SIGTERM)
	d := p.times.deadlines(p.until)
	d.Terminate = d.Kill // this process has sent SIGTERM
	p.dog.tell(d)
	p.holder.Say("ending the program: %s", p.lost)
}

func (p *program) result() error {
	if p.dog.end() && p.lost == "" {
		p.lost = "sortid was stopped, and the lease ended at " + format.FormatTime(p.until)
	}
	if p.lost != "" {
		return fmt.Errorf("%s was ended, because %s", p.path, p.lost)
	}
	return exitAs(p.cmd.ProcessState)
}

// environ returns the environment without the variables that have the store's secrets.
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

// relaySignals runs passSignals until the caller calls the function end.
func relaySignals(c *console.Console, interrupt func()) (started chan<- *os.Process, end func()) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded...)
	process := make(chan *os.Process, 1)
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		passSignals(c, signals, process, interrupt)
	}()
	return process, func() {
		signal.Stop(signals)
		close(process)
		<-passed
	}
}

// passSignals receives the program from the channel programs, and passes signals on to the program.
// It ends when this channel is closed. If a signal that ends programs arrives before the program
// has started, passSignals interrupts the wait for the node ID. The wait may already be over, so
// the program also gets this signal.
func passSignals(c *console.Console, signals <-chan os.Signal, programs <-chan *os.Process,
	interrupt func()) {
	var program *os.Process
	var early []os.Signal
	for {
		select {
		case program = <-programs:
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
			// The terminal itself sends signals from the keyboard to the program, too.
			case program != nil && !(c.InTerminal && fromKeyboard(sig)):
				program.Signal(sig)
			}
		}
	}
}

type leaseHolder struct{ *leases.Holder }

// firstTick returns the start of the first tick that the lease still grants.
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

// releaseSpent gives the node ID back as if the program had used all ticks, because nobody knows
// its last tick.
func (t leaseHolder) releaseSpent() {
	t.Lease.ClaimTick(t.tickOf(t.Lease.Until()) - 1) // fails if no tick is left, which is fine
	t.Release()
}

func exitAs(state *os.ProcessState) error {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exit.Status(128 + int(status.Signal()))
	}
	if code := state.ExitCode(); code != 0 {
		return exit.Status(code)
	}
	return nil
}
