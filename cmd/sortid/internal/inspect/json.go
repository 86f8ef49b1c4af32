package inspect

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
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
	scratch := make([]byte, 0, 64) // small allocations would take most of the time
	o := &Object{
		Format: r.Name(), Text: r.Prefix + r.textIn(r.ID.Format().Encodings[0], scratch),
		Hex: r.textIn(format.Hex, scratch), Int: r.textIn(format.Int, scratch),
		UUID: r.textIn(format.UUID, scratch),
		Time: FormatTime(r.Time()), Fields: fields{r.ID, r.Split}, Notes: r.ID.Notes(),
		Input: r.Input, Prefix: strings.TrimSuffix(r.Prefix, "_"),
		Encoding: r.Encoding, Stripped: r.Stripped,
		Plausible: r.Plausible(), Reason: r.Reason(), Others: make([]Other, len(r.Others)),
	}
	for i := range r.Others {
		g := &r.Others[i]
		o.Others[i] = Other{g.Name(), g.Encoding, g.Text(), FormatTime(g.Time()), g.Shape()}
	}
	return o
}

func (o *Object) AppendJSON(b []byte) ([]byte, error) {
	w := bytes.NewBuffer(b)
	err := json.NewEncoder(w).Encode(o) // Marshal would copy it
	return w.Bytes(), err
}

// AppendJSON appends what is known about a text, as JSON in one line. If f is nil, it guesses
// the format.
func AppendJSON(b []byte, f *format.Format, text string) ([]byte, error) {
	r, err := (&Reader{Format: f}).Read(text)
	if err != nil {
		return b, err
	}
	b, err = r.Object().AppendJSON(b)
	return bytes.TrimSuffix(b, []byte("\n")), err
}

// fields becomes a JSON object with an ID's fields in order, and then the fields of split. Numbers
// are strings, so that no reader loses digits.
type fields struct {
	id    format.ID
	split []format.Field
}

func (f fields) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 256), '{')
	for _, list := range [][]format.Field{Layout(f.id), f.split} {
		for i := range list {
			if list[i].Name == "" {
				continue
			}
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), list[i].Name...), `":"`...)
			b = append(append(b, list[i].Of(f.id).String()...), '"')
		}
	}
	return append(b, '}'), nil
}

// Layout returns the fields of the ID, or of the ID inside.
func Layout(id format.ID) (fields []format.Field) {
	if id.Format().Within == nil {
		return id.Format().Layout // faster
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
	return &Bounds{f.Name, words.Time(from), words.Time(to), first, end}, nil
}
