package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// The command enlarges the pipe of a long output. Other pipes keep their size.
func TestPipeSize(t *testing.T) {
	const small, large = 1 << 16, 1 << 21
	for _, c := range []struct{ count, before, after int }{
		{count: 1, before: small, after: small},
		{count: maxBatch, before: small, after: small},
		{count: maxBatch + 1, before: small, after: console.PipeSize},
		{count: maxBatch + 1, before: large, after: large},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, max(c.before, c.after)); err != nil {
			t.Logf("no pipe of %d bytes here: %v", max(c.before, c.after), err)
			w.Close()
			continue
		}
		check.Must(unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, c.before))(t)
		go io.Copy(io.Discard, r)
		if code, stderr := start(nil, w, "new", "scru128", "-n",
			strconv.Itoa(c.count)); code != console.Success {
			t.Fatalf("code %d, %s", code, stderr)
		}
		after, err := unix.FcntlInt(w.Fd(), unix.F_GETPIPE_SZ, 0)
		if err != nil || after != c.after {
			t.Errorf("%d IDs: a pipe of %d bytes has %d, %v; want %d", c.count, c.before, after,
				err, c.after)
		}
		w.Close()
	}
}

func TestVerifyPipeSize(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, console.PipeSize); err != nil {
		testserver.Missing(t, fmt.Sprintf("no pipe of %d bytes: %v", console.PipeSize, err),
			fmt.Sprintf("sysctl fs.pipe-max-size=%d", console.PipeSize))
	}
	check.Must(unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 1<<16))(t)
	// All these IDs fit in the pipe.
	if code, stderr := start(nil, w, "new", "scru128", "-n", "100"); code != console.Success {
		t.Fatalf("code %d, %s", code, stderr)
	}
	w.Close()
	if code, stderr := start(r, io.Discard, "verify", "scru128"); code != console.Success {
		t.Fatalf("code %d, %s", code, stderr)
	}
	if size, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0); err != nil ||
		size != console.PipeSize {
		t.Errorf("the pipe has %d bytes, %v; want %d", size, err, console.PipeSize)
	}
}
