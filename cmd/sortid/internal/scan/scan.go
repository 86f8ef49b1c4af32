// Package scan finds IDs in files and prints what it finds.
package scan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/decompress"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/finder"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/cmd/sortid/internal/lines"
	"github.com/sortid/sortid/format"
)

// bufferSize is how much of a file is in memory at a time. Longer lines are scanned in parts.
const bufferSize = 256 << 10

// Options say what to look for, and what to print.
type Options struct {
	Formats []*format.Format // all that can be told from other text, if there are none
	Output  string           // annotate, lines, ids or json
	From    time.Time        // the first time of IDs that count; zero: any
	To      time.Time        // the first time after that; zero: any
}

// A scan looks for IDs in files.
type scan struct {
	*console.Console
	finder        *finder.Finder
	now           time.Time
	given         bool // whether a single format was named
	output        string
	from, to      int64  // Unix milliseconds
	before, after string // the time in annotations
	progress      *console.Progress
	read          uint64 // bytes, of all files

	file  string
	line  int   // the number of the line under way
	start int64 // where it begins in the file
	found bool
	out   []byte
	day   int64 // of the last time written, in days since 1970
	date  []byte
}

// newScan returns a scan that starts now.
func newScan(c *console.Console, o Options, now time.Time) *scan {
	s := &scan{
		Console: c, finder: finder.New(now, o.Formats...), now: now, given: len(o.Formats) == 1,
		output: o.Output,
		to:     math.MaxInt64, before: " [", after: "]", day: -1,
		out: make([]byte, 0, 2*bufferSize),
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

// Run scans files, or standard input, and says how it went.
func Run(c *console.Console, o Options, files []string) error {
	return newScan(c, o, time.Now()).run(files)
}

func (s *scan) run(args []string) error {
	if len(args) == 0 {
		args = []string{"-"}
	}
	total := int64(0)
	for _, name := range args {
		size := console.SizeOf(s.In)
		if name != "-" {
			size = -1
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				size = info.Size()
			}
		}
		if size < 0 {
			total = -1
			break
		}
		total += size
	}
	if !s.OutTerminal {
		s.progress = s.NewProgress("bytes", total)
	}
	buf := make([]byte, bufferSize+finder.Context)
	trouble := false
	for _, name := range args {
		err := s.open(name, buf)
		var failed writeError
		switch {
		case errors.As(err, &failed):
			s.progress.End()
			if exit.ClosedPipe(err) {
				return err
			}
			s.Complain("%v", failed.error)
			return exit.ErrTrouble
		case errors.Is(err, errBinary):
			if !s.Quiet {
				s.progress.End()
				s.Complain("%v", err)
			}
		case err != nil:
			s.progress.End()
			s.Complain("%v", err)
			trouble = true
		}
	}
	s.progress.End()
	switch {
	case trouble:
		return exit.ErrTrouble
	case !s.found:
		return exit.ErrReported
	}
	return nil
}

// A writeError is one of standard output.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

func (s *scan) open(name string, buf []byte) error {
	in := s.In
	s.file = "standard input"
	if name == "-" {
		if s.InTerminal && !s.Quiet {
			fmt.Fprintln(s.Err, "sortid: reading text from the terminal; Ctrl-D ends")
		}
	} else {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in, s.file = f, name
	}
	r, err := decompress.NewReader(&progressReader{in, s})
	if err == nil {
		err = s.scan(r, buf)
	}
	if err != nil && !errors.As(err, new(writeError)) {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err
		}
		return fmt.Errorf("%s: %w", s.file, err)
	}
	return err
}

// A progressReader shows how much was read.
type progressReader struct {
	io.Reader
	scan *scan
}

func (r *progressReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.scan.read += uint64(n)
	r.scan.progress.Show(r.scan.read)
	return n, err
}

// scan scans a file, part by part. A part ends at the end of a line, if the buffer has one, so
// that no line waits for the next. The bytes before a part stay in the buffer, as context.
func (s *scan) scan(r io.Reader, buf []byte) error {
	s.line, s.start = 1, 0
	context, n := 0, 0 // buf[:context] is context, buf[context:n] still to be scanned
	offset := int64(0) // of buf[0] in the file
	for first := true; ; first = false {
		m, err := r.Read(buf[n:])
		if first {
			if err := s.check(buf[:m]); err != nil {
				return err
			}
		}
		end := n + m
		if err == nil {
			end = s.cut(buf[:n+m], n, context)
		}
		n += m
		if end > context {
			s.part(buf[:end], context, offset)
			if _, err := s.Out.Write(s.out); err != nil {
				return writeError{err}
			}
			s.out = s.out[:0]
			keep := max(0, end-finder.Context)
			n = copy(buf, buf[keep:n])
			context, offset = end-keep, offset+int64(keep)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// cut returns where the part to scan ends: at the last end of a line or, if the full buffer
// has none, of a word. After context, text[:old] has no end of a line.
func (s *scan) cut(text []byte, old, context int) int {
	if i := bytes.LastIndexByte(text[old:], '\n'); i >= 0 {
		return old + i + 1
	}
	if len(text) < bufferSize {
		return context
	}
	for i := len(text); i > max(context, len(text)-4096); i-- {
		if !finder.InWord(text[i-1]) {
			return i
		}
	}
	return len(text)
}

// check returns an error for a file that is no text.
func (s *scan) check(head []byte) error {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return lines.ErrUTF16
	case bytes.IndexByte(head, 0) >= 0:
		return errBinary
	}
	return nil
}

var errBinary = errors.New("binary file, skipped")

// part scans text[from:], and appends what is to be printed. The text begins at the offset
// in the file.
func (s *scan) part(text []byte, from int, offset int64) {
	done := from    // printed so far
	counted := from // lines counted so far
	s.finder.Find(text, from, func(m finder.Match) {
		ms := m.ID.Milli()
		if ms < s.from || ms >= s.to {
			return
		}
		s.found = true
		switch s.output {
		case "annotate":
			if !m.ID.HasTime() {
				return
			}
			s.out = append(s.out, text[done:m.End]...)
			s.out = append(s.out, s.before...)
			s.out = s.appendTime(s.out, ms)
			s.out = append(s.out, s.after...)
			done = m.End
			return
		case "lines":
			if m.Start < done { // in a line that is printed already
				return
			}
			start := max(from, bytes.LastIndexByte(text[:m.Start], '\n')+1)
			done = len(text)
			if i := bytes.IndexByte(text[m.End:], '\n'); i >= 0 {
				done = m.End + i + 1
			}
			s.out = append(s.out, text[start:done]...)
			if text[done-1] != '\n' {
				s.out = append(s.out, '\n')
			}
			return
		}
		s.count(text[counted:m.Start], offset+int64(counted))
		counted = m.Start
		column := offset + int64(m.Start) - s.start + 1
		if s.output == "ids" {
			s.appendID(m, text, column)
		} else {
			s.appendJSON(m, string(text[m.Start:m.End]), m.Prefix(text), column)
		}
	})
	switch s.output {
	case "annotate":
		s.out = append(s.out, text[done:]...)
	case "ids", "json":
		s.count(text[counted:], offset+int64(counted))
	}
}

// count counts the ends of lines in a text at the offset.
func (s *scan) count(text []byte, offset int64) {
	if n := bytes.Count(text, []byte{'\n'}); n > 0 {
		s.line += n
		s.start = offset + int64(bytes.LastIndexByte(text, '\n')) + 1
	}
}

func (s *scan) appendID(m finder.Match, text []byte, column int64) {
	found := inspect.Guess{Candidate: format.Candidate{ID: m.ID, Encoding: m.Encoding}}
	b := append(s.out, s.file...)
	b = strconv.AppendInt(append(b, ':'), int64(s.line), 10)
	b = strconv.AppendInt(append(b, ':'), column, 10)
	b = append(append(b, '\t'), found.Name()...)
	b = append(b, '\t')
	if m.ID.HasTime() {
		b = s.appendTime(b, m.ID.Milli())
	} else {
		b = append(b, '-')
	}
	b = append(append(b, '\t'), text[m.Start:m.End]...)
	s.out = append(b, '\n')
}

// appendJSON appends the ID's JSON with its place.
func (s *scan) appendJSON(m finder.Match, text, prefix string, column int64) {
	r := inspect.Found(m.ID, m.Encoding, text, s.given, s.now)
	o := r.Object()
	o.Prefix = prefix
	o.File, o.Line, o.Column = s.file, s.line, column
	b, err := o.AppendJSON(s.out)
	if err != nil {
		panic(err) // strings and numbers can always be written
	}
	s.out = append(b, '\n')
}

// appendTime appends a time as [format.FormatTime] writes it. Log lines in a row mostly have
// one date, so it formats the date once.
func (s *scan) appendTime(b []byte, ms int64) []byte {
	const perDay = 24 * 60 * 60 * 1000
	if day := ms / perDay; day != s.day {
		s.day, s.date = day, time.UnixMilli(ms).UTC().AppendFormat(s.date[:0], "2006-01-02T")
	}
	b = append(b, s.date...)
	t := int(ms % perDay)
	two := func(n int, after byte) { b = append(b, byte('0'+n/10), byte('0'+n%10), after) }
	two(t/3_600_000, ':')
	two(t/60_000%60, ':')
	two(t/1000%60, '.')
	two(t%1000/10, byte('0'+t%10))
	return append(b, 'Z')
}
