package wrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/format"
)

// A watchdog is a process that ends the program in time if "lease exec" is stopped or hangs. It has
// a session of its own, so Ctrl-Z does not stop it.
type watchdog struct {
	cmd     *exec.Cmd
	conn    int // the socket
	program int // the program's file descriptor, or -1
	gone    chan struct{}
}

const (
	watchdogName  = "exec-watchdog"
	watchdogConn  = 3 // its file descriptor of the socket
	watchdogEnded = 3 // exit code if it has ended the program
)

func startWatchdog(d deadlines, env []string) (*watchdog, error) {
	conns, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot make a socket for the watchdog: %w", err)
	}
	theirs := os.NewFile(uintptr(conns[1]), "watchdog")
	defer theirs.Close()
	w := &watchdog{cmd: exec.Command("/proc/self/exe"), conn: conns[0], program: -1,
		gone: make(chan struct{})}
	w.cmd.Args = []string{"sortid", "lease", watchdogName}
	w.cmd.Env, w.cmd.Dir, w.cmd.Stderr = env, "/", os.Stderr
	w.cmd.ExtraFiles = []*os.File{theirs}
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err = w.tell(d); err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		unix.Close(w.conn)
		return nil, fmt.Errorf("cannot start the watchdog: %w", err)
	}
	go func() {
		w.cmd.Wait()
		close(w.gone)
	}()
	return w, nil
}

// guard lets the kernel kill the program when this process ends, and lets the watchdog send signals
// to the program.
func (w *watchdog) guard(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, PidFD: &w.program}
}

// tell sends new deadlines. The first call after the program's start also sends the program's file
// descriptor. A call fails at once if the watchdog does not read.
func (w *watchdog) tell(d deadlines) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	var rights []byte
	if w.program >= 0 {
		rights = unix.UnixRights(w.program)
		defer func() {
			unix.Close(w.program)
			w.program = -1
		}()
	}
	return unix.Sendmsg(w.conn, text, rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// end ends the watchdog, and reports whether the watchdog has ended the program.
func (w *watchdog) end() bool {
	unix.Close(w.conn)
	w.cmd.Process.Signal(syscall.SIGCONT) // the watchdog may be stopped
	<-w.gone
	return w.cmd.ProcessState.ExitCode() == watchdogEnded
}

func AddWatchdog(c *console.Console, lease *cobra.Command) {
	lease.AddCommand(&cobra.Command{
		Use: watchdogName, Short: `end the program of "lease exec"`, Hidden: true,
		Args: flags.NoArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error { return watch(c) },
	})
}

// watch is the watchdog. It returns when its parent closes the socket or ends.
func watch(c *console.Console) error {
	signal.Ignore(forwarded...) // service managers send SIGTERM to the watchdog, too
	ward := ward{process: -1, parent: os.Getppid()}
	for {
		events := []unix.PollFd{{Fd: watchdogConn, Events: unix.POLLIN}}
		ready, err := unix.Poll(events, int(Usual.Look.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case ready == 0: // there are no newer deadlines
			if ward.keep(time.Now()) {
				// The reader of standard error must not block the watchdog.
				go c.Say("ending the program: its lease ends at %s, "+
					"and sortid, process %d, is stopped or hangs",
					format.FormatTime(ward.Until), ward.parent)
			}
			continue
		}
		more, err := ward.receive()
		if err != nil {
			return fmt.Errorf("only \"sortid lease exec\" can start the watchdog: %w", err)
		}
		if !more {
			break
		}
	}
	if ward.process >= 0 {
		ward.signal(syscall.SIGKILL)
	}
	if ward.ended {
		return exit.Status(watchdogEnded)
	}
	return nil
}

// A ward is the program that the watchdog ends.
type ward struct {
	deadlines
	process int // the program's file descriptor, or -1 if it is not known
	parent  int // the process ID of "lease exec"
	ended   bool
}

// receive reads deadlines, and reports whether more can come.
func (w *ward) receive() (more bool, err error) {
	text, rights := make([]byte, 1024), make([]byte, unix.CmsgSpace(4))
	n, m, _, _, err := unix.Recvmsg(watchdogConn, text, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return false, err
	}
	var d deadlines
	if err := json.Unmarshal(text[:n], &d); err != nil {
		return false, err
	}
	if !w.ended { // after SIGTERM, the program gets no more time
		w.deadlines = d
	}
	if m == 0 {
		return true, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil {
		return false, err
	}
	processes, err := unix.ParseUnixRights(&messages[0])
	if err == nil {
		w.process = processes[0]
	}
	return true, err
}

// keep sends the signals that are due, and reports whether it sent SIGTERM.
func (w *ward) keep(now time.Time) (told bool) {
	switch {
	case !now.Before(w.Kill):
		w.signal(syscall.SIGKILL)
		w.ended = true
	case !now.Before(w.Terminate) && !w.ended:
		w.signal(syscall.SIGTERM)
		w.ended = true
		return true
	}
	return false
}

// signal sends s to the program. If the program's file descriptor is not known, as before Linux
// 5.4, SIGKILL goes to the parent instead. Then the kernel kills the program, too.
func (w *ward) signal(s syscall.Signal) {
	switch {
	case w.process >= 0:
		unix.PidfdSendSignal(w.process, s, nil, 0)
	case s == syscall.SIGKILL && os.Getppid() == w.parent:
		syscall.Kill(w.parent, s)
	}
}
