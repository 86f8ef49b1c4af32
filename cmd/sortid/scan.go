package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/decompress"
	"github.com/sortid/sortid/cmd/sortid/internal/finder"
	"github.com/sortid/sortid/cmd/sortid/internal/lines"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

func (a *app) scanCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scan [FILE...|-]",
		Short: "find IDs in logs and other text, and show their times",
		Long: `scan finds IDs inside text, such as logs, CSV, JSON and URLs.

With -o annotate every line passes through, with the time in brackets after each
ID. With -o lines only lines with an ID pass, unchanged; with --from and --to only
IDs of that time count. -o ids prints FILE:LINE:COLUMN, format, time and ID, with
tabs between them; -o json what "sortid inspect" does, and file, line and column.
Columns count bytes from 1.

An ID stands by itself: no letter or digit is next to it. It is in its format's
text encoding with letters of one case, a UUID, or a hexadecimal number of full width.
Its check symbols are right and its time is plausible: from 2010 to a year from
now. Hexadecimal numbers count only where nine in ten of their length have such a
time, since hashes look the same. UUIDs of version 7 count, too. uid60, of which
many words are, is looked for only if --format names it.

Files may be compressed with gzip or Zstandard. Binary files are skipped. A line
longer than 256 KiB is taken in parts.

Exit codes, as grep's: 0 if something was found, 1 if not, 2 for trouble.`,
		Example: `  tail -f app.log | sortid scan
  sortid scan --from 2026-11-17 --to 2026-11-18 -o lines app.log.*.gz
  sortid scan -o ids --format scru128,uid60 dump.sql
  sortid scan -o json < events.jsonl | jq -r .time`,
	}
	var given formatsFlag
	cmd.Flags().Var(&given, "format", "the formats to look for, with commas between them (default all but uid60)")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(format.Names(), cobra.ShellCompDirectiveNoFileComp))
	output := choose(cmd, "output", "o", "what to print", "annotate", "annotate", "lines", "ids", "json")
	times := addSpanFlags(cmd, "no end")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		now := time.Now()
		s := &scan{app: a, finder: finder.New(now, given...), output: output.value, to: 1<<63 - 1}
		if len(given) == 1 {
			s.reader.format = given[0]
		}
		r, err := times.read(now, s.reader.format)
		if err != nil {
			return err
		}
		if !r.from.IsZero() {
			s.from = r.from.UnixMilli()
		}
		if !r.to.IsZero() {
			s.to = r.to.UnixMilli()
		}
		if a.colours {
			s.before, s.after = " \x1b[2m[", "]\x1b[0m"
		} else {
			s.before, s.after = " [", "]"
		}
		return s.run(args)
	}
	return cmd
}

// A formatsFlag is a flag that names formats.
type formatsFlag []*format.Format

func (f *formatsFlag) Type() string { return "FORMAT,..." }
func (f *formatsFlag) String() string {
	var b []byte
	for i, s := range *f {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, s.Name...)
	}
	return string(b)
}

func (f *formatsFlag) Set(names string) error {
	for name := range bytes.SplitSeq([]byte(names), []byte(",")) {
		s, err := format.Lookup(string(name))
		if err != nil {
			return err
		}
		if !slices.Contains(*f, s) {
			*f = append(*f, s)
		}
	}
	return nil
}

// scanBuffer is how much of a file is in memory at a time, and the longest line that is
// not taken in parts.
const scanBuffer = 256 << 10

// A scan looks for IDs in files.
type scan struct {
	*app
	finder        *finder.Finder
	reader        reader
	output        string
	from, to      int64  // Unix milliseconds
	before, after string // the time in annotations
	progress      *progress
	read          uint64 // bytes, of all files

	file  string
	line  int   // the number of the line under way
	start int64 // where it begins in the file
	found bool
	out   []byte
	day   int64 // of the last time written, in days since 1970
	date  []byte
}

// run scans the files and says how it went.
func (s *scan) run(args []string) error {
	if len(args) == 0 {
		args = []string{"-"}
	}
	s.day, s.out = -1, make([]byte, 0, 2*scanBuffer)
	total := int64(0)
	for _, name := range args {
		size := sizeOf(s.in)
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
	if !s.outTerminal {
		s.progress = s.newProgress("bytes", total)
	}
	buf := make([]byte, scanBuffer+finder.Context)
	trouble := false
	for _, name := range args {
		err := s.open(name, buf)
		var failed writeError
		switch {
		case errors.As(err, &failed):
			s.progress.end()
			if closedPipe(err) {
				return err
			}
			s.complain("%v", failed.error)
			return errTrouble
		case errors.Is(err, errBinary):
			if !s.quiet {
				s.progress.end()
				s.complain("%v", err)
			}
		case err != nil:
			s.progress.end()
			s.complain("%v", err)
			trouble = true
		}
	}
	s.progress.end()
	switch {
	case trouble:
		return errTrouble
	case !s.found:
		return errReported
	}
	return nil
}

// A writeError is one of standard output.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

func (s *scan) open(name string, buf []byte) error {
	in := s.in
	s.file = "standard input"
	if name == "-" {
		if s.inTerminal && !s.quiet {
			fmt.Fprintln(s.err, "sortid: reading text from the terminal; Ctrl-D ends")
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
	r.scan.progress.show(r.scan.read)
	return n, err
}

// scan scans a file, part by part. A part ends at the end of a line, where there is one in
// the buffer, so that nothing waits for what comes later. The bytes before a part stay in
// the buffer, as context.
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
			if _, err := s.app.out.Write(s.out); err != nil {
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

// cut returns where the part to scan ends, given that text[:old] holds no end of a line
// after context: at the last end of a line, or, if the buffer is full without one, of a word.
func (s *scan) cut(text []byte, old, context int) int {
	if i := bytes.LastIndexByte(text[old:], '\n'); i >= 0 {
		return old + i + 1
	}
	if len(text) < scanBuffer {
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
			s.appendJSON(m, string(text[m.Start:m.End]), column)
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
	found := guess{format.Candidate{ID: m.ID, Encoding: m.Encoding}}
	b := append(s.out, s.file...)
	b = strconv.AppendInt(append(b, ':'), int64(s.line), 10)
	b = strconv.AppendInt(append(b, ':'), column, 10)
	b = append(append(b, '\t'), found.name()...)
	b = s.appendTime(append(b, '\t'), m.ID.Milli())
	b = append(append(b, '\t'), text[m.Start:m.End]...)
	s.out = append(b, '\n')
}

// appendJSON appends what inspect says of the ID, and where it is.
func (s *scan) appendJSON(m finder.Match, text string, column int64) {
	found := guess{format.Candidate{ID: m.ID, Encoding: m.Encoding}}
	r := reading{input: text, now: time.Now(), guess: found, given: s.reader.format != nil}
	if all, err := (&reader{format: s.reader.format}).read(text); err == nil {
		r = all
		if r.Candidate != found.Candidate {
			// inspect puts another reading first.
			others := []guess{r.guess}
			for _, o := range r.others {
				if o.Candidate != found.Candidate {
					others = append(others, o)
				}
			}
			r.guess, r.others = found, others
		}
	}
	b, err := r.appendJSON(s.out)
	if err != nil {
		return
	}
	place, _ := json.Marshal(struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int64  `json:"column"`
	}{s.file, s.line, column})
	s.out = append(append(append(b[:len(b)-1], ','), place[1:]...), '\n')
}

// appendTime appends a time as [format.FormatTime] writes it. Log lines in a row are mostly
// of one day, of which it formats the date once.
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
