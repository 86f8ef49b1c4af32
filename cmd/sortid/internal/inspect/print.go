package inspect

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/sortid/sortid/format"
)

// AppendShort appends time, format and fields in a line. If the reading is in doubt, the line ends
// with a question mark and the number of other readings.
func AppendShort(b []byte, r *Reading) ([]byte, error) {
	t := FormatTime(r.Time())
	if t == "" {
		t = "-"
	}
	b = fmt.Appendf(b, "%s %s", t, r.Name())
	for _, v := range r.fields() {
		b = fmt.Appendf(b, " %s=%s", v.Name, v)
	}
	if r.Doubtful() {
		b = append(b, " ?"...)
		if n := len(r.Others); n > 0 {
			b = strconv.AppendInt(b, int64(n), 10)
		}
	}
	return append(b, '\n'), nil
}

// fields returns the named fields. If Split is set, the node ID and the counter replace the field
// that they share.
func (r *Reading) fields() []format.Value {
	values := r.ID.Fields()
	if r.Split != nil {
		values = values[:1]
		for _, f := range r.Split {
			values = append(values, f.Of(r.ID))
		}
	}
	return values
}

// A stamp is a time that prints like the time of an ID.
type stamp struct{ time.Time }

func (s stamp) String() string { return FormatTime(s.Time) }

// The members of an ID that a template can use. Errors of templates print this name.
type members struct {
	Input, Format, Encoding, Text, Hex, Int, UUID, Reason string

	Time               stamp
	Fields             map[string]string
	Plausible, Foreign bool
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
			Fields: map[string]string{},
		}
		for _, values := range [][]format.Value{r.ID.Fields(), r.fields()} {
			for _, v := range values {
				d.Fields[v.Name] = v.String()
			}
		}
		var line strings.Builder
		if err := t.Execute(&line, d); err != nil {
			return b, err
		}
		return append(append(b, line.String()...), '\n'), nil
	}, nil
}
