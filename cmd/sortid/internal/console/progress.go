package console

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A Progress shows how far a task is, if standard error is a terminal and the task takes more
// than a second. A nil Progress shows nothing.
type Progress struct {
	console *Console
	bar     *progressbar.ProgressBar
	next    time.Time
	what    string

	terminal io.Closer // closed: another command may show progress there
}

// Progress is like [Console.NewProgress], but returns nil if the same terminal shows results, or
// lines that the user types.
func (c *Console) Progress(unit string, total int64) *Progress {
	if c.OutTerminal || c.InTerminal && unit == "lines" {
		return nil
	}
	return c.NewProgress(unit, total)
}

// NewProgress returns a Progress with a percentage and the time left, for a task of size total. A
// negative total means an unknown size. The unit "bytes" is printed as kB, MB and so on.
func (c *Console) NewProgress(unit string, total int64) *Progress {
	if !c.ErrTerminal || c.Quiet {
		return nil
	}
	p := &Progress{console: c, next: time.Now().Add(time.Second)}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(c.Err), progressbar.OptionThrottle(200 * time.Millisecond),
		progressbar.OptionUseANSICodes(true), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(max(10, min(40, c.ErrWidth-50))),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0), // only Show draws it
	}
	if unit == "bytes" {
		options = append(options, progressbar.OptionShowBytes(true))
	} else {
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(unit), progressbar.OptionShowTotalBytes(total >= 0))
	}
	p.bar = progressbar.NewOptions64(total, options...)
	p.bar.StartWithoutRender()
	return p
}

// Describe sets the text before the bar.
func (p *Progress) Describe(what string) {
	if p != nil {
		p.what = what
	}
}

// Show reports that n units are done so far. It draws only from time to time.
func (p *Progress) Show(n uint64) {
	if p == nil {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(200 * time.Millisecond)
	p.console.mu.Lock()
	defer p.console.mu.Unlock()
	if p.terminal == nil {
		if p.terminal = claimTerminal(p.console.Err); p.terminal == nil {
			return
		}
	}
	p.console.drawn = true
	if p.what != "" {
		p.bar.Describe(p.what)
	}
	p.bar.Set64(int64(n))
}

func (p *Progress) End() {
	if p == nil {
		return
	}
	p.console.mu.Lock()
	defer p.console.mu.Unlock()
	if p.console.drawn {
		p.bar.Clear()
		p.console.drawn = false
	}
	if p.terminal != nil {
		p.terminal.Close()
	}
}
