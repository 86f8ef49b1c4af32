package scheme

import (
	"encoding/json"
	"strconv"
	"time"
)

// AppendJSON appends the ID as a JSON object in one line to b. Every integer is a string,
// so that none loses digits:
//
//	scheme, text, int, hex, uuid (of 128 bits), time, fields, notes (if there are any)
func (id ID) AppendJSON(b []byte) []byte {
	b = append(b, `{"scheme":"`...)
	b = append(b, id.scheme.Name...)
	b = append(b, '"')
	return append(id.appendMembers(b, nil), '}')
}

// appendMembers appends the members from the text on; split are fields to show beside
// those of the layout.
func (id ID) appendMembers(b []byte, split []Field) []byte {
	for _, f := range id.scheme.Forms {
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
	for _, fields := range [2][]Field{id.scheme.Layout, split} {
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
	return b
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

// A Reading is an inspected text: the ID that it is, and what else it could be.
type Reading struct {
	Input string
	Candidate
	Given  bool        // that the scheme was given, and not detected
	Others []Candidate // other readings, the most probable first
	Split  []Field     // what to show a SCRU64 ID's node_ctr as, too; see SplitNode
}

// Inspect reads a text whose format is unknown. If it finds no reading, the error is
// that of [Undetected].
func Inspect(text string) (Reading, error) {
	var r Reading
	err := r.Inspect(nil, text)
	return r, err
}

// Inspect sets the reading to that of a text: in any form of the scheme, or by [Detect]
// if the scheme is nil. It keeps Split, and the memory of Others, so that a program can
// read many texts without allocating for each; with an error the reading is not to be used.
func (r *Reading) Inspect(s *Scheme, text string) error {
	*r = Reading{Input: text, Others: r.Others[:0], Split: r.Split}
	if s != nil {
		id, form, err := s.ParseAny(text)
		r.Candidate, r.Given = Candidate{ID: id, Form: form}, true
		return err
	}
	found := AppendDetect(r.Others, text)
	if len(found) == 0 {
		return Undetected(text)
	}
	r.Candidate = found[0]
	r.Others = append(found[:0], found[1:]...)
	return nil
}

// Reason says why the text was read so.
func (r *Reading) Reason() string {
	if r.Given {
		return "the scheme was given"
	}
	return r.Candidate.Reason()
}

// AppendJSON appends the reading as a JSON object in one line to b: what [ID.AppendJSON]
// has, and input, form, reason, and others, a list of {scheme, form, text, time, reason}.
func (r *Reading) AppendJSON(b []byte) []byte {
	b = append(b, `{"scheme":"`...)
	b = append(b, r.ID.scheme.Name...)
	b = append(b, `","input":"`...)
	b = append(b, r.Input...) // an alphabet of IDs needs no escapes
	b = append(b, `","form":"`...)
	b = append(b, r.Form...)
	b = append(b, '"')
	var split []Field
	if r.ID.scheme == SCRU64 {
		split = r.Split
	}
	b = r.ID.appendMembers(b, split)
	b = append(b, `,"reason":"`...)
	if r.Given {
		b = append(b, r.Reason()...)
	} else {
		b = r.Candidate.appendReason(b)
	}
	b = append(b, `","others":[`...)
	for i, c := range r.Others {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"scheme":"`...)
		b = append(b, c.ID.scheme.Name...)
		b = append(b, `","form":"`...)
		b = append(b, c.Form...)
		b = append(b, `","text":"`...)
		b = c.ID.Append(b, Text)
		b = append(b, `","time":"`...)
		b = appendTime(b, c.ID.Milli())
		b = append(b, `","reason":"`...)
		b = c.appendReason(b)
		b = append(b, `"}`...)
	}
	return append(b, `]}`...)
}

func (c Candidate) appendReason(b []byte) []byte {
	b = append(b, c.shape()...)
	return append(b, c.believed()...)
}

// MarshalJSON returns the scheme's description; every integer in it is a string.
func (s *Scheme) MarshalJSON() ([]byte, error) {
	type field struct {
		Name    string `json:"name"`
		Bits    int    `json:"bits,string"`
		Low     int    `json:"low,string"`
		Kind    Kind   `json:"kind"`
		Meaning string `json:"meaning"`
	}
	type option struct {
		Name   string `json:"name"`
		Value  string `json:"value,omitempty"`
		Usage  string `json:"usage"`
		Needed bool   `json:"needed"`
	}
	layout := make([]field, len(s.Layout))
	for i, f := range s.Layout {
		layout[i] = field(f)
	}
	options := make([]option, len(s.Options))
	for i, o := range s.Options {
		options[i] = option{o.Name, o.Value, o.Usage, o.Needed}
	}
	lengths := make([]string, len(s.TextLengths))
	for i, n := range s.TextLengths {
		lengths[i] = strconv.Itoa(n)
	}
	return json.Marshal(struct {
		Name        string   `json:"scheme"`
		Title       string   `json:"title"`
		Summary     string   `json:"summary"`
		Choose      string   `json:"choose"`
		Bits        int      `json:"bits,string"`
		Layout      []field  `json:"layout"`
		Forms       []Form   `json:"forms"`
		Alphabet    string   `json:"text"`
		TextLengths []string `json:"text_lengths"`
		TextSorts   bool     `json:"text_sorts"`
		Example     string   `json:"example"`
		Max         string   `json:"max"`
		Epoch       string   `json:"epoch"`
		TickMillis  int64    `json:"tick_ms,string"`
		Reserved    bool     `json:"reserved"`
		First       string   `json:"first"`
		Last        string   `json:"last"`
		Unique      string   `json:"unique"`
		PerTick     string   `json:"per_tick"`
		Options     []option `json:"options"`
	}{
		s.Name, s.Title, s.Summary, s.Choose, s.Bits, layout, s.Forms, s.Alphabet, lengths, s.TextSorts, s.Example,
		s.Max().In(Text), FormatTime(s.Epoch), s.Tick.Milliseconds(), s.Reserved, FormatTime(s.First), FormatTime(s.Last),
		s.Unique, s.PerTick, options,
	})
}
