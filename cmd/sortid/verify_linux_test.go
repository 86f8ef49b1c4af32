package main

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
)

func TestVerifyPipeSize(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, console.PipeSize); err != nil {
		t.Skipf("no pipe of %d bytes here: %v", console.PipeSize, err)
	}
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 1<<16); err != nil {
		t.Fatal(err)
	}
	if code, stderr := start(nil, w, "new", "scru128", "-n", "100"); code != exit.OK { // the pipe holds these
		t.Fatalf("code %d, %s", code, stderr)
	}
	w.Close()
	if code, stderr := start(r, io.Discard, "verify", "scru128"); code != exit.OK {
		t.Fatalf("code %d, %s", code, stderr)
	}
	if size, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0); err != nil ||
		size != console.PipeSize {
		t.Errorf("the pipe has %d bytes, %v; want %d", size, err, console.PipeSize)
	}
}
