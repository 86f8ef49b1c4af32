package scan

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/sortid/sortid/cmd/sortid/internal/input"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
)

// A fileWorker opens files, and searches their first blocks.
type fileWorker struct {
	place
	*worker
	buffer   *bufio.Reader
	err      error // of open
	searched bool  // the first block was searched
}

// prepare opens a file, but not standard input. It also searches the first block, unless reading may
// wait or needs much memory.
func (w *fileWorker) prepare() {
	w.source, w.searched = nil, false
	if w.err = w.place.err; w.err != nil || w.place.name == stdin {
		return
	}
	if w.err = w.open(); w.err != nil || w.source.waits {
		return
	}
	head, err := w.buffer.Peek(input.BufferSize)
	if err == nil && bytes.IndexByte(head, '\n') < 0 || !input.IsPlain(w.buffer) {
		return
	}
	if w.err = w.source.begin(); w.err == nil {
		w.err = w.source.next(&w.block)
	}
	switch w.err {
	case nil:
		w.search()
		w.searched = true
	case io.EOF: // an empty file
		w.err = nil
	}
}

func (w *fileWorker) open() (err error) {
	if w.buffer == nil {
		w.buffer = bufio.NewReaderSize(nil, input.BufferSize)
	}
	w.source, err = w.scan.files.open(w.place.name, w.buffer)
	return err
}

// A worker searches blocks of a file.
type worker struct {
	scan   *scan
	source *source
	finder finder
	block

	done    int   // text[:done] is in out
	counted int   // the lines in text[:counted] are counted
	line    int   // the number of the line that contains text[counted]
	start   int64 // where this line begins in the file

	// What the block has.
	out   []byte
	found bool

	midLine  bool // whether the last annotated line has no end yet
	matching int  // how many lines have IDs

	firstMatch, lastMatch int   // the numbers of the first and the last of these lines, for Count
	matched               []int // where these lines start, in order, if lines are selected
}

func (s *scan) newWorker() *worker {
	w := &worker{scan: s, finder: *s.finder}
	w.finder.judge.Follow(&s.judge)
	return w
}

// An output has the steps that print a block.
type output struct {
	id  func(*worker, *match) // for each ID in the time range
	end func(*worker)         // after the last ID; it may be nil
}

// outputOf returns the steps for the options.
func outputOf(o *Options) output {
	if o.selects() {
		return output{id: (*worker).note}
	}
	switch o.Output {
	case Files:
		return output{id: func(w *worker, _ *match) { w.found, w.matching = true, w.matching+1 }}
	case Annotate:
		return output{(*worker).annotate, func(w *worker) { w.copy(w.text[w.done:]) }}
	case Lines:
		return output{id: (*worker).appendLineOf}
	}
	return output{id: (*worker).appendMatch}
}

// search finds the IDs in the block, and makes the result.
func (w *worker) search() {
	w.finder.search(w.text, w.from)
	w.show()
}

// show makes the result for the IDs in the block, as the finder judges them now.
func (w *worker) show() {
	w.done, w.counted, w.midLine = w.from, w.from, w.from > 0 && w.text[w.from-1] != '\n'
	w.line, w.start = w.block.line, w.block.start
	w.found, w.matching, w.firstMatch, w.lastMatch = false, 0, 0, 0
	w.matched, w.out = w.matched[:0], w.out[:0]
	s := w.scan
	for m := range w.finder.judged {
		ms := int64(0)
		if m.timed != nil {
			ms = m.milli()
		}
		if s.from <= ms && ms < s.to {
			s.output.id(w, m)
		}
	}
	if s.output.end != nil {
		s.output.end(w)
	}
}

// release ends the use of the block and its result.
func (w *worker) release() {
	if w.long {
		w.out = nil
	}
	w.source.release(&w.block)
}

// annotate prints the text up to an ID, and then the ID's time.
func (w *worker) annotate(m *match) {
	w.found = true
	if m.timed == nil {
		return
	}
	w.copy(w.text[w.done:m.End])
	w.out = append(w.out, w.scan.before...)
	w.out = words.AppendTime(w.out, m.time())
	w.out = append(w.out, w.scan.after...)
	w.done = m.End
}

// appendLineOf prints the line of an ID, once.
func (w *worker) appendLineOf(m *match) {
	w.found = true
	if m.Start < w.done {
		return
	}
	if w.scan.options.Numbers {
		w.count(m.Start)
	}
	start := max(w.from, strings.LastIndexByte(w.text[:m.Start], '\n')+1)
	w.done = len(w.text)
	if i := strings.IndexByte(w.text[m.End:], '\n'); i >= 0 {
		w.done = m.End + i + 1
	}
	w.beginLine()
	w.out = append(w.out, w.text[start:w.done]...)
	if w.text[w.done-1] != '\n' {
		w.out = append(w.out, '\n')
	}
}

// appendMatch prints an ID, or counts its line.
func (w *worker) appendMatch(m *match) {
	w.found = true
	only := w.scan.options.Output == Only
	if !only || w.scan.options.Numbers {
		w.count(m.Start)
	}
	column := w.offset + int64(m.Start) - w.start + 1
	switch w.scan.options.Output {
	case Only:
		w.beginLine()
		w.out = append(append(w.out, w.text[m.Start:m.End]...), '\n')
	case Count:
		if w.line != w.lastMatch {
			w.matching, w.lastMatch = w.matching+1, w.line
			w.firstMatch = cmp.Or(w.firstMatch, w.line)
		}
	case IDs:
		w.appendID(m, w.text, column)
	case JSON:
		w.appendJSON(m, w.text, column)
	}
}

// beginLine appends the file's name and the line's number, if wanted.
func (w *worker) beginLine() {
	if w.scan.names {
		w.out = append(append(w.out, w.source.name...), ':')
	}
	if w.scan.options.Numbers {
		w.out = append(strconv.AppendInt(w.out, int64(w.line), 10), ':')
	}
}

// copy appends a text. At the start of each line it calls beginLine.
func (w *worker) copy(text string) {
	if n := len(text); !w.scan.names && !w.scan.options.Numbers && n > 0 {
		w.out = append(w.out, text...)
		w.midLine = text[n-1] != '\n'
		return
	}
	for line := range strings.Lines(text) {
		if !w.midLine {
			w.beginLine()
		}
		w.out = append(w.out, line...)
		if w.midLine = line[len(line)-1] != '\n'; !w.midLine {
			w.line++
		}
	}
}

// count counts the lines of a block up to an offset.
func (w *worker) count(end int) {
	for {
		i := strings.IndexByte(w.text[w.counted:end], '\n')
		if i < 0 {
			break
		}
		w.counted += i + 1
		w.line, w.start = w.line+1, w.offset+int64(w.counted)
	}
	w.counted = end
}

func (w *worker) appendID(m *match, text string, column int64) {
	w.beginLine()
	b := strconv.AppendInt(w.out, column, 10)
	b = append(append(b, '\t'), m.Format.Name...)
	b = append(b, '\t')
	if m.timed != nil {
		b = words.AppendTime(b, m.time())
	} else {
		b = append(b, '-')
	}
	b = append(append(b, '\t'), text[m.Start:m.End]...)
	w.out = append(b, '\n')
}

func (w *worker) appendJSON(m *match, text string, column int64) {
	id, err := (*format.Format)(m.Format.Opaque()).FromWords(m.Words.Array())
	if err != nil {
		panic(err) // a bug: the finder has parsed the ID
	}
	r := inspect.Found(id, format.Encoding(m.Encoding), text[m.Start:m.End], len(w.scan.options.Formats) == 1,
		w.scan.now)
	r.Prefix = m.prefix(text)
	at := inspect.Place{File: w.source.name, Line: w.line, Column: column}
	w.out = append(r.AppendJSON(w.out, &at), '\n')
}
