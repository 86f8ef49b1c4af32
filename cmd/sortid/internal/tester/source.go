package tester

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/decompress"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/duplicates"
)

// A source is an input of verify: a file, a pipe, or standard input.
type source struct {
	name string // as given; "-" is standard input
	size int64  // in bytes; 0: unknown
	once bool   // can be opened only once

	empty bool // a guess found nothing to read

	open   func() (io.ReadCloser, error)
	opened *sourceLines // unread, except by Detect
}

func (v *Tester) source(name string) *source {
	s := &source{name: name}
	if name == "-" {
		s.once = true
		s.open = func() (io.ReadCloser, error) {
			if f, ok := v.In.(*os.File); ok { // a pipe is the same from either end
				console.Widen(f)
			}
			return io.NopCloser(v.In), nil
		}
		return s
	}
	s.open = func() (io.ReadCloser, error) { return verify.Open(name) }
	if info, err := os.Stat(name); err == nil {
		if s.once = !info.Mode().IsRegular(); !s.once {
			s.size = info.Size()
		}
	}
	return s
}

func (s *source) title() string {
	if s.name == "-" {
		return "standard input"
	}
	return s.name
}

// sourceLines may be closed during a read.
type sourceLines struct {
	*bufio.Reader
	file  io.ReadCloser
	plain io.Reader // of the file, decompressed

	mu              sync.Mutex
	reading, closed bool
}

func (l *sourceLines) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, os.ErrClosed
	}
	l.reading = true
	l.mu.Unlock()
	n, err := l.Reader.Read(b)
	l.mu.Lock()
	l.reading = false
	if l.closed {
		l.free()
	}
	return n, err
}

// Close closes the file, and frees the decompression when nobody reads.
func (l *sourceLines) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if !l.reading {
		l.free()
	}
	return l.file.Close()
}

func (l *sourceLines) free() {
	if c, ok := l.plain.(io.Closer); ok {
		c.Close()
	}
}

// read opens the source, or continues where a guess opened it.
func (s *source) read() (*sourceLines, error) {
	if in := s.opened; in != nil {
		s.opened = nil
		return in, nil
	}
	file, err := s.open()
	if err != nil {
		return nil, err
	}
	plain, err := decompress.NewReader(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: cannot be decompressed: %w", s.title(), err)
	}
	return &sourceLines{Reader: bufio.NewReaderSize(plain, head), file: file, plain: plain}, nil
}

// Position returns how many bytes of the file were read.
func (l *sourceLines) Position() int64 {
	if p, ok := l.file.(interface{ Position() int64 }); ok {
		return p.Position()
	}
	return 0
}

// head is how many bytes of a source a guess may use.
const head = 64 << 10

// guess returns the format of the first line that shows one. It waits for no more lines than that,
// and leaves them to read.
func (s *source) guess() (name string, ok bool, err error) {
	in, err := s.read()
	if err != nil {
		return "", false, err
	}
	s.opened = in
	for done := false; !done; {
		_, err := in.Peek(in.Buffered() + 1) // waits for what comes next
		done = err != nil                    // the end, or a full buffer
		start, _ := in.Peek(in.Buffered())
		if !done {
			start = start[:bytes.LastIndexByte(start, '\n')+1]
		}
		if name, ok := verify.Detect(start); ok {
			return name, true, nil
		}
		s.empty = len(start) == 0
	}
	return "", false, nil
}

// guessUntil is guess until the context ends.
func (s *source) guessUntil(ctx context.Context) (name string, ok bool, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		name, ok, err = s.guess()
	}()
	select {
	case <-done:
		return name, ok, err
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
}

func (s *source) close() {
	if s.opened != nil {
		s.opened.Close()
		s.opened = nil
	}
}

func formatOf(sources ...*source) (string, error) {
	for _, s := range sources {
		name, ok, err := s.guess()
		if !s.once {
			s.close()
		}
		if err != nil {
			return "", err
		}
		if ok {
			return name, nil
		}
	}
	return "", exit.Usagef("%s", untold(sources...))
}

// untold says what to do if sources do not show their format.
func untold(sources ...*source) string {
	what := "the sources do not tell their format"
	if len(sources) == 1 {
		what = sources[0].title() + " does not tell its format"
	}
	if !slices.ContainsFunc(sources, func(s *source) bool { return !s.empty }) {
		return noIDs(sources[0])
	}
	return fmt.Sprintf("%s; name it before the files, as in \"sortid verify scru128\": one of %s",
		what, strings.Join(TimedNames(), ", "))
}

func noIDs(s *source) string {
	return s.title() +
		" is empty, so there is no ID to check; pipe a generator's output into sortid verify, or name a file of IDs"
}

func (s *source) duplicatesSource() duplicates.Source {
	return duplicates.Source{
		Name: s.title(), Once: s.once, Size: s.size,
		Open: func() (io.ReadCloser, error) { return s.read() },
	}
}
