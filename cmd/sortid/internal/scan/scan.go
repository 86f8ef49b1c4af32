// Package scan finds IDs in files, and prints them or sorts lines by them.
package scan

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
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
	now           time.Time
	names         bool   // lines begin with the file's name
	from, to      int64  // Unix milliseconds
	before, after string // around the time in annotations

	line    int   // The number of the current line.
	start   int64 // The current line's offset in the file.
	midLine bool  // Whether the last annotated line has no end yet.
	counted int
	selection
	matching int // How many lines of the file have IDs.
	found    bool
	out      []byte
}

func newScan(c *console.Console, o Options, now time.Time) *scan {
	s := &scan{
		files: newFiles(c), options: o, finder: newFinder(now, o.Formats...), now: now,
		names: o.Names != nil && *o.Names || o.Names == nil && o.Output == IDs,
		to:    math.MaxInt64, before: " [", after: "]",
		out: make([]byte, 0, 2*bufferSize),
	}
	s.options.Numbers = o.Numbers || o.Output == IDs
	s.files.part, s.files.binary = s.write, o.Binary
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

func (s *scan) run(names []string) error {
	if !s.files.console.OutTerminal {
		s.files.begin(names)
	}
	trouble := false
	var ended error
	s.files.walk(names, s.options.Recursive, s.options.Include, func(name string, err error) {
		if ended != nil {
			return
		}
		if err == nil {
			err = s.file(name)
		}
		binary := errors.Is(err, errBinary)
		switch {
		case errors.As(err, new(partError)):
			ended = err
		case err != nil && !(binary && (s.files.console.Quiet || s.files.walked)):
			s.files.console.Say("%v", err)
			trouble = trouble || !binary
		}
	})
	s.files.progress.End()
	switch {
	case console.ClosedPipe(ended):
		return ended
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

func (s *scan) file(name string) error {
	if s.midLine {
		s.out = append(s.out, '\n')
	}
	s.line, s.start, s.midLine, s.counted, s.matching = 1, 0, false, 0, 0
	s.selection = selection{printed: s.selection.printed, apart: true}
	err := s.files.open(name)
	if s.options.Output == Files && s.matching > 0 {
		s.out = append(append(s.out, s.files.name...), '\n')
		return s.flush()
	}
	if err != nil || s.options.Output != Count {
		return err
	}
	s.options.Numbers = false
	s.beginLine()
	s.out = append(strconv.AppendInt(s.out, int64(s.matching), 10), '\n')
	return s.flush()
}

func (s *scan) write(text []byte, from int, offset int64) error {
	s.scanPart(text, from, offset)
	if s.options.Output == Files && s.matching > 0 {
		return errEnough
	}
	return s.flush()
}

// errEnough ends the reading of a file.
var errEnough = errors.New("the rest of the file does not matter")

func (s *scan) flush() error {
	err := s.files.console.WriteBlock(s.out)
	s.out = s.out[:0]
	if err != nil {
		return partError{err}
	}
	return nil
}

// scanPart scans text[from:]. The parameter offset is where the text begins in the file.
func (s *scan) scanPart(text []byte, from int, offset int64) {
	done := from    // text[:done] is printed
	counted := from // lines in text[:counted] are counted
	s.finder.find(text, from, func(m match) {
		t, ms := m.ID.Time(), int64(0)
		if !t.IsZero() {
			ms = t.UnixMilli()
		}
		if ms < s.from || ms >= s.to {
			return
		}
		if s.options.selects() {
			s.note(text, from, m.Start)
			return
		}
		s.found = true
		switch s.options.Output {
		case Files:
			s.matching++
			return
		case Annotate:
			if !t.IsZero() {
				s.copy(text[done:m.End])
				s.out = append(s.out, s.before...)
				s.out = words.AppendTime(s.out, t)
				s.out = append(s.out, s.after...)
				done = m.End
			}
			return
		case Lines:
			if m.Start < done { // its line is already printed
				return
			}
		}
		if s.options.Output != Lines || s.options.Numbers {
			s.count(text[counted:m.Start], offset+int64(counted))
			counted = m.Start
		}
		switch s.options.Output {
		case Lines:
			start := max(from, bytes.LastIndexByte(text[:m.Start], '\n')+1)
			done = len(text)
			if i := bytes.IndexByte(text[m.End:], '\n'); i >= 0 {
				done = m.End + i + 1
			}
			s.beginLine()
			s.out = append(s.out, text[start:done]...)
			if text[done-1] != '\n' {
				s.out = append(s.out, '\n')
			}
		case Only:
			s.beginLine()
			s.out = append(append(s.out, text[m.Start:m.End]...), '\n')
		case Count:
			if s.line != s.counted {
				s.matching, s.counted = s.matching+1, s.line
			}
		case IDs:
			s.appendID(m, text, offset+int64(m.Start)-s.start+1)
		case JSON:
			s.appendJSON(m, text, offset+int64(m.Start)-s.start+1)
		}
	})
	if s.options.selects() {
		s.selectLines(text, from)
	} else if s.options.Output == Annotate {
		s.copy(text[done:])
	} else if s.options.Output != Lines || s.options.Numbers {
		s.count(text[counted:], offset+int64(counted))
	}
}

// beginLine appends the file's name and the line's number, if wanted.
func (s *scan) beginLine() {
	if s.names {
		s.out = append(append(s.out, s.files.name...), ':')
	}
	if s.options.Numbers {
		s.out = append(strconv.AppendInt(s.out, int64(s.line), 10), ':')
	}
}

// copy appends a text. At the start of each line it calls beginLine.
func (s *scan) copy(text []byte) {
	if n := len(text); !s.names && !s.options.Numbers && n > 0 {
		s.out = append(s.out, text...)
		s.midLine = text[n-1] != '\n'
		return
	}
	for line := range bytes.Lines(text) {
		if !s.midLine {
			s.beginLine()
		}
		s.out = append(s.out, line...)
		if s.midLine = line[len(line)-1] != '\n'; !s.midLine {
			s.line++
		}
	}
}

func (s *scan) count(text []byte, offset int64) {
	if n := bytes.Count(text, []byte{'\n'}); n > 0 {
		s.line += n
		s.start = offset + int64(bytes.LastIndexByte(text, '\n')) + 1
	}
}

func (s *scan) appendID(m match, text []byte, column int64) {
	found := inspect.Guess{Candidate: format.Candidate{ID: m.ID, Encoding: m.Encoding}}
	s.beginLine()
	b := strconv.AppendInt(s.out, column, 10)
	b = append(append(b, '\t'), found.Name()...)
	b = append(b, '\t')
	if t := m.ID.Time(); !t.IsZero() {
		b = words.AppendTime(b, t)
	} else {
		b = append(b, '-')
	}
	b = append(append(b, '\t'), text[m.Start:m.End]...)
	s.out = append(b, '\n')
}

func (s *scan) appendJSON(m match, text []byte, column int64) {
	r := inspect.Found(m.ID, m.Encoding, string(text[m.Start:m.End]), len(s.options.Formats) == 1,
		s.now)
	r.Prefix = m.prefix(text)
	at := inspect.Place{File: s.files.name, Line: s.line, Column: column}
	s.out = append(r.AppendJSON(s.out, &at), '\n')
}
