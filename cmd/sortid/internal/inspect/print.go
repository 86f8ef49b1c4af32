package inspect

import (
	"io"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
)

// AppendShort appends time, format and fields in a line. If the reading is in doubt, the line ends
// with a question mark and the number of other readings, if there are any.
func AppendShort(b []byte, r *Reading) ([]byte, error) {
	if t := r.Time(); t.IsZero() {
		b = append(b, '-')
	} else {
		b = words.AppendTime(b, t)
	}
	b = append(append(b, ' '), r.Name()...)
	for _, list := range r.fields() {
		for i := range list {
			if f := &list[i]; f.Name != "" {
				b = append(append(b, ' '), f.Name...)
				b = appendContent(append(b, '='), r.ID, f)
			}
		}
	}
	if r.Doubtful() {
		b = append(b, " ?"...)
		if n := len(r.Others); n > 0 {
			b = strconv.AppendInt(b, int64(n), 10)
		}
	}
	return append(b, '\n'), nil
}

func appendContent(b []byte, id format.ID, f *format.Field) []byte {
	w := integer.FromArray(id.Words())
	if f.Bits <= 64 {
		place := integer.PlaceOf(f.Low, f.Bits)
		return strconv.AppendUint(b, place.Of(&w), 10)
	}
	return w.Shift(-f.Low).And(integer.Ones(f.Bits)).AppendDecimal(b)
}

// fields returns the fields. If Split is set, the node ID and the counter replace the field that
// they share.
func (r *Reading) fields() [2][]format.Field {
	layout := Layout(r.ID)
	if r.Split != nil {
		layout = layout[:1]
	}
	return [2][]format.Field{layout, r.Split}
}

// A stamp is a time that prints like the time of an ID.
type stamp struct{ time.Time }

func (s stamp) String() string { return FormatTime(s.Time) }

// The members of an ID that a template can use. Errors of templates print this name.
type members struct {
	Input, Format, Encoding, Text, Hex, Int, UUID, Reason string

	Time               stamp
	Fields             map[string]string
	Chance             float64
	Plausible, Foreign bool
	Doubtful           bool
}

// Template returns a function that prints readings by a template.
func Template(layout string) (func(b []byte, r *Reading) ([]byte, error), error) {
	t, err := template.New("ID").Option("missingkey=zero").Parse(layout)
	if err != nil {
		return nil, err
	}
	if err := t.Execute(io.Discard, members{}); err != nil {
		return nil, err
	}
	return func(b []byte, r *Reading) ([]byte, error) {
		d := members{
			Input: r.Input, Format: r.Name(), Encoding: string(r.Encoding),
			Text: r.Text(), Reason: r.Reason(),
			Hex: r.textIn(format.Hex, nil), Int: r.textIn(format.Int, nil),
			UUID: r.textIn(format.UUID, nil),
			Time: stamp{r.Time()}, Plausible: r.Plausible(), Foreign: !r.Ours(),
			Chance: r.chance, Doubtful: r.Doubtful(),
			Fields: map[string]string{},
		}
		for _, v := range r.ID.Fields() {
			d.Fields[v.Name] = v.String()
		}
		for _, f := range r.Split {
			d.Fields[f.Name] = f.Of(r.ID).String()
		}
		var line strings.Builder
		if err := t.Execute(&line, d); err != nil {
			return b, err
		}
		return append(append(b, line.String()...), '\n'), nil
	}, nil
}
