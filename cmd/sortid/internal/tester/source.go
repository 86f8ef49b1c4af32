package tester

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
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

func (v *Tester) sources(names []string) (all []*source, err error) {
	for _, name := range names {
		s := v.source(name)
		if s.stdin && slices.ContainsFunc(all, func(s *source) bool { return s.stdin }) {
			return nil, console.UsageErrorf("standard input can be read only once")
		}
		all = append(all, s)
	}
	return all, nil
}

func (v *Tester) source(name string) *source {
	s := &source{stdin: name == "-"}
	if s.stdin {
		s.in = duplicates.Source{Name: input.Stdin, Once: true, Open: v.openStdin}
	} else {
		s.in = duplicates.File(name)
	}
	open := s.in.Open
	s.in.Open = func() (io.ReadCloser, error) {
		if err := input.Begin(v.Console, name, input.IDs); err != nil {
			return nil, err
		}
		return open()
	}
	return s
}

func (v *Tester) openStdin() (io.ReadCloser, error) {
	if f, ok := v.Console.In.(*os.File); ok { // the size of a pipe can be set at either end
		console.Widen(f)
	}
	return io.NopCloser(v.Console.In), nil
}

// Another goroutine can close sourceLines during a read.
type sourceLines struct {
	ahead  []byte // read by the method more, but not yet by Read
	err    error  // of the last read of the method more
	file   io.ReadCloser
	plain  io.ReadCloser // the decompressed file
	closed atomic.Bool
}

func (l *sourceLines) Read(b []byte) (n int, err error) {
	switch {
	case l.closed.Load():
		return 0, os.ErrClosed
	case len(l.ahead) > 0:
		n = copy(b, l.ahead)
		l.ahead = l.ahead[n:]
		return n, nil
	case l.err != nil:
		return 0, l.err
	}
	return l.plain.Read(b)
}

// more waits for what comes next, and reads it ahead. It returns false at the end.
func (l *sourceLines) more() bool {
	const size = 64 << 10
	n := len(l.ahead)
	l.ahead = slices.Grow(l.ahead, size)
	got, err := l.plain.Read(l.ahead[n : n+size])
	l.ahead, l.err = l.ahead[:n+got], err
	return err == nil
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

const (
	// The method guess reads at most head bytes, or longHead bytes if the IDs begin like IDs of
	// several formats.
	head     = 64 << 10
	longHead = 4 << 20
)

func (s *source) read() (*sourceLines, error) {
	if in := s.opened; in != nil {
		s.opened = nil
		return in, nil
	}
	file, err := s.in.Open()
	if err != nil {
		return nil, err
	}
	plain, err := input.Plain(file)
	if err != nil {
		file.Close()
		return nil, input.Fault(s.in.Name, err)
	}
	return &sourceLines{file: file, plain: plain}, nil
}

// guess guesses the format. It does not wait for more lines than it needs. The next call of read
// returns all lines.
func (s *source) guess() (g verify.Guess, err error) {
	in, err := s.read()
	if err != nil {
		return g, err
	}
	s.opened = in
	for tried, done := 0, false; !done; {
		done = !in.more()
		lines := in.ahead
		if end := bytes.LastIndexByte(lines, '\n') + 1; !done && (end > 0 || len(lines) < head) {
			lines = lines[:end]
		}
		s.empty = len(in.ahead) == 0
		if done = done || len(in.ahead) >= longHead; !done && len(lines) < 2*tried {
			continue
		}
		g, tried = verify.Detect(lines), len(lines)
		done = done || g.Format != "" && !g.Open || g.Format == "" && len(in.ahead) >= head
	}
	return g, nil
}

// formatOf guesses the format of sources. If any format of integers will do, anyOf is true.
func formatOf(ctx context.Context, anyOf bool, sources ...*source) (string, error) {
	var failed verify.Guess
	for _, s := range sources {
		var g verify.Guess
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			g, err = s.guess()
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
		switch {
		case err != nil || g.Format != "":
			return g.Format, err
		case anyOf && g.Integers:
			return g.Nearest[0], nil
		}
		if failed.Nearest == nil && !s.empty {
			failed = g
		}
	}
	if !slices.ContainsFunc(sources, func(s *source) bool { return !s.empty }) {
		return "", noIDs(sources[0])
	}
	what := "the sources"
	if len(sources) == 1 {
		what = sources[0].in.Name
	}
	return "", console.UsageErrorf("cannot guess the format of %s: %s; name the format "+
		"before the files, as in \"sortid verify %s\"", what, failed.Reason, failed.Nearest[0])
}

func noIDs(s *source) error {
	return console.UsageErrorf("%s is empty, so there is no ID to check; "+
		"pipe a generator's output into sortid verify, name a file of IDs, "+
		"or start a generator with --exec COMMAND", s.in.Name)
}
