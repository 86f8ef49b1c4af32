package main

import (
	"io"
	"sync"
	"time"
)

// A lateWriter passes on what is written to it in larger pieces, a moment later. Otherwise a
// server that logs each request would spend much of its time writing.
type lateWriter struct {
	mu      sync.Mutex
	w       io.Writer
	buf     []byte
	waiting bool // flush is going to be called
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

// flush passes on what there is.
func (l *lateWriter) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = false
	l.flushLocked()
}

func (l *lateWriter) flushLocked() {
	l.w.Write(l.buf) // nobody could be told that a log cannot be written
	l.buf = l.buf[:0]
}
