package format

import (
	"cmp"
	"fmt"
	"math"
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

// With returns a format like f with another epoch, tick or layout, which some generators let their
// users choose. The zero epoch, a tick of 0 and no bits mean f's own. bits are the sizes of the
// fields in bits, the timestamp first. [Lookup] does not find the new format.
//
// f must have IDs of 64 bits that begin with a timestamp, such as Snowflakes. Otherwise, or if the
// epoch, tick and bits do not fit, With returns an error that matches [sortid.ErrOption].
func (f *Format) With(name string, epoch time.Time, tick time.Duration, bits []int) (*Format,
	error) {
	fail := func(reason string, args ...any) (*Format, error) {
		return nil, parseerr.Kindf(sortid.ErrOption, name+": "+reason, args...)
	}
	var fields []Field
	for _, field := range f.Layout {
		if field.Name != "" {
			fields = append(fields, field)
		}
	}
	if f.Generates || f.Size != 8 || len(f.timestamp) != 1 || fields[0].Kind != KindTime {
		return fail("its epoch, unit and layout are fixed")
	}
	if epoch.IsZero() {
		epoch = f.Epoch
	}
	tick = cmp.Or(tick, f.Tick)
	if tick <= 0 || tick%time.Millisecond != 0 && time.Millisecond%tick != 0 {
		return fail("a unit of %v, want a multiple of 1ms, or 1ms divided by a whole number", tick)
	}
	if bits != nil {
		if len(bits) != len(fields) {
			fields = append([]Field(nil), ownFields[len(bits)]...)
		}
		if fields == nil {
			return fail("a layout of %d fields, want 2, 3 or 4 such as 41,10,12", len(bits))
		}
		total := 0
		for i, n := range bits {
			if n < 1 || n > 64 {
				return fail("a field of %d bits, want 1 to 64", n)
			}
			fields[i].Bits, fields[i].Usual = n, 0
			total += n
		}
		if total > 64 {
			return fail("a layout of %d bits, want at most 64", total)
		}
		if total < 64 {
			fields = append([]Field{zeros(64 - total)}, fields...)
		}
	} else {
		fields = append([]Field(nil), f.Layout...)
	}
	for i := range fields {
		if t := &fields[i]; t.Kind == KindTime {
			t.Name = cmp.Or(t.Name, "timestamp")
			t.Meaning = fmt.Sprintf("units of %v since %s", tick, words.Time(epoch))
			// The last day of JavaScript's Date.
			last := float64(epoch.UnixMilli()) + math.Ldexp(tick.Seconds()*1000, t.Bits)
			if last > 8.64e15 {
				return fail("a timestamp of %d bits in units of %v reaches beyond the year 275760",
					t.Bits, tick)
			}
		}
	}
	title := f.Title
	if name != f.Name {
		title = name
	}
	search := f.Search
	search.Rarity = 0
	return other(&Format{Name: name, Title: title, Summary: f.Summary, Source: f.Source,
		Layout: fields, Encodings: f.Encodings, Text: f.Text, Search: search, Example: f.Example,
		Epoch: epoch.UTC(), Tick: tick}), nil
}
