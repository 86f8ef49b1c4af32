package scan

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/input"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
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
	output        output
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
		files: newFiles(c), options: o, finder: newFinder(now, spec.OfAll(o.Formats)...), now: now,
		names: o.Names != nil && *o.Names || o.Names == nil && o.Output == IDs,
		to:    math.MaxInt64, before: " [", after: "]",
		out: make([]byte, 0, 2*bufferSize),
	}
	s.options.Numbers = o.Numbers || o.Output == IDs
	s.output = s.outputOf(&s.options)
	s.files.part, s.files.binary = s.write, o.Binary
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
		binary, walked := errors.Is(err, errBinary), s.files.walked
		output := walked && errors.Is(err, input.ErrOutput) // nobody has named it
		switch {
		case errors.As(err, new(partError)):
			ended = err
		case binary && walked, (binary || output) && s.files.console.Quiet:
		case output:
			s.files.console.Say("%s: is also the output; skipped", name)
		case err != nil:
			s.files.console.Say("%v", err)
			trouble = trouble || !binary
		}
	})
	s.files.progress.End()
	if console.ClosedPipe(ended) {
		return ended
	}
	s.finder.noteLeftOut(s.files.console)
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
	s.scanPart(&part{text: view(text), from: from, offset: offset, done: from, counted: from})
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

// A part is a part of a file: text[from:]. text[:from] is context.
type part struct {
	text   string
	from   int
	offset int64 // where the text begins in the file

	done    int // text[:done] is printed
	counted int // the lines in text[:counted] are counted
}

// An output has the steps that print a part.
type output struct {
	id  func(*part, match) // for each ID in the time range
	end func(*part)        // after the last ID; it may be nil
}

// outputOf returns the steps for the options.
func (s *scan) outputOf(o *Options) output {
	if o.selects() {
		return output{s.note, s.selectLines}
	}
	switch o.Output {
	case Files:
		return output{id: func(*part, match) { s.found, s.matching = true, s.matching+1 }}
	case Annotate:
		return output{s.annotate, func(p *part) { s.copy(p.text[p.done:]) }}
	case Lines:
		return output{s.appendLineOf, func(p *part) {
			if s.options.Numbers {
				s.count(p, len(p.text))
			}
		}}
	}
	return output{s.appendMatch, func(p *part) { s.count(p, len(p.text)) }}
}

// scanPart prints a part.
func (s *scan) scanPart(p *part) {
	for m := range s.finder.find(p.text, p.from) {
		ms := int64(0)
		if m.timed != nil {
			ms = m.milli()
		}
		if s.from <= ms && ms < s.to {
			s.output.id(p, m)
		}
	}
	if s.output.end != nil {
		s.output.end(p)
	}
}

// annotate prints the text up to an ID, and then the ID's time.
func (s *scan) annotate(p *part, m match) {
	s.found = true
	if m.timed == nil {
		return
	}
	s.copy(p.text[p.done:m.End])
	s.out = append(s.out, s.before...)
	s.out = words.AppendTime(s.out, m.time())
	s.out = append(s.out, s.after...)
	p.done = m.End
}

// appendLineOf prints the line of an ID, once.
func (s *scan) appendLineOf(p *part, m match) {
	s.found = true
	if m.Start < p.done {
		return
	}
	if s.options.Numbers {
		s.count(p, m.Start)
	}
	start := max(p.from, strings.LastIndexByte(p.text[:m.Start], '\n')+1)
	p.done = len(p.text)
	if i := strings.IndexByte(p.text[m.End:], '\n'); i >= 0 {
		p.done = m.End + i + 1
	}
	s.beginLine()
	s.out = append(s.out, p.text[start:p.done]...)
	if p.text[p.done-1] != '\n' {
		s.out = append(s.out, '\n')
	}
}

// appendMatch prints an ID, or counts its line.
func (s *scan) appendMatch(p *part, m match) {
	s.found = true
	s.count(p, m.Start)
	column := p.offset + int64(m.Start) - s.start + 1
	switch s.options.Output {
	case Only:
		s.beginLine()
		s.out = append(append(s.out, p.text[m.Start:m.End]...), '\n')
	case Count:
		if s.line != s.counted {
			s.matching, s.counted = s.matching+1, s.line
		}
	case IDs:
		s.appendID(m, p.text, column)
	case JSON:
		s.appendJSON(m, p.text, column)
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
func (s *scan) copy(text string) {
	if n := len(text); !s.names && !s.options.Numbers && n > 0 {
		s.out = append(s.out, text...)
		s.midLine = text[n-1] != '\n'
		return
	}
	for line := range strings.Lines(text) {
		if !s.midLine {
			s.beginLine()
		}
		s.out = append(s.out, line...)
		if s.midLine = line[len(line)-1] != '\n'; !s.midLine {
			s.line++
		}
	}
}

// count counts the lines of a part up to an offset.
func (s *scan) count(p *part, end int) {
	text := p.text[p.counted:end]
	if n := strings.Count(text, "\n"); n > 0 {
		s.line += n
		s.start = p.offset + int64(p.counted+strings.LastIndexByte(text, '\n')) + 1
	}
	p.counted = end
}

func (s *scan) appendID(m match, text string, column int64) {
	s.beginLine()
	b := strconv.AppendInt(s.out, column, 10)
	b = append(append(b, '\t'), m.Format.Name...)
	b = append(b, '\t')
	if m.timed != nil {
		b = words.AppendTime(b, m.time())
	} else {
		b = append(b, '-')
	}
	b = append(append(b, '\t'), text[m.Start:m.End]...)
	s.out = append(b, '\n')
}

func (s *scan) appendJSON(m match, text string, column int64) {
	id, err := (*format.Format)(m.Format.Opaque()).FromWords(m.Words.Array())
	if err != nil {
		panic(err) // a bug: the finder has parsed the ID
	}
	r := inspect.Found(id, format.Encoding(m.Encoding), text[m.Start:m.End], len(s.options.Formats) == 1,
		s.now)
	r.Prefix = m.prefix(text)
	at := inspect.Place{File: s.files.name, Line: s.line, Column: column}
	s.out = append(r.AppendJSON(s.out, &at), '\n')
}
