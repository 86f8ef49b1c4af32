package supervise

import (
	"syscall"
	"time"
)

// deadlines are by the wall clock, because ticks are, too. If a clock is set back, the deadlines
// that were told before stay as far away as they were.
type deadlines struct {
	Terminate, Kill time.Time // when the program and its descendants get SIGTERM and SIGKILL
	Until           time.Time // the end of the lease, for messages
}

// A program is a program that runs, with its descendants. startProgram starts it.
//
// When the program itself has ended, its descendants get SIGTERM at once, and SIGKILL 5 s later. At
// the deadlines, all get SIGTERM and SIGKILL, also while this process is stopped or hangs. All
// methods are safe for concurrent use. After the end they do nothing.
type program struct {
	path string
	pid  int
	gone chan struct{} // closed when neither the program nor a descendant is left

	// These are set when gone is closed.
	code int       // the program's exit code, as in shells
	last time.Time // when the last descendant ended

	// So are these.
	late bool  // the deadlines ended the program, before this process did
	left []int // processes that go on, because this process may not kill them

	process process
}

// descendantsGrace is how long descendants may go on after the end of their program.
const descendantsGrace = 5 * time.Second

func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
