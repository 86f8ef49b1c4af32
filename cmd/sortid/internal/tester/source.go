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
	"sync/atomic"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/input"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/duplicates"
)

// A source is an input of verify: a file, a pipe, or standard input. Its Open does not
// decompress.
type source struct {
	in     duplicates.Source
	stdin  bool
	empty  bool         // the method guess sets it: there is nothing to read
	opened *sourceLines // the method guess sets it, the method read returns it
}

func (v *Tester) source(name string) *source {
	if name != "-" {
		return &source{in: duplicates.File(name)}
	}
	return &source{stdin: true, in: duplicates.Source{Name: "standard input", Once: true,
		Open: func() (io.ReadCloser, error) {
			if f, ok := v.Console.In.(*os.File); ok { // the size of a pipe can be set at either end
				console.Widen(f)
			}
			return io.NopCloser(v.Console.In), nil
		}}}
}

// Another goroutine can close sourceLines during a read.
type sourceLines struct {
	buffered *bufio.Reader
	file     io.ReadCloser
	plain    io.ReadCloser // the decompressed file
	closed   atomic.Bool
}

func (l *sourceLines) Read(b []byte) (n int, err error) {
	if l.closed.Load() {
		return 0, os.ErrClosed
	}
	return l.buffered.Read(b)
}

func (l *sourceLines) Close() error {
	l.closed.Store(true)
	l.plain.Close()
	return l.file.Close()
}

func (l *sourceLines) Position() int64 {
	if p, ok := l.file.(interface{ Position() int64 }); ok {
		return p.Position()
	}
	return 0
}

// The method guess reads at most head bytes.
const head = 64 << 10

func (s *source) read() (*sourceLines, error) {
	if in := s.opened; in != nil {
		s.opened = nil
		return in, nil
	}
	file, err := s.in.Open()
	if err != nil {
		return nil, err
	}
	plain, err := input.Decompress(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: cannot be decompressed: %w", s.in.Name, err)
	}
	return &sourceLines{buffered: bufio.NewReaderSize(plain, head), file: file, plain: plain}, nil
}

// guess returns the format of the first line that shows its format, or "". It does not wait for
// later lines. The next call of read returns all lines.
func (s *source) guess() (name string, err error) {
	in, err := s.read()
	if err != nil {
		return "", err
	}
	s.opened = in
	for done := false; !done; {
		_, err := in.buffered.Peek(in.buffered.Buffered() + 1) // waits for what comes next
		done = err != nil                                      // the end, or a full buffer
		start, _ := in.buffered.Peek(in.buffered.Buffered())
		if !done {
			start = start[:bytes.LastIndexByte(start, '\n')+1]
		}
		if name, ok := verify.Detect(start); ok {
			return name, nil
		}
		s.empty = len(start) == 0
	}
	return "", nil
}

func formatOf(ctx context.Context, sources ...*source) (string, error) {
	for _, s := range sources {
		var name string
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			name, err = s.guess()
		}()
		select {
		case <-done:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if !s.in.Once && s.opened != nil {
			s.opened.Close()
			s.opened = nil
		}
		if err != nil || name != "" {
			return name, err
		}
	}
	if !slices.ContainsFunc(sources, func(s *source) bool { return !s.empty }) {
		return "", noIDs(sources[0])
	}
	what := "the sources"
	if len(sources) == 1 {
		what = sources[0].in.Name
	}
	return "", console.UsageErrorf(
		"cannot guess the format of %s; name the format before the files, "+
			"as in \"sortid verify scru128\": one of %s", what, strings.Join(Names(), ", "))
}

func noIDs(s *source) error {
	return console.UsageErrorf("%s is empty, so there is no ID to check; "+
		"pipe a generator's output into sortid verify, name a file of IDs, "+
		"or start a generator with --exec COMMAND", s.in.Name)
}
