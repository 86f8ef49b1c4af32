package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
)

// object is what AppendJSON writes, for package json.
type object struct {
	Format string            `json:"format"`
	Text   string            `json:"text"`
	Hex    string            `json:"hex,omitempty"`
	Int    string            `json:"int,omitempty"`
	UUID   string            `json:"uuid,omitempty"`
	Time   string            `json:"time,omitempty"`
	Fields map[string]string `json:"fields"`
	Notes  []string          `json:"notes,omitempty"`

	Input     string          `json:"input"`
	Prefix    string          `json:"prefix,omitempty"`
	Encoding  format.Encoding `json:"encoding"`
	Stripped  []string        `json:"stripped,omitempty"`
	Plausible bool            `json:"plausible"`
	Reason    string          `json:"reason"`
	Chance    json.RawMessage `json:"chance,omitempty"`
	Doubtful  *bool           `json:"doubtful,omitempty"`
	Others    []other         `json:"others"`

	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int64  `json:"column,omitempty"`
}

type other struct {
	Format   string          `json:"format"`
	Encoding format.Encoding `json:"encoding"`
	Text     string          `json:"text"`
	Time     string          `json:"time,omitempty"`
	Reason   string          `json:"reason"`
}

// slowJSON does the work of AppendJSON with package json.
func slowJSON(t *testing.T, r *Reading, at *Place) string {
	o := object{
		Format: r.Name(), Text: r.Text(), Hex: r.textIn(format.Hex, nil),
		Int: r.textIn(format.Int, nil), UUID: r.textIn(format.UUID, nil),
		Time: FormatTime(r.Time()), Fields: map[string]string{}, Notes: r.Notes(),
		Input: r.Input, Prefix: strings.TrimSuffix(r.Prefix, "_"), Encoding: r.Encoding,
		Stripped: r.Stripped, Plausible: r.Plausible(), Reason: r.Reason(), Others: []other{},
	}
	names := ""
	for _, fields := range [][]format.Field{Layout(r.ID), r.Split} {
		for _, f := range fields {
			if f.Name != "" {
				o.Fields[f.Name] = f.Of(r.ID).String()
				names += fmt.Sprintf(`,%q:%q`, f.Name, o.Fields[f.Name])
			}
		}
	}
	for i := range r.Others {
		g := &r.Others[i]
		o.Others = append(o.Others,
			other{g.Name(), g.Encoding, g.Text(), FormatTime(g.Time()), g.Shape()})
	}
	if !r.Given && at == nil {
		doubtful := r.Doubtful()
		o.Chance, o.Doubtful = fmt.Appendf(nil, "%.2g", r.chance), &doubtful
	}
	if at != nil {
		o.File, o.Line, o.Column = at.File, at.Line, at.Column
	}
	line, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	// A map is in the order of names, but fields are in the order of the layout.
	fields, err := json.Marshal(o.Fields)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(line), `"fields":`+string(fields),
		`"fields":{`+strings.TrimPrefix(names, ",")+"}", 1)
}

// slowShort does the work of AppendShort with package fmt.
func slowShort(r *Reading) string {
	line := FormatTime(r.Time())
	if line == "" {
		line = "-"
	}
	line += " " + r.Name()
	for _, v := range r.ID.Fields() {
		if r.Split == nil || v.Kind != format.KindNode {
			line += fmt.Sprintf(" %s=%s", v.Name, v)
		}
	}
	for _, f := range r.Split {
		line += fmt.Sprintf(" %s=%s", f.Name, f.Of(r.ID))
	}
	if r.Doubtful() {
		line += " ?"
		if len(r.Others) > 0 {
			line += fmt.Sprint(len(r.Others))
		}
	}
	return line + "\n"
}

// The output agrees with packages json and fmt, for IDs of all formats in all encodings, typed IDs,
// and inputs with characters that JSON escapes.
func TestPrintSlowWay(t *testing.T) {
	check := func(in *Reader, text string, at *Place) {
		var r Reading
		if err := in.Read(&r, text, time.Now()); err != nil {
			return
		}
		if spec.Of(r.ID.Format()).NodeCounter > 0 {
			r.Split = []format.Field{{Name: "node_id", Bits: 8, Low: 16},
				{Name: "counter", Bits: 16}}
		}
		if got, want := string(r.AppendJSON(nil, at)), slowJSON(t, &r, at); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
		got, err := AppendShort(nil, &r)
		if want := slowShort(&r); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, f := range format.All() {
		id, err := f.Parse(f.Example())
		if err != nil {
			t.Fatal(err)
		}
		ids := []format.ID{id}
		if first, end, err := f.Bounds(f.First().Add(-f.Tick()), time.Now()); err == nil {
			ids = append(ids, first, end) // the first of our formats has a note
		}
		for _, id := range ids {
			for _, e := range f.Encodings() {
				text := id.In(e)
				for _, in := range []*Reader{{}, {Format: f}} {
					check(in, text, nil)
					check(in, "user_"+text, &Place{"a.log", 2, 17})
					check(in, ` "`+text+"\",", &Place{"\u2028<&>\xff.log", 1, 1})
				}
			}
		}
	}
	for _, text := range []string{"", "plain", "\x00\x1f\x7f", "a\"b\\c", "<&>", "\u2028\xff"} {
		want, err := json.Marshal(text)
		if got := appendString(nil, text); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: %s, want %s, %v", text, got, want, err)
		}
	}
}
