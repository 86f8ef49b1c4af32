package main

import (
	"io"
	"sync"
	"time"
)

// A lateWriter collects writes for a moment. Otherwise a server that logs each request would write
// too often.
type lateWriter struct {
	mu      sync.Mutex
	w       io.Writer
	buf     []byte
	waiting bool // a timer will call flush
}

const (
	logDelay = 50 * time.Millisecond
	logSize  = 64 << 10
)

func (l *lateWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if len(l.buf) >= logSize {
		l.flushLocked()
	} else if !l.waiting {
		l.waiting = true
		time.AfterFunc(logDelay, l.flush)
	}
	return len(p), nil
}

func (l *lateWriter) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = false
	l.flushLocked()
}

func (l *lateWriter) flushLocked() {
	if len(l.buf) > 0 {
		l.w.Write(l.buf) // there is nowhere to report an error
		l.buf = l.buf[:0]
	}
}
