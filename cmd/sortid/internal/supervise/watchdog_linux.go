package supervise

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/internal/words"
)

const watchdogName = "exec-watchdog"

func AddWatchdog(c *console.Console, lease *cobra.Command) {
	lease.AddCommand(&cobra.Command{
		Use: watchdogName, Short: `run the program of "lease exec"`, Hidden: true,
		Args: flags.NoArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error { return watch(c) },
	})
}

const watchdogConn = 0 // its file descriptor of the socket

// watch is the watchdog, the parent of the program. The program's orphans become its children, too,
// so no descendant of the program can get away from it. If "lease exec" is killed, the watchdog
// kills them all. If the watchdog is killed, they become children of "lease exec". Then that kills
// them.
//
// watch does all in one thread. It returns when no descendant is left.
func watch(c *console.Console) error {
	runtime.LockOSThread() // the kernel kills the program when this thread ends
	w := &warden{c: c, parent: os.Getppid(), told: map[int]bool{},
		killer: killer{root: os.Getpid(), blind: !procIsOurs()}}
	if err := w.prepare(); err != nil {
		return fmt.Errorf("only \"sortid lease exec\" can start the watchdog: %w", err)
	}
	defer func() { os.RemoveAll(w.killer.cgroup) }() // if "lease exec" has ended
	if !w.start() {
		return nil
	}
	hurry()
	for {
		w.obey()
		w.act(time.Now())
		more := reap(w.ended)
		if !more {
			w.killer.refused = nil
		}
		if !more || w.killer.stuck() {
			w.report(report{Gone: true, Code: w.code, Last: time.Now(), Late: w.late,
				Left: w.killer.refused})
			return nil
		}
		if err := w.wait(); err != nil {
			return err
		}
	}
}

// A warden is what the watchdog knows.
type warden struct {
	c       *console.Console
	parent  int // the process ID of "lease exec"
	program int // the program's process ID, or 0 after its end
	code    int // its exit code
	timers  [2]int
	event   int // its descriptor is readable after a child's end

	deadlines deadlines
	boot      bootDeadlines
	ending    bool         // SIGTERM has been sent
	late      bool         // the deadlines have ended the program
	closed    bool         // "lease exec" has ended
	told      map[int]bool // processes that have got SIGTERM

	killer killer
}

func (w *warden) prepare() (err error) {
	// A signal that has a handler here has its default effect in the program. Ignored signals
	// stay ignored.
	unread := make(chan os.Signal, 1)
	for s := syscall.Signal(1); s < 65; s++ {
		if !ignored(s) {
			signal.Notify(unread, s)
		}
	}
	if err = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	for i, clock := range []int{unix.CLOCK_REALTIME, unix.CLOCK_BOOTTIME} {
		w.timers[i], err = unix.TimerfdCreate(clock, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
		if err != nil {
			return err
		}
	}
	if w.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		one := binary.NativeEndian.AppendUint64(nil, 1)
		for range ended {
			unix.Write(w.event, one)
		}
	}()
	return nil
}

// start starts the program, and reports whether it runs.
func (w *warden) start() bool {
	files, err := w.receive(0)
	if err != nil || len(files) != 2 {
		return false // "lease exec" has ended
	}
	from := os.NewFile(uintptr(files[1]), "arguments")
	text, err := io.ReadAll(from)
	from.Close()
	words, whole := strings.CutSuffix(string(text), "\x00")
	if err != nil || !whole {
		return false
	}
	command := strings.Split(words, "\x00")
	if w.due(time.Now()) {
		w.report(report{Error: "the lease ended before the program could start"})
		return false
	}
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{uintptr(files[0]), 1, 2},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}}
	err = errors.New("no cgroup")
	if cgroup, openErr := os.Open(w.killer.cgroup); openErr == nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(cgroup.Fd())
		w.program, err = syscall.ForkExec(command[0], command[1:], attr)
		attr.Sys.UseCgroupFD = false
		cgroup.Close()
	}
	if err != nil { // the kernel may also refuse to start a process in the cgroup
		w.program, err = syscall.ForkExec(command[0], command[1:], attr)
	}
	unix.Close(files[0])
	if err != nil {
		w.report(report{Error: err.Error()})
		return false
	}
	w.report(report{PID: w.program})
	// Signals from the keyboard and to the job go to the program, but not to the watchdog. In the
	// same session, the end of the program could make its process group an orphan. Then the kernel
	// sends SIGHUP to the group if a process of the group is stopped.
	syscall.Setsid()
	os.Chdir("/")
	return true
}

// receive reads one order, and returns its files.
func (w *warden) receive(flags int) (files []int, err error) {
	text, rights := make([]byte, 1<<14), make([]byte, unix.CmsgSpace(8))
	n, m, _, _, err := unix.Recvmsg(watchdogConn, text, rights, flags|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	var o order
	if n == 0 {
		return nil, errors.New("the socket is closed")
	}
	if err := json.Unmarshal(text[:n], &o); err != nil {
		return nil, err
	}
	w.take(o)
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	return unix.ParseUnixRights(&messages[0])
}

// obey reads all orders.
func (w *warden) obey() {
	for !w.closed {
		_, err := w.receive(unix.MSG_DONTWAIT)
		switch err {
		case nil, unix.EINTR:
		case unix.EAGAIN:
			return
		default:
			w.closed, w.killer.killing = true, true
		}
	}
}

func (w *warden) take(o order) {
	w.killer.alone = w.killer.alone || o.Alone
	w.killer.cgroup = cmp.Or(w.killer.cgroup, o.Cgroup)
	if o.Deadlines != nil && !w.ending {
		w.deadlines, w.boot = *o.Deadlines, o.Boot
	}
	due := w.due(time.Now())
	switch {
	case o.Kill:
		w.killer.killing = true
	case due || w.killer.killing: // nothing but SIGKILL
	case o.End != nil:
		w.terminate(*o.End)
	case o.Signal != 0 && w.program != 0:
		syscall.Kill(w.program, o.Signal)
	}
}

// terminate sends SIGTERM to all that have not got it, and sets the deadline of SIGKILL.
func (w *warden) terminate(span time.Duration) {
	w.ending = true
	w.deadlines.Kill = earlier(w.deadlines.Kill, time.Now().Round(0).Add(span))
	w.boot.Kill = min(w.boot.Kill, bootTime()+span)
	if w.killer.blind {
		unix.Kill(-1, syscall.SIGTERM)
		return
	}
	// A pass misses processes that start meanwhile. Their number can grow forever.
	for range 10 {
		if sent, _ := signalFamily(w.killer.root, syscall.SIGTERM, w.told); sent == 0 {
			break
		}
	}
}

// act sends the signals that are due.
func (w *warden) act(now time.Time) {
	switch {
	case w.killer.killing:
	case w.due(now):
		w.killer.killing = true
		w.late = w.late || !w.ending
	case !w.ending && (!now.Before(w.deadlines.Terminate) || bootTime() >= w.boot.Terminate):
		w.late = true
		w.terminate(time.Until(w.deadlines.Kill))
		// The reader of standard error must not block the watchdog.
		go w.c.Say("ending the program: its lease ends at %s, "+
			"and sortid, process %d, is stopped or hangs", words.Time(w.deadlines.Until), w.parent)
	}
}

// due reports whether it is time for SIGKILL.
func (w *warden) due(now time.Time) bool {
	return !now.Before(w.deadlines.Kill) || bootTime() >= w.boot.Kill
}

// ended takes note of the end of a child.
func (w *warden) ended(pid int, status syscall.WaitStatus) {
	delete(w.told, pid)
	if pid != w.program {
		return
	}
	w.program, w.code = 0, exitCode(status)
	if !w.killer.killing {
		w.terminate(descendantsGrace)
	}
}

func (w *warden) report(r report) {
	text, _ := json.Marshal(r)
	unix.Sendmsg(watchdogConn, text, nil, nil, unix.MSG_NOSIGNAL)
}

// wait waits for an order, a deadline, or the end of a child. After a stop of the machine or of
// this process, both timers end the wait at once.
func (w *warden) wait() error {
	events := []unix.PollFd{{Fd: int32(w.event), Events: unix.POLLIN},
		{Fd: watchdogConn, Events: unix.POLLIN},
		{Fd: int32(w.timers[0]), Events: unix.POLLIN},
		{Fd: int32(w.timers[1]), Events: unix.POLLIN}}
	if w.closed {
		events[1].Fd = -1
	}
	timeout := -1
	if w.killer.killing {
		timeout = int(w.killer.kill().Milliseconds())
		events = events[:1]
	} else {
		wall, boot := w.deadlines.Kill, w.boot.Kill
		if !w.ending {
			wall, boot = earlier(wall, w.deadlines.Terminate), min(boot, w.boot.Terminate)
		}
		for i, at := range []int64{wall.UnixNano(), int64(boot)} {
			if err := unix.TimerfdSettime(w.timers[i], unix.TFD_TIMER_ABSTIME, &unix.ItimerSpec{
				Value: unix.NsecToTimespec(max(at, 1))}, nil); err != nil {
				return err
			}
		}
	}
	if _, err := unix.Poll(events, timeout); err != nil && err != unix.EINTR {
		return err
	}
	var count [8]byte
	unix.Read(w.event, count[:])
	return nil
}

// hurry lets this thread run before others, if it may. The program has already started, so it does
// not get the priority.
func hurry() {
	unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
}

// A killer kills all descendants of a process.
type killer struct {
	root    int
	alone   bool // all processes but this one and the first one may be killed
	blind   bool // /proc does not show the descendants; then alone is true
	cgroup  string
	killing bool
	passes  int
	refused []int     // processes that it may not kill, and nothing else is left
	since   time.Time // when it found this
}

// kill sends SIGKILL to all descendants, and returns when to do so again.
func (k *killer) kill() time.Duration {
	k.killing = true
	k.passes++
	// No process that starts meanwhile gets away from these.
	killCgroup(k.cgroup)
	if k.alone {
		unix.Kill(-1, syscall.SIGKILL)
	}
	again := min(time.Duration(1<<min(k.passes, 7)), 100) * time.Millisecond
	if k.blind {
		return again
	}
	if k.passes%16 == 0 {
		// Perhaps the processes start others as fast as they are killed. A stopped process
		// starts none, and leaves no room for another.
		stopped := map[int]bool{}
		for n := 1; n > 0; {
			n, _ = signalFamily(k.root, syscall.SIGSTOP, stopped)
		}
	}
	sent, refused := signalFamily(k.root, syscall.SIGKILL, nil)
	k.refused = refused
	if sent > 0 || len(refused) == 0 {
		k.since = time.Time{}
	} else if k.since.IsZero() {
		k.since = time.Now()
	}
	return again
}

// stuck reports whether for 5 s only processes have been left that this process may not kill.
func (k *killer) stuck() bool {
	return !k.since.IsZero() && time.Since(k.since) > descendantsGrace
}
