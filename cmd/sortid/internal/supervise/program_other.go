//go:build !linux

package supervise

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

// A process has no watchdog here. Only Linux can end a program together with its parent, and find
// its descendants in other process groups.
type process struct {
	cmd   *exec.Cmd
	group bool // the program has a process group of its own
}

func AddWatchdog(*console.Console, *cobra.Command) {}

// startProgram starts a program. If it cannot be started, startProgram says why, and returns
// console.ExitCode(126).
func startProgram(c *console.Console, path string, args, env []string, _ deadlines) (
	*program, error) {
	p := &program{path: path, gone: make(chan struct{}), process: process{
		cmd: exec.Command(path), group: !c.InTerminal}}
	p.process.cmd.Args, p.process.cmd.Env = args, env
	p.process.cmd.Stdin, p.process.cmd.Stderr = os.Stdin, os.Stderr
	if f, ok := c.Out.(*os.File); ok {
		p.process.cmd.Stdout = f
	}
	if p.process.group { // in a terminal, the program could not read
		p.process.group = ownGroup(p.process.cmd)
	}
	if err := p.process.cmd.Start(); err != nil {
		c.Say("%s: %v", path, err)
		return nil, console.ExitCode(126)
	}
	p.pid = p.process.cmd.Process.Pid
	go p.attend()
	return p, nil
}

// attend waits for the end of the program, and ends its process group.
func (p *program) attend() {
	p.process.cmd.Wait()
	if p.process.group {
		until := time.Now().Add(descendantsGrace)
		for s := syscall.SIGTERM; signalGroup(p.process.cmd.Process.Pid, s); s = syscall.Signal(0) {
			if time.Now().After(until) {
				signalGroup(p.process.cmd.Process.Pid, syscall.SIGKILL)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if status, ok := p.process.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		p.code = exitCode(status)
	}
	p.last = time.Now()
	close(p.gone)
}

// signal sends a signal to the program itself.
func (p *program) signal(sig os.Signal) { p.process.cmd.Process.Signal(sig) }

// tell does nothing here.
func (p *program) tell(deadlines) error { return nil }

// end sends SIGTERM to the program's process group at once, and SIGKILL after the span.
func (p *program) end(span time.Duration) {
	p.signalAll(syscall.SIGTERM)
	time.AfterFunc(span, p.kill)
}

// kill sends SIGKILL to the program's process group.
func (p *program) kill() { p.signalAll(syscall.SIGKILL) }

func (p *program) signalAll(s syscall.Signal) {
	select {
	case <-p.gone:
		return
	default:
	}
	if p.process.group {
		signalGroup(p.process.cmd.Process.Pid, s)
	} else {
		p.process.cmd.Process.Signal(s)
	}
}

// unguarded reports whether a watchdog has ended before the program.
func (p *program) unguarded() bool { return false }
