package spec

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/words"
)

// ownFields has the usual fields of a Snowflake, by their number.
var ownFields = map[int][]Field{
	2: {{Kind: KindTime}, field("sequence", 0, KindCounter, "+ 1 within a tick, or random")},
	3: {{Kind: KindTime}, field("node", 0, KindNode, "the generator"),
		field("sequence", 0, KindCounter, "+ 1 within a tick")},
	4: {{Kind: KindTime}, field("datacenter", 0, KindNode, "the data centre"),
		field("worker", 0, KindNode, "the generator in the data centre"),
		field("sequence", 0, KindCounter, "+ 1 within a tick")},
}

// A Variant has an epoch, a tick and a layout that some generators let their users choose.
type Variant struct {
	Name  string
	Epoch time.Time     // Zero means the format's own.
	Tick  time.Duration // Zero means the format's own.
	Bits  []int         // The sizes of the fields, the timestamp first; nil means the format's own.
}

// With returns a format like f, but as the variant says. [Lookup] does not find it. f must have IDs
// of 64 bits that begin with a timestamp, such as Snowflakes. Otherwise, or if the variant does not
// fit, With returns an error that matches [sortid.ErrOption].
func (f *Format) With(v Variant) (*Format, error) {
	made, err := f.with(v)
	if err != nil {
		return nil, parseerr.Kindf(sortid.ErrOption, "%s: %w", v.Name, err)
	}
	return made, nil
}

func (f *Format) with(v Variant) (*Format, error) {
	fields := slices.DeleteFunc(slices.Clone(f.Layout),
		func(field Field) bool { return field.Name == "" })
	if f.Generates || f.Size != 8 || len(f.timestamp) != 1 || fields[0].Kind != KindTime {
		return nil, errors.New("its epoch, unit and layout are fixed")
	}
	if v.Epoch.IsZero() {
		v.Epoch = f.Epoch
	}
	v.Tick = cmp.Or(v.Tick, f.Tick)
	if v.Tick <= 0 || v.Tick%time.Millisecond != 0 && time.Millisecond%v.Tick != 0 {
		return nil, fmt.Errorf("a unit of %v, want a multiple of 1ms, or 1ms divided by a whole number",
			v.Tick)
	}
	layout := slices.Clone(f.Layout)
	if v.Bits != nil {
		var err error
		if layout, err = resize(fields, v.Bits); err != nil {
			return nil, err
		}
	}
	if err := v.setTime(layout); err != nil {
		return nil, err
	}
	title := f.Title
	if v.Name != f.Name {
		title = v.Name
	}
	search := f.Search
	search.Rarity = 0
	return other(&Format{Name: v.Name, Title: title, Summary: f.Summary, Source: f.Source,
		Layout: layout, Encodings: f.Encodings, Text: f.Text, Search: search, Example: f.Example,
		Epoch: v.Epoch.UTC(), Tick: v.Tick}), nil
}

// resize returns a layout of 64 bits, with fields of these sizes at its end. If their number differs,
// it uses the fields in ownFields.
func resize(fields []Field, bits []int) ([]Field, error) {
	if len(bits) != len(fields) {
		fields = slices.Clone(ownFields[len(bits)])
	}
	if fields == nil {
		return nil, fmt.Errorf("a layout of %d fields, want 2, 3 or 4 such as 41,10,12", len(bits))
	}
	total := 0
	for i, n := range bits {
		if n < 1 || n > 64 {
			return nil, fmt.Errorf("a field of %d bits, want 1 to 64", n)
		}
		fields[i].Bits, fields[i].Usual = n, 0
		total += n
	}
	if total > 64 {
		return nil, fmt.Errorf("a layout of %d bits, want at most 64", total)
	}
	if total < 64 {
		fields = append([]Field{zeros(64 - total)}, fields...)
	}
	return fields, nil
}

// setTime describes the timestamp of a layout. All times must fit JavaScript's Date.
func (v Variant) setTime(layout []Field) error {
	t := &layout[slices.IndexFunc(layout, func(field Field) bool { return field.Kind == KindTime })]
	t.Name = cmp.Or(t.Name, "timestamp")
	t.Meaning = fmt.Sprintf("units of %v since %s", v.Tick, words.Time(v.Epoch))
	last := float64(v.Epoch.UnixMilli()) + math.Ldexp(v.Tick.Seconds()*1000, t.Bits)
	if last > 8.64e15 {
		return fmt.Errorf("a timestamp of %d bits in units of %v reaches beyond the year 275760",
			t.Bits, v.Tick)
	}
	return nil
}
