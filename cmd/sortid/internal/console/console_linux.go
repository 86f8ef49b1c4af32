package console

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// PipeSize is the largest pipe, in bytes, that Linux allows without privileges by default.
const PipeSize = 1 << 20

// Widen enlarges a pipe from the usual 64 KiB if possible, so that its reader and its writer wait
// less often.
func Widen(w io.Writer) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	if size, err := unix.FcntlInt(f.Fd(), unix.F_GETPIPE_SZ, 0); err == nil && size < PipeSize {
		unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, PipeSize)
	}
}

// claimTerminal locks the terminal w, so that only one command of a pipeline shows progress there.
// It returns nil if another one has it. The result gives it back.
func claimTerminal(w io.Writer) io.Closer {
	shared, ok := w.(*os.File)
	if !ok {
		return io.NopCloser(nil)
	}
	// The commands of a pipeline share this open file, and so its lock. So open it again.
	terminal, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", shared.Fd()), unix.O_NOCTTY, 0)
	if err != nil {
		return io.NopCloser(nil)
	}
	if unix.Flock(int(terminal.Fd()), unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK {
		terminal.Close()
		return nil
	}
	return terminal
}
