package wrap

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sortid/sortid/cmd/sortid/internal/check"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
)

// TestMain also runs the watchdog, because the watchdog runs the same executable.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[2] == watchdogName {
		code, _ := exit.Code(watch(&console.Console{Err: os.Stderr, Width: 80}))
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// On an old kernel, the watchdog does not know the program. It kills the program's parent instead.
func TestWatchdogAlone(t *testing.T) {
	conns := check.Must(unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0))(t)
	theirs := os.NewFile(uintptr(conns[1]), "watchdog")
	w := &watchdog{conn: conns[0], program: -1}
	defer unix.Close(w.conn)
	check.OK(t, w.tell(Usual.deadlines(time.Now())))
	cmd := exec.Command("sh", "-c", os.Args[0]+" lease "+watchdogName+" & wait")
	cmd.ExtraFiles = []*os.File{theirs}
	err := cmd.Run()
	theirs.Close()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok ||
		status.Signal() != syscall.SIGKILL {
		t.Errorf("%v, want it killed", err)
	}
}
