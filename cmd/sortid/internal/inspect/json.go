package inspect

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/sortid/sortid/format"
)

type Object struct {
	Format string   `json:"format"`
	Text   string   `json:"text"` // in the format's first encoding
	Hex    string   `json:"hex,omitempty"`
	Int    string   `json:"int,omitempty"`
	UUID   string   `json:"uuid,omitempty"`
	Time   string   `json:"time,omitempty"`
	Fields fields   `json:"fields"`
	Notes  []string `json:"notes,omitempty"`

	Input     string          `json:"input"`
	Prefix    string          `json:"prefix,omitempty"` // of a typed ID, without separator
	Encoding  format.Encoding `json:"encoding"`
	Stripped  []string        `json:"stripped,omitempty"`
	Plausible bool            `json:"plausible"`
	Reason    string          `json:"reason"`
	Others    []Other         `json:"others"`

	// Where the text was found.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int64  `json:"column,omitempty"`
}

// An Other is another reading of a text.
type Other struct {
	Format   string          `json:"format"`
	Encoding format.Encoding `json:"encoding"`
	Text     string          `json:"text"`
	Time     string          `json:"time,omitempty"`
	Reason   string          `json:"reason"`
}

func (r *Reading) Object() *Object {
	o := &Object{
		Format: r.Name(), Text: r.Text(),
		Hex: r.in(format.Hex), Int: r.in(format.Int), UUID: r.in(format.UUID),
		Time: FormatTime(r.Time()), Fields: r.ID.Fields(), Notes: r.ID.Notes(),
		Input: r.Input, Prefix: strings.TrimSuffix(r.Prefix, "_"),
		Encoding: r.Encoding, Stripped: r.Stripped,
		Plausible: r.Plausible(), Reason: r.Reason(), Others: make([]Other, len(r.Others)),
	}
	for _, f := range r.Split {
		o.Fields = append(o.Fields, f.Of(r.ID))
	}
	for i := range r.Others {
		g := &r.Others[i]
		o.Others[i] = Other{g.Name(), g.Encoding, g.Text(), FormatTime(g.Time()), g.Shape()}
	}
	return o
}

// AppendJSON appends the object in one line.
func (o *Object) AppendJSON(b []byte) ([]byte, error) {
	object, err := json.Marshal(o)
	return append(b, object...), err
}

// AppendJSON appends what is known of a text, as a line of JSON without its end. A nil format is
// guessed.
func AppendJSON(b []byte, f *format.Format, text string) ([]byte, error) {
	r, err := (&Reader{Format: f}).Read(text)
	if err != nil {
		return b, err
	}
	return r.Object().AppendJSON(b)
}

// fields is an object in the fields' order. Numbers are strings, so that no reader loses digits.
type fields []format.Value

func (f fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	open := byte('{')
	for _, v := range f {
		b.WriteByte(open)
		b.WriteByte('"')
		b.WriteString(v.Name)
		b.WriteString(`":"`)
		b.Write(v.Append(b.AvailableBuffer()))
		b.WriteByte('"')
		open = ','
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Bounds are the first ID of a time range and the first after it.
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
	return &Bounds{f.Name, format.FormatTime(from), format.FormatTime(to), first, end}, nil
}
