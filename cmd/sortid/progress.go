package main

import (
	"io"
	"os"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress tells how far long work has come, on standard error and only if that is a
// terminal. It shows nothing in the first second. A nil progress tells nothing.
type progress struct {
	bar   *progressbar.ProgressBar
	next  time.Time
	calls int
	every int // calls of show between two readings of the clock
	shown bool
}

// progress returns a progress of work whose extent is not known, in units of what. It is
// nil where output would get in its way.
func (a *app) progress(what string) *progress {
	if a.outTerminal || a.inTerminal && what == "lines" {
		return nil
	}
	return a.newProgress(what, -1)
}

// newProgress returns a progress of work whose extent is total, in bytes if what is
// "bytes"; total is negative if it is not known. The progress has a percentage and the time
// left if it is.
func (a *app) newProgress(what string, total int64) *progress {
	if !a.errTerminal || a.quiet {
		return nil
	}
	p := &progress{next: time.Now().Add(time.Second), every: 1}
	if what == "lines" {
		p.every = 64
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(a.err), progressbar.OptionThrottle(200 * time.Millisecond),
		progressbar.OptionUseANSICodes(true), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(max(10, min(40, a.errWidth-50))), progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0), // show draws it, and nothing else
	}
	if what == "bytes" {
		options = append(options, progressbar.OptionShowBytes(true))
	} else {
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(what))
	}
	p.bar = progressbar.NewOptions64(total, options...)
	p.bar.StartWithoutRender()
	return p
}

// describe says what is being done.
func (p *progress) describe(what string) {
	if p != nil {
		p.bar.Describe(what)
	}
}

// show says that n are done, from time to time.
func (p *progress) show(n uint64) {
	if p == nil {
		return
	}
	if p.calls++; p.calls%p.every != 0 {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(200*time.Millisecond), true
	p.bar.Set64(int64(n))
}

// end clears what show has shown.
func (p *progress) end() {
	if p != nil && p.shown {
		p.bar.Clear()
		p.shown = false
	}
}

// A counter counts the bytes read of a reader.
type counter struct {
	io.Reader
	n uint64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += uint64(n)
	return n, err
}

// sizeOf returns how many bytes are left to read of a regular file, or -1.
func sizeOf(r io.Reader) int64 {
	f, ok := r.(*os.File)
	if !ok {
		return -1
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return -1
	}
	return info.Size() - at
}

// thousands returns n with a comma between groups of three digits.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
