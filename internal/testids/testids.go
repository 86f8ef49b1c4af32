// Package testids makes IDs and times of any format, with the edges, for tests of other readers.
package testids

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
)

// An ID has its time in whole microseconds.
type ID struct {
	Words  integer.Words
	Time   time.Time
	format *spec.Format
}

// In returns the ID in an encoding of its format.
func (id ID) In(e spec.Encoding) string { return id.format.In(id.Words, e) }

// String returns the ID in the format's first encoding.
func (id ID) String() string { return id.In(id.format.Encodings[0]) }

// At returns the time in a layout, or NULL if the ID has none.
func (id ID) At(layout string) string {
	if id.Time.IsZero() {
		return "NULL"
	}
	return id.Time.Format(layout)
}

// IDs returns n or a few more random IDs of a format, some with all variable bits 0 or 1. For a
// format with inner IDs, it returns IDs of all these formats.
func IDs(f *spec.Format, r *rand.Rand, n int) (ids []ID) {
	inner := f.Within
	if inner == nil {
		inner = []*spec.Format{f}
	}
	fills := []func() byte{func() byte { return 0 }, func() byte { return 255 },
		func() byte { return byte(r.Uint32()) }}
	for i := 0; len(ids) < n; i++ {
		for _, g := range inner {
			b := make([]byte, f.Size)
			for j := range b {
				b[j] = fills[min(i, 2)]()
			}
			setConstants(b, g)
			if w, err := f.FromBytes(b); err == nil {
				ids = append(ids, sampleOf(f, w))
			}
		}
	}
	return append(ids, sampleOf(f, Largest(f)))
}

func sampleOf(f *spec.Format, w integer.Words) ID {
	return ID{w, f.Time(&w).Truncate(time.Microsecond), f}
}

// setConstants sets the bits that are the same in all IDs.
func setConstants(b []byte, f *spec.Format) {
	for _, field := range f.Layout {
		if field.Kind != spec.KindFixed && field.Kind != spec.KindZero {
			continue
		}
		for i := range field.Bits {
			at, bit := len(b)-1-(field.Low+i)/8, byte(1)<<((field.Low+i)%8)
			b[at] &^= bit
			if field.Value>>i&1 == 1 {
				b[at] |= bit
			}
		}
	}
}

// usual returns the format of the IDs that Bounds returns.
func usual(f *spec.Format) *spec.Format {
	for _, g := range f.Within {
		if g.Name == "uuidv7" {
			return g
		}
	}
	return f
}

// Times returns n random times, and the edges of a format's range.
func Times(f *spec.Format, r *rand.Rand, n int) (times []time.Time) {
	f = usual(f)
	for _, edge := range []time.Time{f.Epoch, f.Last.Add(1), time.Unix(0, 0),
		time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC)} {
		for _, d := range []time.Duration{-time.Second, -time.Microsecond, 0, time.Microsecond, f.Tick,
			time.Second} {
			times = append(times, edge.Add(d).Truncate(time.Microsecond).UTC())
		}
	}
	for range n {
		times = append(times, time.UnixMicro(r.Int64N(8e15)).UTC())
	}
	return times
}

// Largest returns the largest ID. For a format with inner IDs, it is the largest usual one.
func Largest(f *spec.Format) integer.Words { return usual(f).Codec.Max }

// A Column stores IDs of a format in an encoding.
type Column struct {
	*spec.Format
	Encoding spec.Encoding
	Time     string // the name of the function that returns an ID's time
	First    string // of the function that returns a time's first ID; or empty
}

// Columns returns the columns that the SQL of the command can read, the usual one first.
func Columns(f *spec.Format) (list []Column) {
	name := strings.ReplaceAll(f.Name, "-", "_")
	first := name + "_first"
	for _, e := range []spec.Encoding{f.Encodings[0], spec.UUID, spec.Int} {
		if !slices.Contains(f.Encodings, e) || e == spec.Int && f.Bits > 64 ||
			slices.ContainsFunc(list, func(c Column) bool { return c.Encoding == e }) {
			continue
		}
		if base := len(f.Text.Symbols); e == spec.Text && (f.Within != nil && base&(base-1) != 0 ||
			f.Text.Prefix == nil && len(f.Text.Lengths) > 1) {
			continue
		}
		c := Column{Format: f, Encoding: e, Time: name + "_time"}
		day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		_, _, err := f.Bounds(day, day.AddDate(0, 0, 1))
		if err == nil && (e != spec.Text || f.Text.Sorts) {
			c.First = first
			if first = name + "_first"; slices.ContainsFunc(list,
				func(c Column) bool { return c.First != "" }) {
				c.First = first + "_" + string(e)
			}
		}
		list = append(list, c)
	}
	return list
}

// Fits reports whether the column can store the ID: an integer has 63 bits.
func (c Column) Fits(w integer.Words) bool {
	return c.Encoding != spec.Int || w.Low < 1<<63
}

// FirstID returns the first ID of a time, as text. Before the epoch, it is the smallest ID. After
// the last time, it is the largest ID that the column can store.
func (c Column) FirstID(at time.Time) string {
	f := usual(c.Format)
	end := f.Last.Add(1)
	if f.Reserved {
		end = end.Add(f.Tick)
	}
	if at.Before(f.Epoch) {
		at = f.Epoch
	}
	w := Largest(c.Format)
	if at.Before(end) {
		var err error
		if w, _, err = c.Bounds(at, end.Add(-1)); err != nil { // at is in the last tick
			_, w, err = c.Bounds(f.Epoch, at)
		}
		w = gencore.Must(w, err)
	}
	if !c.Fits(w) {
		w = integer.Words{Low: 1<<63 - 1}
	}
	return c.In(w, c.Encoding)
}

// Value returns an ID as a text. If the format has prefixes, the text has one.
func (c Column) Value(w integer.Words) string {
	text := c.In(w, c.Encoding)
	if c.Encoding == spec.Text && c.Text.Prefix != nil {
		return "user_" + text
	}
	return text
}

// Invalid returns values that are not IDs.
func (c Column) Invalid() (list []string) {
	good := gencore.Must(c.Parse(c.Example))
	switch {
	case c.Encoding == spec.Int:
		return []string{"-1", "-9223372036854775808"}
	case c.Encoding == spec.UUID:
		if c.Encodings[0] == spec.UUID { // another version
			return []string{"00000000-0000-0000-0000-000000000000",
				"ffffffff-ffff-ffff-ffff-ffffffffffff", "919108f7-52d1-4320-9bac-f847db4148a8"}
		}
		return nil
	}
	text := c.Value(good)
	if text == c.In(good, c.Encoding) { // with a prefix, the shorter text is an ID
		list = append(list, text[1:])
	}
	return append(list, "", " ", text+"\n", text+"0", text[:len(text)-1], " "+text,
		text[:len(text)-1]+"!", text[:len(text)-1]+"é", strings.Repeat("~", len(text)),
		strings.Repeat("z", len(text)+40))
}
