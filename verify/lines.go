package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/fault"
	"github.com/sortid/sortid/scheme"
)

// Reading is the work of three kinds of goroutines: one fills blocks with whole lines,
// a few turn the lines of a block into IDs, and the caller takes the blocks in their
// order. A block does not leave its circle: the memory is that of the blocks, however long
// the input is.

const (
	blockSize = 256 << 10
	// maxReaders is how many goroutines can be of use: to turn lines into IDs takes less
	// than this many times as long as what the caller does.
	maxReaders = 4

	// patience is how long a block waits to become full.
	patience = 100 * time.Millisecond
)

type block struct {
	buffer []byte
	text   []byte // whole lines, of buffer
	first  bool   // whether it is the input's first
	err    error  // what ended the input, io.EOF or worse
	at     time.Time
	ready  chan struct{} // filled when the lines are read

	lines    uint64
	ids      []id
	segments []segment
	forms    formCounts
}

// A segment is a number of IDs on lines that follow each other.
type segment struct {
	start  int    // of its IDs in the block
	line   uint64 // of its first ID in the block, from 0
	length int    // of its texts
	rises  bool   // whether its IDs strictly increase
}

// The checks of single lines.
const (
	formLength = iota
	formSymbol
	formRange
	formCheckSymbol
	formOther
	formRoundTrip
	formCase
	formLineEnd
	formBlank
	formChecks
)

var formNames = [formChecks]string{
	"length", "symbol", "range", "check", "format", "roundtrip", "case", "lineend", "blank",
}

// A formCounts counts the faults of lines, and keeps the first ones.
type formCounts struct {
	count    [formChecks]uint64
	examples [formChecks][]Example // with lines of the block, from 0
}

func (f *formCounts) reset() {
	f.count = [formChecks]uint64{}
	for i := range f.examples {
		f.examples[i] = f.examples[i][:0]
	}
}

// hit counts a fault and reports whether it is one to keep.
func (f *formCounts) hit(check int) bool {
	f.count[check]++
	return len(f.examples[check]) < maxExamples
}

// A source reads the lines of an input in blocks.
type source struct {
	free, queue chan *block
	made        int // blocks
	stop        context.CancelFunc
}

// A reading says how to read an input.
type reading struct {
	f       *format
	now     func() time.Time
	eager   bool // hand on what there is at once
	size    int  // of a block
	readers int  // goroutines that turn lines into IDs
}

// newSource starts reading. Its blocks come from next and go back to done; close ends
// the reading as soon as r.Read returns.
func newSource(ctx context.Context, r io.Reader, how reading) *source {
	ctx, stop := context.WithCancel(ctx)
	blocks := how.readers + 2
	s := &source{free: make(chan *block, blocks), queue: make(chan *block, blocks), stop: stop}
	work := make(chan *block, blocks)
	go func() {
		defer close(work)
		defer close(s.queue)
		s.fill(ctx, r, how, work)
	}()
	for range how.readers {
		go func() {
			for b := range work {
				b.read(how.f)
				b.ready <- struct{}{}
			}
		}()
	}
	return s
}

// next returns the next block, or nil after the last one or when ctx has ended.
func (s *source) next(ctx context.Context) *block {
	select {
	case b := <-s.queue:
		if b != nil {
			<-b.ready
		}
		return b
	case <-ctx.Done():
		return nil
	}
}

func (s *source) done(b *block) { s.free <- b }

func (s *source) close() { s.stop() }

// block returns a free block, or nil when ctx has ended. Short inputs do not get to use
// all that there may be.
func (s *source) block(ctx context.Context, size int) *block {
	select {
	case b := <-s.free:
		return b
	default:
	}
	if s.made < cap(s.free) {
		s.made++
		return &block{buffer: make([]byte, size), ready: make(chan struct{}, 1)}
	}
	select {
	case b := <-s.free:
		return b
	case <-ctx.Done():
		return nil
	}
}

// fill reads the input into blocks of whole lines.
func (s *source) fill(ctx context.Context, r io.Reader, how reading, work chan<- *block) {
	rest := make([]byte, 0, how.size) // the start of a line whose end is not yet here
	skip := false                     // the line goes on, but is too long to be looked at
	for first, err := true, error(nil); err == nil; {
		b := s.block(ctx, how.size)
		if b == nil {
			return
		}
		n := copy(b.buffer, rest)
		begin, end := how.now(), -1
		for idle := 0; err == nil && n < len(b.buffer); {
			var k int
			k, err = r.Read(b.buffer[n:])
			if k > 0 {
				idle = 0
			} else if idle++; idle > 100 && err == nil {
				err = io.ErrNoProgress
			}
			if skip {
				i := bytes.IndexByte(b.buffer[n:n+k], '\n')
				if i < 0 {
					continue
				}
				k = copy(b.buffer[n:], b.buffer[n+i+1:n+k])
				skip = false
			}
			if i := bytes.LastIndexByte(b.buffer[n:n+k], '\n'); i >= 0 {
				end = n + i + 1
			}
			n += k
			b.at = how.now()
			if end >= 0 && (how.eager || b.at.Sub(begin) > patience) {
				break
			}
		}
		if end < 0 || err != nil {
			end, skip = n, err == nil // the last line, or one that fills the block
		}
		rest = append(rest[:0], b.buffer[end:n]...)
		b.text, b.first, b.err = b.buffer[:end], first, err
		first = false
		if ctx.Err() != nil {
			return
		}
		s.queue <- b
		work <- b
	}
}

// read turns the lines of a block into IDs.
func (b *block) read(f *format) {
	b.lines, b.ids, b.segments = 0, b.ids[:0], b.segments[:0]
	b.forms.reset()
	text := b.text
	if b.first {
		text = b.unmarked(text)
	}
	length := f.lengths[0]
	broken := true // whether the next ID starts a segment
	for len(text) > 0 {
		// Lines tend to be as long as the one before.
		before := len(b.ids)
		b.ids = f.appendLines(b.ids, text, length)
		if n := len(b.ids) - before; n > 0 {
			if broken {
				b.segments = append(b.segments, segment{start: before, line: b.lines, length: length})
				broken = false
			}
			b.lines += uint64(n)
			text = text[n*(length+1):]
			continue
		}
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		v, ok := b.slow(f, &line)
		if ok {
			if broken || len(line) != length {
				b.segments = append(b.segments, segment{start: len(b.ids), line: b.lines, length: len(line)})
				length = len(line)
			}
			b.ids = append(b.ids, v)
		}
		broken = !ok
		b.lines++
	}
	for i := range b.segments {
		s := &b.segments[i]
		ids := b.of(i)
		s.rises = ascending(ids) == len(ids)
	}
}

// of returns the IDs of a segment.
func (b *block) of(segment int) []id {
	ids := b.ids[b.segments[segment].start:]
	if segment < len(b.segments)-1 {
		ids = ids[:b.segments[segment+1].start-b.segments[segment].start]
	}
	return ids
}

// appendLines appends the IDs of the lines at the start of the text, up to the first one
// that is not just an ID's own text of the given length and LF.
func (f *format) appendLines(ids []id, text []byte, length int) []id {
	if f.readLines != nil {
		return f.readLines(ids, text)
	}
	for length < len(text) && text[length] == '\n' {
		v, ok, err := f.read(text[:length])
		if err != nil || !ok {
			break
		}
		ids = append(ids, v)
		text = text[length+1:]
	}
	return ids
}

// unmarked returns the text without the byte order mark that some programs put in front.
func (b *block) unmarked(text []byte) []byte {
	rest, found := bytes.CutPrefix(text, []byte("\ufeff"))
	if !found || len(rest) == 0 {
		return text
	}
	if b.forms.hit(formLineEnd) {
		b.example(formLineEnd, nil, "a byte order mark in front")
	}
	return rest
}

// slow reads a line that is not just an ID's own text, and cuts off its line end.
func (b *block) slow(f *format, line *[]byte) (v id, ok bool) {
	text, windows := bytes.CutSuffix(*line, []byte{'\r'})
	*line = text
	if windows && b.forms.hit(formLineEnd) {
		b.example(formLineEnd, text, "ends with CR LF, as Windows has it")
	}
	if len(text) == 0 {
		if b.forms.hit(formBlank) {
			b.example(formBlank, nil, "")
		}
		return id{}, false
	}
	v, same, err := f.read(text)
	if err != nil {
		b.fault(f, text, err)
		return id{}, false
	}
	if same {
		return v, true
	}
	written := f.text(v, len(text))
	check := formRoundTrip
	if bytes.EqualFold(text, []byte(written)) {
		check = formCase
	}
	if b.forms.hit(check) {
		b.example(check, text, "an ID is written "+written)
	}
	return v, true
}

// fault notes why a line is no ID.
func (b *block) fault(f *format, text []byte, err error) {
	check := formSymbol
	for _, r := range f.reasons {
		if errors.Is(err, r.err) {
			for i, name := range formNames {
				if name == r.check {
					check = i
				}
			}
		}
	}
	if other, ok := otherFormat(f, text); ok {
		if b.forms.hit(formOther) {
			b.example(formOther, text, fmt.Sprintf("is a %s ID", other))
		}
		return
	}
	if !b.forms.hit(check) {
		return
	}
	// The error, without the text that stands before it in a report.
	_, note, _ := strings.Cut(err.Error(), fmt.Sprintf("%q", fault.Clip(text)))
	note = strings.TrimPrefix(strings.TrimPrefix(note, "..."), ": ")
	switch {
	case b.first && b.lines == 0 && (bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))):
		note = "the input is in UTF-16; IDs are ASCII"
	case bytes.HasPrefix(text, []byte("\x1f\x8b")):
		note = "the input is compressed with gzip"
	}
	b.example(check, text, note)
}

// otherFormat says of which other format a text is an ID. It is asked about each bad
// line, so it looks at the length first.
func otherFormat(f *format, text []byte) (name string, ok bool) {
	if !slices.ContainsFunc(formats, func(other *format) bool {
		return other != f && slices.Contains(other.lengths, len(text))
	}) {
		return "", false
	}
	for _, c := range scheme.Detect(string(text)) {
		other := formatOf(c.ID.Scheme().Name)
		if c.Plausible && other != f && slices.Contains(other.lengths, len(text)) {
			return other.name, true
		}
	}
	return "", false
}

func (b *block) example(check int, text []byte, note string) {
	b.forms.examples[check] = append(b.forms.examples[check], Example{Line: b.lines, Text: clip(text), Note: note})
}

// clip is what a report shows of a line.
func clip(text []byte) string {
	const most = 64
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}
