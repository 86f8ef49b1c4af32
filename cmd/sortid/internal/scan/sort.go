package scan

import (
	"bufio"
	"bytes"
	"errors"
	"math/bits"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/judge"
	"github.com/sortid/sortid/cmd/sortid/internal/ordered"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/extsort"
	"github.com/sortid/sortid/internal/spec"
)

type SortOptions struct {
	Formats []*format.Format // as in Options
	Reverse bool             // the latest time first
	Dir     string           // for temporary files; empty: the system's
	Memory  int              // in bytes; 0: sortMemory
}

const (
	sortMemory = 80 << 20
	// pieceSize limits a record. A longer line becomes several records.
	pieceSize = 64 << 10
)

// A sorting sorts records: lines, or pieces of long lines. The key is the time and the record's
// number, so lines with the same time keep their order.
type sorting struct {
	files   *files
	reverse bool
	workers []*sortWorker
	judge   judge.Judge
	sorter  extsort.Sorter

	time    [2]uint64 // of the last line
	records uint64
	ids     uint64 // number of lines with IDs
	midLine bool   // the last line has no end yet
}

// A sortWorker finds the lines with IDs in a block.
type sortWorker struct {
	finder finder
	block
	starts []int // where lines with IDs start
	times  [][2]uint64
}

// Sort prints lines of files, or of standard input, by the times of their IDs. If a file cannot be
// read to its end, Sort prints what it has read, and returns an error. If a file cannot be opened, it
// prints nothing.
func Sort(c *console.Console, o SortOptions, names []string) error {
	if len(names) == 0 {
		names = []string{stdin}
	}
	ctx, stop := console.UntilSignal()
	defer stop()
	dir := &extsort.Dir{Parent: o.Dir}
	s := &sorting{files: newFiles(c), reverse: o.Reverse,
		sorter: extsort.Sorter{Context: ctx, Dir: dir, Memory: o.Memory}}
	finder := newFinder(time.Now(), spec.OfAll(o.Formats)...)
	for range ordered.Workers() {
		s.workers = append(s.workers, &sortWorker{finder: *finder})
	}
	if o.Memory == 0 {
		s.sorter.Memory = sortMemory
	}
	s.files.binary = true
	// A signal does not interrupt a read of a terminal or pipe. So Sort does not wait for the read.
	done := make(chan error, 1)
	go func() { done <- s.run(names) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = console.Cause(ctx, ctx.Err())
	}
	dir.Close()
	return console.Cause(ctx, err)
}

func (s *sorting) run(names []string) error {
	s.files.begin(names)
	trouble := false
	for _, name := range names {
		s.time = [2]uint64{}
		switch err := s.file(name); {
		case errors.As(err, new(readError)): // such as a gzip file that is cut short
			s.files.console.Say("%v", err)
			trouble = true
		case err != nil:
			s.files.progress.End()
			return err
		}
		if s.midLine {
			if err := s.record([]byte{'\n'}); err != nil {
				s.files.progress.End()
				return err
			}
			s.midLine = false
		}
	}
	s.files.progress.End()
	noteLeftOut(s.files.console, s.judge.LeftOut)
	if s.ids == 0 && s.records > 0 && !s.files.console.Quiet {
		s.files.console.Say("no line has an ID, so all lines keep their order")
	}
	err := s.merge()
	if err == nil && trouble {
		err = console.ErrReported
	}
	return err
}

func (s *sorting) file(name string) error {
	source, err := s.files.open(name, nil)
	if err != nil {
		return err
	}
	defer source.close()
	if err := source.begin(); err != nil {
		return err
	}
	for _, w := range s.workers {
		w.finder.judge.Follow(&s.judge)
	}
	return ordered.Run(s.workers, func(w *sortWorker) error { return source.next(&w.block) },
		func(w *sortWorker) {
			w.finder.search(w.text, w.from)
			s.find(w)
		},
		func(w *sortWorker) error {
			for !s.judge.Confirm(&w.finder.judge) {
				w.finder.judge.Follow(&s.judge)
				s.find(w)
			}
			w.finder.judge.Follow(&s.judge)
			defer source.release(&w.block)
			return s.add(w)
		})
}

// find finds the lines with IDs in a block that was searched. A line has the time of its first ID.
func (s *sorting) find(w *sortWorker) {
	w.starts, w.times = w.starts[:0], w.times[:0]
	line, seen := w.from, w.from // the line that contains text[seen]
	for m := range w.finder.judged {
		if i := strings.LastIndexByte(w.text[seen:m.Start], '\n'); i >= 0 {
			line = seen + i + 1
		}
		seen = m.Start
		n := len(w.starts)
		if m.timed != nil && (n == 0 || w.starts[n-1] != line) {
			w.starts, w.times = append(w.starts, line), append(w.times, s.key(m.time()))
		}
	}
}

// add adds the lines of a block. A line without an ID has the time of the line before it. A
// byte-order mark is no part of the first line: it stays at the start of the output.
func (s *sorting) add(w *sortWorker) error {
	text := w.buf[:len(w.text)]
	next, skip := 0, 0
	if mark := "\ufeff"; w.from == 0 && w.offset == 0 && strings.HasPrefix(w.text, mark) {
		skip = len(mark)
		if s.records == 0 {
			if err := s.record(text[:skip]); err != nil {
				return err
			}
		}
	}
	for start := w.from; start < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		if next < len(w.starts) && w.starts[next] == start {
			if !s.midLine {
				s.time = w.times[next]
				s.ids++
			}
			next++
		}
		start, skip = start+skip, 0
		for ; start < end; start += min(pieceSize, end-start) {
			if err := s.record(text[start:min(end, start+pieceSize)]); err != nil {
				return err
			}
		}
		s.midLine = text[end-1] != '\n'
	}
	return nil
}

// key returns a time as a key: nanoseconds since the year 1, plus 1. Lines before a file's
// first ID have the key 0.
func (s *sorting) key(t time.Time) [2]uint64 {
	seconds := uint64(t.Unix() - time.Time{}.Unix())
	high, low := bits.Mul64(seconds, 1e9)
	low, carry := bits.Add64(low, uint64(t.Nanosecond())+1, 0)
	high += carry
	if s.reverse {
		high, low = high^(1<<32-1), ^low
	}
	return [2]uint64{high, low}
}

func (s *sorting) record(piece []byte) error {
	s.records++
	return s.sorter.Add(extsort.Key{High: s.time[0], Mid: s.time[1], Low: s.records}, piece)
}

func (s *sorting) merge() error {
	runs, err := s.sorter.Finish(extsort.MaxFanIn)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(s.files.console.Out, 64<<10)
	err = extsort.MergeRuns(runs, func(in *extsort.Reader, at int, _ extsort.Key) error {
		_, err := out.Write(in.Payload(at))
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
