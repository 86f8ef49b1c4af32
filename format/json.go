package format

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/sortid/sortid/internal/words"
)

// MarshalJSON returns the JSON object of [ID.AppendJSON], or null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.format == nil {
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
	b = append(b, id.format.Name...)
	b = append(b, '"')
	b = append(b, `,"text":"`...)
	b = append(id.Append(b, id.format.Encodings[0]), '"')
	for _, e := range [...]Encoding{Hex, Int, UUID} {
		if !id.format.hasEncoding(e) {
			continue
		}
		b = append(b, `,"`...)
		b = append(b, e...)
		b = append(b, `":"`...)
		b = append(id.Append(b, e), '"')
	}
	if t := id.Time(); !t.IsZero() {
		b = append(b, `,"time":"`...)
		b = append(words.AppendTime(b, t), '"')
	}
	b = append(b, `,"fields":`...)
	open := byte('{')
	for _, fields := range [2][]Field{id.layout(), extra} {
		for i := range fields {
			f := &fields[i]
			if f.Name == "" {
				continue
			}
			b = append(b, open, '"')
			b = append(b, f.Name...)
			b = append(b, `":"`...)
			b = append(id.appendField(b, f), '"')
			open = ','
		}
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

// A row is a format as JSON. See docs/schemas/formats.json.
type row struct {
	Name      string     `json:"name"`
	Title     string     `json:"title"`
	Summary   string     `json:"summary"`
	Source    string     `json:"source"`
	Generates bool       `json:"generates"`
	Bits      int        `json:"bits"`
	Max       string     `json:"max"`
	Layout    []Field    `json:"layout"`
	Ordered   bool       `json:"ordered"`
	Within    []string   `json:"within,omitempty"`
	Encodings []Encoding `json:"encodings"`
	Guess     []Encoding `json:"guess,omitzero"`
	Text      rowText    `json:"text"`
	Search    Search     `json:"search,omitzero"`
	Example   string     `json:"example"`
	Time      *rowTime   `json:"time,omitempty"`
}

type rowText struct {
	Alphabet  string            `json:"alphabet"`
	Mark      string            `json:"mark,omitempty"`
	Symbols   string            `json:"symbols,omitempty"`
	FoldsCase bool              `json:"folds_case,omitempty"`
	Aliases   map[string]string `json:"aliases,omitempty"`
	Lengths   []int             `json:"lengths,omitempty"`
	Usual     []int             `json:"usual_lengths,omitempty"`
	Hex       bool              `json:"hex,omitempty"`
	Check     int               `json:"check_modulus,omitempty"`
	Suffix    string            `json:"check_suffix,omitempty"`
	Rotated   int               `json:"rotated,omitempty"`
	Groups    []textPart        `json:"groups,omitempty"`
	Prefix    *prefixRule       `json:"prefix,omitempty"`
	Grouped   bool              `json:"grouped,omitempty"`
	Sorts     bool              `json:"sorts"`
}

type rowTime struct {
	Epoch         string `json:"epoch"`
	TickNanos     int64  `json:"tick_ns"`
	First         string `json:"first"`
	Last          string `json:"last"`
	Reserved      bool   `json:"reserved,omitempty"`
	PlausibleFrom string `json:"plausible_from"`
}

// MarshalJSON returns the format as docs/schemas/formats.json describes it, without the members
// that only the command knows.
func (f *Format) MarshalJSON() ([]byte, error) {
	t := &f.Text
	r := row{
		Name: f.Name, Title: f.Title, Summary: f.Summary, Source: f.Source,
		Generates: f.Generates,
		Bits:      f.Bits, Max: f.largest().In(Int), Ordered: f.Ordered, Within: namesOf(f.Within),
		Layout: f.Layout, Encodings: f.Encodings, Example: f.Example, Search: f.Search,
		Text: rowText{
			Alphabet: t.Alphabet, Mark: t.Mark, Symbols: t.Symbols, FoldsCase: t.FoldsCase,
			Lengths: t.Lengths, Hex: t.Hex, Groups: t.groups, Check: t.Check, Suffix: t.suffix,
			Rotated: t.rotated, Prefix: t.prefix, Grouped: t.Grouped, Sorts: t.Sorts,
		},
	}
	r.Search.Guess = nil
	if !slices.Equal(f.Search.Guess, f.Encodings) {
		r.Guess = f.Search.Guess
	}
	if len(t.Usual) < len(t.Lengths) {
		r.Text.Usual = t.Usual
	}
	for i := 0; i < len(t.aliases); i += 2 {
		if r.Text.Aliases == nil {
			r.Text.Aliases = map[string]string{}
		}
		r.Text.Aliases[t.aliases[i:i+1]] = t.aliases[i+1 : i+2]
	}
	if f.Tick != 0 {
		plausible, _ := f.PlausibleRange(f.Epoch)
		r.Time = &rowTime{words.Time(f.Epoch), f.Tick.Nanoseconds(), words.Time(f.First),
			words.Time(f.Last),
			f.Reserved, words.Time(plausible)}
	}
	return json.Marshal(r)
}
