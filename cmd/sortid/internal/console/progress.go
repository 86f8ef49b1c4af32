package console

import (
	"io"
	"os"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A Progress tells how far long work has come, on standard error and only if that is a
// terminal. It shows nothing in the first second. A nil Progress tells nothing.
type Progress struct {
	bar   *progressbar.ProgressBar
	next  time.Time
	calls int
	every int // calls of Show between two readings of the clock
	shown bool
}

// Progress returns a Progress of work of unknown extent, in units of what. It is nil if other
// output would mix with it.
func (c *Console) Progress(what string) *Progress {
	if c.OutTerminal || c.InTerminal && what == "lines" {
		return nil
	}
	return c.NewProgress(what, -1)
}

// NewProgress returns a Progress of work of the extent total, in bytes if what is "bytes". If
// total is known, the Progress shows a percentage and the time left. Else total is negative.
func (c *Console) NewProgress(what string, total int64) *Progress {
	if !c.ErrTerminal || c.Quiet {
		return nil
	}
	p := &Progress{next: time.Now().Add(time.Second), every: 1}
	if what == "lines" {
		p.every = 64
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(c.Err), progressbar.OptionThrottle(200 * time.Millisecond),
		progressbar.OptionUseANSICodes(true), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(max(10, min(40, c.ErrWidth-50))),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0), // Show draws it, and nothing else
	}
	if what == "bytes" {
		options = append(options, progressbar.OptionShowBytes(true))
	} else {
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(what))
	}
	p.bar = progressbar.NewOptions64(total, options...)
	p.bar.StartWithoutRender()
	return p
}

// Describe says what is being done.
func (p *Progress) Describe(what string) {
	if p != nil {
		p.bar.Describe(what)
	}
}

// Show says that n are done, from time to time.
func (p *Progress) Show(n uint64) {
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

// End clears what Show has shown.
func (p *Progress) End() {
	if p != nil && p.shown {
		p.bar.Clear()
		p.shown = false
	}
}

// A Counter counts the bytes read of a reader.
type Counter struct {
	io.Reader
	N uint64
}

func (c *Counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.N += uint64(n)
	return n, err
}

// SizeOf returns how many bytes are left to read of a regular file, or -1.
func SizeOf(r io.Reader) int64 {
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

// Thousands returns n with a comma between groups of three digits.
func Thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
