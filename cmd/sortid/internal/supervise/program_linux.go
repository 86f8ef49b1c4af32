package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

// A process is the watchdog, which runs the program.
type process struct {
	dog  *exec.Cmd
	conn *net.UnixConn
	lost chan struct{} // closed when the watchdog has ended before the program
	done chan struct{} // closed when the watchdog has ended

	cgroup string
}

// An order goes to the watchdog.
type order struct {
	Deadlines *deadlines     `json:",omitempty"`
	Boot      bootDeadlines  // the same, by the time since the machine's start
	Signal    syscall.Signal `json:",omitempty"` // to the program itself
	End       *time.Duration `json:",omitempty"` // SIGTERM to all now, SIGKILL after this span
	Kill      bool           `json:",omitempty"` // SIGKILL to all now
	Alone     bool           `json:",omitempty"` // all other processes are the program's
	Cgroup    string         `json:",omitempty"` // the directory of the program's cgroup
}

// A report comes from the watchdog.
type report struct {
	Error string `json:",omitempty"` // the program cannot be started
	PID   int    `json:",omitempty"` // the program's process ID, after its start
	Gone  bool   `json:",omitempty"` // no process is left, and these are fields of program:
	Code  int
	Last  time.Time
	Late  bool
	Left  []int `json:",omitempty"` // but these, which the watchdog may not kill
}

// adoptOrphans lets the kernel make this process the parent of descendants whose parents have
// ended, if the watchdog does not live. The first process of a container also adopts the others.
var adoptOrphans = sync.OnceValue(func() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot adopt the program's descendants: %w", err)
	}
	if os.Getpid() == 1 {
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGCHLD)
		go func() {
			for range ended {
				reap(func(int, syscall.WaitStatus) {}) // the watchdog reports itself
			}
		}()
	} else if !procIsOurs() {
		return errors.New("cannot find the program's descendants: /proc does not show " +
			"this PID namespace; mount it, such as with \"unshare --mount-proc\"")
	}
	return nil
})

// startProgram starts a program that gets SIGTERM and SIGKILL at the deadlines. If the program
// cannot be started, startProgram says why, and returns console.ExitCode(126).
func startProgram(c *console.Console, path string, args, env []string, d deadlines) (
	*program, error) {
	if err := adoptOrphans(); err != nil {
		return nil, err
	}
	p := &program{path: path, gone: make(chan struct{}),
		process: process{lost: make(chan struct{}), done: make(chan struct{})}}
	if err := p.startWatchdog(c, args, env, d); err != nil {
		return nil, fmt.Errorf("cannot start the watchdog: %w", err)
	}
	switch started, err := p.receive(); {
	case err != nil:
		p.close()
		return nil, errors.New("the watchdog has ended before it could start the program")
	case started.PID == 0:
		p.close()
		c.Say("%s: %s", path, started.Error)
		return nil, console.ExitCode(126)
	default:
		p.pid = started.PID
	}
	go p.attend()
	return p, nil
}

func (p *program) startWatchdog(c *console.Console, args, env []string, d deadlines) error {
	conns, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours, theirs := os.NewFile(uintptr(conns[0]), "exec"), os.NewFile(uintptr(conns[1]), "watchdog")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return err
	}
	p.process.conn = conn.(*net.UnixConn)
	// The arguments are not on the watchdog's command line, so "pkill -9 -f" with the program's
	// name does not find the watchdog.
	command, write, err := os.Pipe()
	if err != nil {
		p.process.conn.Close()
		return err
	}
	defer command.Close()
	go func() {
		for _, word := range append([]string{p.path}, args...) {
			io.WriteString(write, word+"\x00")
		}
		write.Close()
	}()
	// All other files that this process has inherited, the watchdog and the program inherit, too.
	p.process.dog = exec.Command("/proc/self/exe")
	p.process.dog.Args = []string{"sortid", "lease", watchdogName}
	p.process.dog.Env, p.process.dog.Stdin, p.process.dog.Stderr = env, theirs, os.Stderr
	if f, ok := c.Out.(*os.File); ok {
		p.process.dog.Stdout = f
	}
	// If this process ends while the watchdog is stopped, the watchdog continues.
	p.process.dog.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGCONT}
	ran := make(chan error, 1)
	go func() {
		// The signal comes when this thread ends, so keep the thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.process.dog.Start()
		ran <- err
		if err == nil {
			p.process.dog.Wait()
			close(p.process.done)
		}
	}()
	if err = <-ran; err == nil {
		p.process.cgroup = newCgroup()
		first := order{Deadlines: &d, Alone: os.Getpid() == 1, Cgroup: p.process.cgroup}
		err = p.send(first, int(os.Stdin.Fd()), int(command.Fd()))
	}
	if err != nil {
		p.close()
	}
	return err
}

func (p *program) close() {
	p.process.conn.Close()
	os.RemoveAll(p.process.cgroup)
}

// send fails at once if the watchdog does not read.
func (p *program) send(o order, files ...int) error {
	if o.Deadlines != nil {
		o.Boot = o.Deadlines.boot()
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	raw, err := p.process.conn.SyscallConn()
	if err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	if failed := raw.Control(func(fd uintptr) {
		err = unix.Sendmsg(int(fd), text, rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	}); failed != nil {
		return failed
	}
	p.process.dog.Process.Signal(syscall.SIGCONT) // the watchdog may be stopped
	return err
}

func (p *program) receive() (r report, err error) {
	text := make([]byte, 1<<16)
	n, err := p.process.conn.Read(text)
	if err == nil {
		err = json.Unmarshal(text[:n], &r)
	}
	return r, err
}

// attend waits for the end. Without a watchdog, the program's processes are children of this
// process, and attend ends them.
func (p *program) attend() {
	defer close(p.gone)
	defer p.close()
	r, err := p.receive()
	p.process.dog.Process.Kill()
	<-p.process.done
	if err == nil && r.Gone {
		p.code, p.last, p.late, p.left = r.Code, r.Last, r.Late, r.Left
		return
	}
	close(p.process.lost)
	p.code = 128 + int(syscall.SIGKILL)
	k := killer{root: os.Getpid(), alone: os.Getpid() == 1, blind: !procIsOurs(),
		cgroup: p.process.cgroup}
	for !k.stuck() {
		if !reap(func(int, syscall.WaitStatus) {}) {
			k.refused = nil
			break
		}
		time.Sleep(k.kill())
	}
	p.last, p.left = time.Now().Round(0), k.refused
}

// signal sends a signal to the program itself. It does nothing after the deadline of SIGKILL.
func (p *program) signal(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok {
		p.send(order{Signal: s})
	}
}

// tell sends new deadlines to the watchdog. It fails at once if the watchdog does not read them.
// Then the program may not go on. If the watchdog has ended, attend finds out how.
func (p *program) tell(d deadlines) error {
	err := p.send(order{Deadlines: &d})
	for _, ended := range []error{unix.EPIPE, unix.ECONNRESET, net.ErrClosed} {
		if errors.Is(err, ended) {
			return nil
		}
	}
	return err
}

// end sends SIGTERM to the program and its descendants at once, and SIGKILL after the span, or at
// the deadline if this is earlier. If the deadline of SIGKILL is over, end sends only SIGKILL.
// After end, tell does nothing.
func (p *program) end(span time.Duration) { p.send(order{End: &span}) }

// kill sends SIGKILL to the program and its descendants. When kill returns, the signals have been
// sent, even if the watchdog hangs.
func (p *program) kill() {
	p.send(order{Kill: true})
	killCgroup(p.process.cgroup)
	dog := p.process.dog.Process.Pid
	if _, parent := stat(dog); parent == os.Getpid() && procIsOurs() {
		signalFamily(dog, syscall.SIGKILL, nil)
	}
}

// unguarded reports whether the watchdog has ended before the program. Then the program and its
// descendants are killed.
func (p *program) unguarded() bool {
	select {
	case <-p.process.lost:
		return true
	default:
		return false
	}
}
