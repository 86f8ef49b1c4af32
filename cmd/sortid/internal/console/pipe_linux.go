package console

import (
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
