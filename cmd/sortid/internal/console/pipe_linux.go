package console

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// PipeSize is the largest size of a pipe, in bytes, that Linux allows by default without
// privileges.
const PipeSize = 1 << 20

// Widen enlarges a pipe, which has 64 KiB by default, so that its writer and its reader wait
// for each other less often. It does not change other outputs, or larger pipes. If the system
// refuses, the pipe stays as it is.
func Widen(w io.Writer) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	if size, err := unix.FcntlInt(f.Fd(), unix.F_GETPIPE_SZ, 0); err == nil && size < PipeSize {
		unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, PipeSize)
	}
}
