package supervise

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

// A reporter tells people and programs about a lease: by messages, a status file, and metrics. Slow
// readers do not delay its callers. It is safe for concurrent use.
type reporter struct {
	console *console.Console
	file    string // of the status; "" for none
	realm   string
	nodes   string        // what was said last
	failed  atomic.Uint64 // how many renewals failed

	mu     sync.Mutex
	status Status
	until  time.Time // the end of the lease; zero if none is held

	unwritten bool // the status could not be written; only work may use it

	work chan func()
	idle chan struct{} // closed when work is done
}

// newReporter writes the first status, and fails if it cannot.
func newReporter(c *console.Console, file, realm string) (*reporter, error) {
	r := &reporter{console: c, file: file, realm: realm, status: Status{State: starting, Realm: realm},
		work: make(chan func(), 64), idle: make(chan struct{})}
	if file != "" {
		if err := r.status.write(file); err != nil {
			return nil, err
		}
	}
	go func() {
		defer close(r.idle)
		for do := range r.work {
			do()
		}
	}()
	return r, nil
}

// close writes the last status. It waits for the messages, but not for a reader that is stuck.
func (r *reporter) close() {
	r.setState(ended)
	close(r.work)
	select {
	case <-r.idle:
	case <-time.After(reserve):
	}
}

var _ slog.Handler = (*reporter)(nil)

// Enabled, Handle, WithAttrs and WithGroup make a reporter the logger of a lease. It only counts.
func (r *reporter) Enabled(context.Context, slog.Level) bool { return true }
func (r *reporter) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *reporter) WithGroup(string) slog.Handler            { return r }
func (r *reporter) Handle(_ context.Context, record slog.Record) error {
	if record.Message == "lease: not renewed" {
		r.failed.Add(1)
	}
	return nil
}

func (r *reporter) later(do func()) {
	select {
	case r.work <- do:
	default: // nobody reads
	}
}

// say says something, even with --quiet.
func (r *reporter) say(format string, args ...any) {
	r.later(func() { r.console.Say(format, args...) })
}

// note says something, except with --quiet.
func (r *reporter) note(format string, args ...any) {
	if !r.console.Quiet {
		r.say(format, args...)
	}
}

// change changes the status, and writes it.
func (r *reporter) change(do func(*Status)) {
	r.mu.Lock()
	do(&r.status)
	now := r.status
	r.mu.Unlock()
	if r.file == "" {
		return
	}
	r.later(func() {
		err := now.write(r.file)
		if err != nil && !r.unwritten {
			r.note("the status cannot be written: %v", err)
		}
		r.unwritten = err != nil
	})
}

// setLease sets the end of the lease; zero means that none is held.
func (r *reporter) setLease(until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = until
}

func (r *reporter) remaining() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until.IsZero() {
		return 0
	}
	return max(0, time.Until(r.until))
}
