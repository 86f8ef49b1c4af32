package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize, in bytes, is the largest that Linux allows without privileges, unless set otherwise.
const pipeSize = 1 << 20

// widen enlarges a pipe, which has 64 KiB by default, so that its writer and its reader
// wait for each other less often. It leaves other outputs alone, and a pipe that is larger
// already; where the system refuses, the pipe stays as it is.
func widen(w io.Writer) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	if size, err := unix.FcntlInt(f.Fd(), unix.F_GETPIPE_SZ, 0); err == nil && size < pipeSize {
		unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, pipeSize)
	}
}
