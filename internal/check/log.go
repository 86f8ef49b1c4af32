package check

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// A Log keeps what a logger writes. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// Take returns the text since the last call.
func (l *Log) Take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// Line checks that the log has one new line, which contains want. If want is "", the log must have
// none.
func (l *Log) Line(t testing.TB, what, want string) {
	t.Helper()
	if got := l.Take(); !strings.Contains(got, want) ||
		strings.Count(got, "\n") != min(len(want), 1) {
		t.Errorf("%s: want one line with %q, got %q", what, want, got)
	}
}
