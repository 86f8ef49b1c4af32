package inspect

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
)

// A Place is where a text is in a file. Lines and columns count from 1.
type Place struct {
	File   string
	Line   int
	Column int64 // in bytes
}

// AppendJSON appends what is known about a text, as JSON in one line. If f is nil, it guesses
// the format.
func AppendJSON(b []byte, f *format.Format, text string) ([]byte, error) {
	var r Reading
	if err := (&Reader{Format: f}).Read(&r, text, time.Now()); err != nil {
		return b, err
	}
	return r.AppendJSON(b, nil), nil
}

// AppendJSON appends a JSON object on one line: the members of [format.ID.AppendJSON], then the
// members of the reading, and then the place, if it is not nil.
func (r *Reading) AppendJSON(b []byte, at *Place) []byte {
	prefixAt := len(b) + len(`{"format":"","text":"`) + len(r.Name())
	b = r.ID.AppendJSON(b, r.Split...)
	if r.Prefix != "" {
		b = slices.Insert(b, prefixAt, []byte(r.Prefix)...)
	}
	b = b[:len(b)-1]
	if note := r.note(); note != "" {
		if b[len(b)-1] == ']' { // the notes about the ID
			b = append(b[:len(b)-1], ',')
		} else {
			b = append(b, `,"notes":[`...)
		}
		b = append(appendString(b, note), ']')
	}
	b = appendString(append(b, `,"input":`...), r.Input)
	if name := strings.TrimSuffix(r.Prefix, "_"); name != "" {
		b = appendString(append(b, `,"prefix":`...), name)
	}
	b = appendString(append(b, `,"encoding":`...), string(r.Encoding))
	for i, what := range r.Stripped {
		if i == 0 {
			b = append(b, `,"stripped":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendString(b, what)
	}
	if len(r.Stripped) > 0 {
		b = append(b, ']')
	}
	b = strconv.AppendBool(append(b, `,"plausible":`...), r.Plausible())
	var reason [128]byte // no allocation
	b = appendString(append(b, `,"reason":`...), r.appendReason(reason[:0]))
	if !r.Given && at == nil {
		b = strconv.AppendFloat(append(b, `,"chance":`...), r.chance, 'g', 2, 64)
		b = strconv.AppendBool(append(b, `,"doubtful":`...), r.Doubtful())
	}
	b = append(b, `,"others":[`...)
	for i := range r.Others {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.Others[i].appendJSON(b)
	}
	b = append(b, ']')
	if at != nil {
		b = appendString(append(b, `,"file":`...), at.File)
		b = strconv.AppendInt(append(b, `,"line":`...), int64(at.Line), 10)
		b = strconv.AppendInt(append(b, `,"column":`...), at.Column, 10)
	}
	return append(b, '}')
}

// appendJSON appends another reading of a text.
func (g *Guess) appendJSON(b []byte) []byte {
	b = appendString(append(b, `{"format":`...), g.Name())
	b = appendString(append(b, `,"encoding":`...), string(g.Encoding))
	b = appendString(append(b, `,"text":`...), g.Text())
	if t := g.Time(); !t.IsZero() {
		b = append(words.AppendTime(append(b, `,"time":"`...), t), '"')
	}
	b = appendString(append(b, `,"reason":`...), g.Shape())
	return append(b, '}')
}

// plain reports whether package json writes a byte as it is.
var plain = func() (t [256]bool) {
	for c := byte(' '); c <= '~'; c++ {
		t[c] = strings.IndexByte(`"\<>&`, c) < 0
	}
	return t
}()

// appendString appends a string as package json does.
func appendString[T string | []byte](b []byte, s T) []byte {
	for i := range len(s) {
		if !plain[s[i]] {
			quoted, err := json.Marshal(string(s))
			if err != nil {
				panic(err) // impossible for a string
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// Layout returns the fields of the ID, or of the ID inside.
func Layout(id format.ID) (fields []format.Field) {
	if spec.Of(id.Format()).Within == nil {
		return id.Format().Layout() // faster
	}
	for _, v := range id.Fields() {
		fields = append(fields, v.Field)
	}
	return fields
}

// Bounds are the first ID of a time range, and the first ID after the range.
type Bounds struct {
	Format string    `json:"format"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	First  format.ID `json:"first"`
	End    format.ID `json:"end"`
}

func NewBounds(f *format.Format, from, to time.Time) (*Bounds, error) {
	first, end, err := f.Bounds(from, to)
	if err != nil {
		return nil, err
	}
	return &Bounds{f.Name(), words.Time(from), words.Time(to), first, end}, nil
}
