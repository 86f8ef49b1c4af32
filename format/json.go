package format

import (
	"encoding/json"
	"strconv"
	"time"
)

// MarshalJSON returns what [ID.AppendJSON] appends, and null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	return id.AppendJSON(nil), nil
}

// AppendJSON appends the ID as a JSON object in one line to b, with these members:
//
//	format, text, hex, int, uuid (of 128 bits), time, fields, notes (if there are any)
//
// An ID's integer and its fields are strings, so that no reader loses digits. The fields are
// the fields of the layout, and more. AppendJSON is written by hand because streams of
// IDs pass through it: encoding/json takes several times as long (see BenchmarkJSON).
func (id ID) AppendJSON(b []byte, more ...Field) []byte {
	b = append(b, `{"format":"`...)
	b = append(b, id.format.Name...)
	b = append(b, '"')
	for _, f := range id.format.Encodings {
		b = append(b, `,"`...)
		b = append(b, f...)
		b = append(b, `":"`...)
		b = id.Append(b, f)
		b = append(b, '"')
	}
	b = append(b, `,"time":"`...)
	b = appendTime(b, id.Milli())
	b = append(b, `","fields":`...)
	open := byte('{')
	for _, fields := range [2][]Field{id.format.Layout, more} {
		for _, f := range fields {
			if f.Name == "" {
				continue
			}
			b = append(b, open, '"')
			b = append(b, f.Name...)
			b = append(b, `":"`...)
			b = f.Of(id).Append(b)
			b = append(b, '"')
			open = ','
		}
	}
	b = append(b, '}')
	if notes := id.Notes(); len(notes) > 0 {
		b = append(b, `,"notes":`...)
		for i, note := range notes {
			b = append(b, "[,"[min(i, 1)])
			b = strconv.AppendQuote(b, note) // plain ASCII, for which Go quotes as JSON does
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendTime appends the time in [TimeLayout], which Format would take longer for.
func appendTime(b []byte, ms int64) []byte {
	t := time.UnixMilli(ms).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	b = appendPadded(b, uint64(year), 4+year/10000)
	b = append(b, '-')
	b = appendPadded(b, uint64(month), 2)
	b = append(b, '-')
	b = appendPadded(b, uint64(day), 2)
	b = append(b, 'T')
	b = appendPadded(b, uint64(hour), 2)
	b = append(b, ':')
	b = appendPadded(b, uint64(minute), 2)
	b = append(b, ':')
	b = appendPadded(b, uint64(second), 2)
	b = append(b, '.')
	b = appendPadded(b, uint64(t.Nanosecond()/1e6), 3)
	return append(b, 'Z')
}

// MarshalJSON returns the format's description.
func (f *Format) MarshalJSON() ([]byte, error) {
	type field struct {
		Name    string `json:"name"`
		Bits    int    `json:"bits"`
		Low     int    `json:"low"`
		Kind    Kind   `json:"kind"`
		Meaning string `json:"meaning"`
	}
	type option struct {
		Name   string `json:"name"`
		Value  string `json:"value,omitempty"`
		Usage  string `json:"usage"`
		Needed bool   `json:"needed"`
	}
	layout := make([]field, len(f.Layout))
	for i, b := range f.Layout {
		layout[i] = field{b.Name, b.Bits, b.Low, b.Kind, b.Meaning}
	}
	options := make([]option, len(f.Options))
	for i, o := range f.Options {
		options[i] = option{o.Name, o.Value, o.Usage, o.Needed}
	}
	return json.Marshal(struct {
		Name        string     `json:"format"`
		Title       string     `json:"title"`
		Summary     string     `json:"summary"`
		Bits        int        `json:"bits"`
		Layout      []field    `json:"layout"`
		Encodings   []Encoding `json:"encodings"`
		Alphabet    string     `json:"text"`
		Symbols     string     `json:"symbols"`
		FoldsCase   bool       `json:"folds_case"`
		TextLengths []int      `json:"text_lengths"`
		TextSorts   bool       `json:"text_sorts"`
		Example     string     `json:"example"`
		Max         string     `json:"max"`
		Epoch       string     `json:"epoch"`
		TickMillis  int64      `json:"tick_ms"`
		Reserved    bool       `json:"reserved"`
		First       string     `json:"first"`
		Last        string     `json:"last"`
		Unique      string     `json:"unique"`
		PerTick     string     `json:"per_tick"`
		Options     []option   `json:"options"`
	}{
		f.Name, f.Title, f.Summary, f.Bits, layout, f.Encodings, f.Alphabet, f.Symbols, f.FoldsCase, f.TextLengths, f.TextSorts, f.Example,
		f.Max().String(), FormatTime(f.Epoch), f.Tick.Milliseconds(), f.Reserved, FormatTime(f.First), FormatTime(f.Last),
		f.Unique, f.PerTick, options,
	})
}
