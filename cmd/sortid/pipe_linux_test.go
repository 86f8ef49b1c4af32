package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// The command enlarges the pipe of a long output. Other pipes keep their size.
func TestPipeSize(t *testing.T) {
	const small, large = 1 << 16, 1 << 21
	makes := func(n int) string { return "new scru128 -n " + strconv.Itoa(n) }
	for _, c := range []struct {
		args                 string
		lines, before, after int
	}{
		{makes(1), 0, small, small},
		{makes(maxBatch), 0, small, small},
		{makes(maxBatch + 1), 0, small, console.PipeSize},
		{makes(maxBatch + 1), 0, large, large},
		{"convert --to hex", 100, small, small},
		{"convert --to hex", 50_000, small, console.PipeSize},
		{"inspect -o short -", 50_000, small, console.PipeSize},
		{"scan", 100, small, small},
		{"scan", 50_000, small, console.PipeSize},
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
		in := strings.NewReader(strings.Repeat("0372ijojuxuhjsfkeryi2mrtm\n", c.lines))
		if code, stderr := start(in, w, strings.Fields(c.args)...); code != console.Success {
			t.Fatalf("%s: code %d, %s", c.args, code, stderr)
		}
		after, err := unix.FcntlInt(w.Fd(), unix.F_GETPIPE_SZ, 0)
		if err != nil || after != c.after {
			t.Errorf("%s, %d lines: a pipe of %d bytes has %d, %v; want %d", c.args, c.lines,
				c.before, after, err, c.after)
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
