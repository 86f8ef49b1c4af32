package main

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// A logHandler writes lines like [slog.JSONHandler]. It writes plain texts and integers itself, in
// a third of the time: a server that logs each request would spend much of its time in the log.
type logHandler struct {
	slog.Handler // writes all else
	w            *lateWriter
}

func newLogHandler(w *lateWriter) slog.Handler {
	return &logHandler{slog.NewJSONHandler(w, nil), w}
}

// Handle writes a line.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	line := r.Time.AppendFormat(append(make([]byte, 0, 512), `{"time":"`...), time.RFC3339Nano)
	line = append(append(line, `","level":"`...), r.Level.String()...)
	line = append(append(line, `","msg":"`...), r.Message...)
	line = append(line, '"')
	plain := isPlain(r.Message) && !r.Time.IsZero()
	r.Attrs(func(a slog.Attr) bool {
		line = append(append(append(line, `,"`...), a.Key...), `":`...)
		switch a.Value.Kind() {
		case slog.KindString:
			text := a.Value.String()
			line = append(append(append(line, '"'), text...), '"')
			plain = plain && isPlain(text)
		case slog.KindInt64:
			line = strconv.AppendInt(line, a.Value.Int64(), 10)
		default:
			plain = false
		}
		plain = plain && isPlain(a.Key)
		return plain
	})
	if !plain {
		return h.Handler.Handle(ctx, r)
	}
	_, err := h.w.Write(append(line, "}\n"...))
	return err
}

// isPlain reports whether a text stands in JSON as it is.
func isPlain(text string) bool {
	for _, b := range []byte(text) {
		if b < ' ' || b > '~' || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}

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
