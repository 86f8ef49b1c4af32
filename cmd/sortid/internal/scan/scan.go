package scan

import (
	"errors"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/input"
	"github.com/sortid/sortid/cmd/sortid/internal/judge"
	"github.com/sortid/sortid/cmd/sortid/internal/ordered"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
)

type Options struct {
	Formats []*format.Format // none: formats whose IDs are easy to tell from other text
	Output  Output
	From    time.Time // the first time; zero: any
	To      time.Time // the first time after the range; zero: any

	Recursive bool     // Read the files in folders.
	Include   []string // Patterns of file names; none: all.
	Names     *bool    // Lines begin with the file's name; nil: if there are several files.
	Numbers   bool     // Lines begin with their number.
	Binary    bool     // Read binary files as if they were text.

	// For Lines.
	Invert        bool // The lines without IDs.
	Before, After int  // How many lines to print before and after each line.
}

type Output string

const (
	Annotate Output = "annotate" // All lines, with the times.
	Lines    Output = "lines"    // The lines with IDs.
	Only     Output = "only"     // The IDs.
	IDs      Output = "ids"      // Where IDs are, their formats and times.
	JSON     Output = "json"     // Everything about each ID.
	Count    Output = "count"    // The number of lines with IDs.
	Files    Output = "files"    // The names of files with IDs.
)

type scan struct {
	files         *files
	options       Options
	finder        *finder
	output        output
	now           time.Time
	names         bool   // lines begin with the file's name
	from, to      int64  // Unix milliseconds
	before, after string // around the time in annotations
	workers       []*worker

	// What was printed so far. All other members do not change, so workers share them.
	judge    judge.Judge
	midLine  bool // Whether the last annotated line has no end yet.
	counted  int  // The last line that was counted.
	matching int  // How many lines of the file have IDs.
	found    bool
	selection
	out []byte
}

func newScan(c *console.Console, o Options, now time.Time) *scan {
	s := &scan{
		files: newFiles(c), options: o, finder: newFinder(now, spec.OfAll(o.Formats)...), now: now,
		names: o.Names != nil && *o.Names || o.Names == nil && o.Output == IDs,
		to:    math.MaxInt64, before: " [", after: "]",
	}
	s.options.Numbers = o.Numbers || o.Output == IDs
	s.output = outputOf(&s.options)
	s.files.binary = o.Binary
	if o.Output == Lines {
		s.files.limit = longestLine
	}
	if !o.From.IsZero() {
		s.from = o.From.UnixMilli()
	}
	if !o.To.IsZero() {
		s.to = o.To.UnixMilli()
	}
	if c.Colours {
		s.before, s.after = " \x1b[2m[", "]\x1b[0m"
	}
	return s
}

// Run scans files, or standard input. Its error has the exit code that grep would return.
func Run(c *console.Console, o Options, files []string) error {
	if len(files) == 0 {
		files = []string{stdin}
		if o.Recursive {
			files[0] = "."
		}
	}
	if o.Names == nil && o.Output != IDs {
		several := len(files) > 1 || o.Recursive && slices.ContainsFunc(files, isFolder)
		o.Names = &several
	}
	return newScan(c, o, time.Now()).run(files)
}

// Files are searched at the same time, and the blocks of a large file, too. The results are printed
// in order.
func (s *scan) run(names []string) error {
	if !s.files.console.OutTerminal {
		s.files.begin(names)
	}
	next, _ := iter.Pull(walk(names, s.options.Recursive, s.options.Include))
	workers := make([]*fileWorker, ordered.Workers())
	for i := range workers {
		workers[i] = &fileWorker{worker: s.newWorker()}
	}
	trouble := false
	ended := ordered.Run(workers, func(w *fileWorker) (err error) {
		var ok bool
		if w.place, ok = next(); !ok {
			return io.EOF
		}
		return nil
	}, (*fileWorker).prepare, func(w *fileWorker) error {
		err := s.file(w)
		binary := errors.Is(err, errBinary)
		output := w.walked && errors.Is(err, input.ErrOutput) // nobody has named it
		switch {
		case errors.As(err, new(printError)):
			return err
		case binary && w.walked, (binary || output) && s.files.console.Quiet:
		case output:
			s.files.console.Say("%s: is also the output; skipped", w.place.name)
		case err != nil:
			s.files.console.Say("%v", err)
			trouble = trouble || !binary
		}
		return nil
	})
	s.files.progress.End()
	if console.ClosedPipe(ended) {
		return ended
	}
	noteLeftOut(s.files.console, s.judge.LeftOut)
	switch {
	case ended != nil:
		s.files.console.Say("%v", ended)
		return console.ErrTrouble
	case trouble:
		return console.ErrTrouble
	case !s.found:
		return console.ErrReported
	}
	return nil
}

// file prints what is in a file.
func (s *scan) file(w *fileWorker) error {
	if s.midLine {
		s.out = append(s.out, '\n')
	}
	s.midLine, s.counted, s.matching = false, 0, 0
	s.selection = selection{printed: s.selection.printed, apart: true}
	err := w.err
	if err == nil {
		err = s.blocks(w)
	}
	if w.source != nil {
		w.source.close()
	}
	if s.options.Output == Files && s.matching > 0 {
		s.out = append(append(s.out, w.source.name...), '\n')
		return s.flush()
	}
	if err != nil || s.options.Output != Count {
		return err
	}
	if s.names {
		s.out = append(append(s.out, w.source.name...), ':')
	}
	s.out = append(strconv.AppendInt(s.out, int64(s.matching), 10), '\n')
	return s.flush()
}

// blocks prints the blocks of an open file.
func (s *scan) blocks(w *fileWorker) error {
	if w.source == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	if w.searched {
		if err := s.give(w.worker); err != nil {
			return err
		}
	}
	if err := w.source.begin(); err != nil {
		return err
	}
	if w.source.err == io.EOF {
		return nil
	}
	if s.workers == nil {
		for range ordered.Workers() {
			s.workers = append(s.workers, s.newWorker())
		}
	}
	for _, b := range s.workers {
		b.source = w.source
		b.finder.judge.Follow(&s.judge)
	}
	err := ordered.Run(s.workers, func(w *worker) error { return w.source.next(&w.block) },
		(*worker).search, s.give)
	if errors.Is(err, errEnough) || errors.As(err, new(printError)) {
		s.workers, w.buffer = nil, nil // workers may still use them
	}
	return err
}

// give prints and counts what a worker has found in a block.
func (s *scan) give(w *worker) error {
	for !s.judge.Confirm(&w.finder.judge) {
		w.finder.judge.Follow(&s.judge)
		w.show()
	}
	w.finder.judge.Follow(&s.judge) // for the worker's next block
	defer w.release()
	s.files.progress.Show(s.files.read.Load())
	if w.cut {
		s.files.console.Say("%s: a line is longer than 8 MiB; each of its parts counts as a line",
			w.source.name)
	}
	if w.firstMatch > 0 && w.firstMatch == s.counted { // the block before has counted this line
		w.matching--
	}
	if w.lastMatch > 0 {
		s.counted = w.lastMatch
	}
	s.matching += w.matching
	s.found = s.found || w.found
	s.midLine = w.midLine && s.options.Output == Annotate
	if s.options.Output == Files && s.matching > 0 {
		return errEnough
	}
	if s.options.selects() {
		s.selectLines(w)
	}
	if err := s.flush(); err != nil {
		return err
	}
	return s.print(w.out)
}

// errEnough ends the reading of a file.
var errEnough = errors.New("the rest of the file does not matter")

// flush prints s.out.
func (s *scan) flush() error {
	err := s.print(s.out)
	s.out = s.out[:0]
	return err
}

func (s *scan) print(b []byte) error {
	if err := s.files.console.WriteBlock(b); err != nil {
		return printError{err}
	}
	return nil
}

// A printError comes from printing, not from reading.
type printError struct{ error }

func (e printError) Unwrap() error { return e.error }
