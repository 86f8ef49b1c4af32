package format

import (
	"strconv"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
)

// MarshalJSON returns the JSON object of [ID.AppendJSON], or null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.spec == nil {
		return []byte("null"), nil
	}
	return id.AppendJSON(nil), nil
}

// AppendJSON appends the ID to b as a JSON object on one line, with these members:
//
//	format, text, hex, int, uuid, time, fields, notes
//
// The text is in the format's first encoding. Members that the ID does not have are absent.
// Integers are strings, so that no reader loses digits. The member "fields" has the fields of the
// layout, and then the extra fields.
func (id ID) AppendJSON(b []byte, extra ...Field) []byte {
	b = append(b, `{"format":"`...)
	b = append(b, id.spec.Name...)
	b = append(b, '"')
	b = append(b, `,"text":"`...)
	b = append(id.spec.Append(b, id.words, id.spec.Encodings[0]), '"')
	for _, e := range [...]spec.Encoding{spec.Hex, spec.Int, spec.UUID} {
		if !id.spec.HasEncoding(e) {
			continue
		}
		b = append(b, `,"`...)
		b = append(b, e...)
		b = append(b, `":"`...)
		b = append(id.spec.Append(b, id.words, e), '"')
	}
	if t := id.Time(); !t.IsZero() {
		b = append(b, `,"time":"`...)
		b = append(words.AppendTime(b, t), '"')
	}
	b = append(b, `,"fields":`...)
	open := byte('{')
	field := func(name string, high, low uint64) {
		b = append(append(append(b, open, '"'), name...), `":"`...)
		b = append(integer.Words{Mid: high, Low: low}.AppendDecimal(b), '"')
		open = ','
	}
	layout := id.spec.LayoutOf(&id.words)
	for i := range layout {
		if f := &layout[i]; f.Name != "" {
			high, low := f.Of(&id.words)
			field(f.Name, high, low)
		}
	}
	for i := range extra {
		high, low := extra[i].of(&id.words)
		field(extra[i].Name, high, low)
	}
	b = append(b, '}')
	if notes := id.Notes(); len(notes) > 0 {
		b = append(b, `,"notes":`...)
		for i, note := range notes {
			b = append(b, "[,"[min(i, 1)])
			b = strconv.AppendQuote(b, note) // Go quotes plain ASCII as JSON does
		}
		b = append(b, ']')
	}
	return append(b, '}')
}
