package sample

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/verify/internal/findings"
)

// A Block has whole lines and their IDs.
type Block struct {
	Lines    uint64
	IDs      []integer.Words
	Segments []Segment
	Faults   [FaultCount]findings.Check // line numbers start at 0
	Bytes    int                        // size of the lines
	At       time.Time                  // when the last line was read
	EndsBad  bool                       // the last line has no ID
	Err      error                      // why the input ended, such as io.EOF

	buffer   []byte
	text     []byte
	first    bool
	overlong bool // the last line continues after the block, and is too long
	ready    chan struct{}
}

// A Segment has IDs of one encoding on consecutive lines.
type Segment struct {
	Line     uint64 // line of the first ID, counted from 0 in the block
	Encoding spec.Encoding
	Rising   bool // whether the IDs strictly increase
	Gap      bool // a line without an ID precedes it

	start  int // index of the first ID in the block
	length int // of the text of each ID
}

func (b *Block) Segment(i int) []integer.Words {
	end := len(b.IDs)
	if i+1 < len(b.Segments) {
		end = b.Segments[i+1].start
	}
	return b.IDs[b.Segments[i].start:end]
}

// Ascending returns how many IDs at the start of the list strictly increase.
func Ascending(list []integer.Words) int {
	for i := 1; i < len(list); i++ {
		if !list[i-1].Less(&list[i]) {
			return i
		}
	}
	return len(list)
}

// MaxLine is the length of the longest line that is parsed, in bytes.
const MaxLine = 64 << 10

func (b *Block) parse(f *Format) {
	b.Lines, b.IDs, b.Segments, b.Bytes = 0, b.IDs[:0], b.Segments[:0], len(b.text)
	b.Faults = [FaultCount]findings.Check{}
	text := b.text
	if b.first {
		text = b.cutMark(text)
	}
	encoding, length := f.Encodings[0], 0
	if len(f.Text.Lengths) > 0 {
		length = f.Text.Lengths[len(f.Text.Lengths)-1]
	}
	broken := true
	bad := false // a line without an ID came after the last segment
	for len(text) > 0 {
		// Most lines have the encoding and the length of the previous line.
		before := len(b.IDs)
		b.IDs = f.AppendLines(b.IDs, text, encoding, length)
		if n := len(b.IDs) - before; n > 0 {
			if broken {
				b.Segments = append(b.Segments, Segment{start: before, Line: b.Lines,
					Encoding: encoding, length: length, Gap: bad})
				broken, bad = false, false
			}
			b.Lines += uint64(n)
			text = text[n*(length+1):]
			continue
		}
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if len(line) > MaxLine || b.overlong && len(rest) == 0 {
			b.found(TooLong, line, fmt.Sprintf("is longer than %d KiB",
				min(MaxLine, len(b.buffer))>>10))
			broken, bad = true, true
			b.Lines++
			continue
		}
		line = b.cutReturn(line)
		v, lineEncoding, ok := b.parseLine(f, line)
		if ok {
			if broken || lineEncoding != encoding {
				b.Segments = append(b.Segments, Segment{start: len(b.IDs), Line: b.Lines,
					Encoding: lineEncoding, length: len(line), Gap: bad})
			}
			bad = false
			encoding, length = lineEncoding, len(line)
			b.IDs = append(b.IDs, v)
		}
		broken, bad = !ok, bad || !ok
		b.Lines++
	}
	b.EndsBad = bad
	for i := range b.Segments {
		list := b.Segment(i)
		b.Segments[i].Rising = Ascending(list) == len(list)
	}
}

func (b *Block) cutMark(text []byte) []byte {
	rest, found := bytes.CutPrefix(text, []byte("\ufeff"))
	if !found || len(rest) == 0 {
		return text
	}
	b.found(BadLineEnd, nil, "starts with a byte order mark")
	return rest
}

func (b *Block) cutReturn(line []byte) []byte {
	text, windows := bytes.CutSuffix(line, []byte{'\r'})
	if windows {
		b.found(BadLineEnd, text, "ends with CR LF, as on Windows")
	}
	return text
}

func (b *Block) parseLine(f *Format,
	text []byte) (v integer.Words, encoding spec.Encoding, ok bool) {
	if len(text) == 0 {
		b.found(Blank, nil)
		return integer.Words{}, "", false
	}
	v, encoding, canonical, err := f.ReadLine(text)
	if err != nil {
		b.badLine(f, text, err)
		return integer.Words{}, encoding, false
	}
	if canonical {
		return v, encoding, true
	}
	written := f.InEncoding(v, encoding)
	check := BadRoundTrip
	if bytes.EqualFold(text[len(text)-min(len(text), len(written)):], []byte(written)) {
		check = BadCase
	}
	b.found(check, text, "the format writes this ID as ", written)
	return v, encoding, true
}

func (b *Block) badLine(f *Format, text []byte, err error) {
	if other, ok := otherFormat(f, text); ok {
		b.found(OtherFormat, text, "is a ", other, " ID")
		return
	}
	check := faultOf(err)
	if b.Faults[check].Full() { // making a note takes time
		b.found(check, nil)
		return
	}
	note := err.Error()
	var wrong *sortid.ParseError
	if errors.As(err, &wrong) && wrong.Input == parseerr.Clip(text) {
		note = wrong.Reason() // the report shows the text before the note
	}
	if b.first && b.Lines == 0 {
		for start, what := range map[string]string{
			"\xff\xfe":         "the input is in UTF-16; IDs are ASCII",
			"\xfe\xff":         "the input is in UTF-16; IDs are ASCII",
			"\x1f\x8b":         "the input is compressed with gzip",
			"\x28\xb5\x2f\xfd": "the input is compressed with zstd",
		} {
			if bytes.HasPrefix(text, []byte(start)) {
				note = what
			}
		}
	}
	b.found(check, text, note+addition(string(text), b.first && b.Lines == 0))
}

// addition says what a line without an ID seems to be, if another program has added it.
func addition(text string, first bool) string {
	const only = ": print only the IDs, as psql -At or mysql -BN do"
	name := strings.TrimRight(text, "0123456789")
	switch kinds := textcodec.KindsOf(name); {
	case strings.Trim(text, "+-|= ") == "":
		return "; it seems to be the line of a table" + only
	case strings.HasSuffix(text, "row)") || strings.HasSuffix(text, "rows)") ||
		strings.Contains(text, " in set ("):
		return "; it seems to be the footer of a table" + only
	case first && len(text) <= maxHeader && len(text)-len(name) <= maxHeaderDigits &&
		kinds.Has(textcodec.Lower|textcodec.Upper) && !kinds.Has(textcodec.Digit):
		return "; it seems to be a header: leave it out, for example with tail -n +2"
	}
	return ""
}

// A header is the name of a column, perhaps with a version at the end.
const maxHeader, maxHeaderDigits = 40, 2

// otherFormat first checks the length, because that is fast.
func otherFormat(f *Format, text []byte) (name string, ok bool) {
	if !slices.ContainsFunc(spec.Ours(), func(other *spec.Format) bool {
		return other != f.Format && slices.Contains(other.Text.Lengths, len(text))
	}) {
		return "", false
	}
	for _, c := range format.AppendDetect(nil, string(text), time.Now()) {
		other := spec.Of(c.ID.Format())
		if other.Generates && other != f.Format && slices.Contains(other.Text.Lengths, len(text)) {
			return other.Name, true
		}
	}
	return "", false
}

func (b *Block) found(fault Fault, text []byte, note ...string) {
	const most = 64
	c := &b.Faults[fault]
	if c.Full() {
		c.Count++
		return
	}
	short := string(text[:min(len(text), most)])
	if len(text) > most {
		short += "..."
	}
	c.Found(b.Lines, short, "%s", strings.Join(note, ""))
}
