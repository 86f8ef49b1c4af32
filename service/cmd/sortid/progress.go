package main

import (
	"fmt"
	"strconv"
	"time"
)

// A progress tells how far long work has come: on standard error, and only if that is a
// terminal and standard output is none. A nil progress tells nothing.
type progress struct {
	app         *app
	what        string
	start, next time.Time
	calls       int
	shown       bool
}

func (a *app) progress(what string) *progress {
	if !a.errTerminal || a.outTerminal || a.inTerminal && what == "lines" {
		return nil
	}
	now := time.Now()
	return &progress{app: a, what: what, start: now, next: now.Add(time.Second)}
}

// show says that n are done, from time to time.
func (p *progress) show(n uint64) {
	if p == nil {
		return
	}
	if p.calls++; p.calls%64 != 0 && p.what == "lines" {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(200*time.Millisecond), true
	perSecond := float64(n) / now.Sub(p.start).Seconds()
	fmt.Fprintf(p.app.err, "\r\x1b[K%s %s, %s a second", thousands(n), p.what, thousands(uint64(perSecond)))
}

// end clears what show has shown.
func (p *progress) end() {
	if p != nil && p.shown {
		fmt.Fprint(p.app.err, "\r\x1b[K")
		p.shown = false
	}
}

// thousands returns n with a comma between groups of three digits.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
