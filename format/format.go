// Package format reads IDs whose format a program learns at run time: IDs of our five formats, and of
// other projects, such as UUIDs, ULIDs and Snowflakes. If you know the format, import the format's
// package instead, for shorter and faster code.
//
// [Detect] lists the IDs that a text may be. [Lookup] finds a [Format] by its name; it parses texts,
// and bounds ranges of time. An [ID] of any format has fields and a time, and can be written in
// several encodings.
//
// Package generate makes IDs of a format. Values of all types may be used by several goroutines at
// once.
package format

import (
	"slices"
	"sync"
	"time"

	"github.com/sortid/sortid/internal/spec"
)

// A Format is one format of IDs. Each format has one *Format, so programs may compare pointers.
type Format spec.Opaque

// of returns the format of a description.
func of(s *spec.Format) *Format { return (*Format)(s.Opaque()) }

func listOf(specs []*spec.Format) []*Format {
	list := make([]*Format, len(specs))
	for i, s := range specs {
		list[i] = of(s)
	}
	return list
}

// The lists are made at the first use, so that a program that imports this package starts at once.
var (
	all  = sync.OnceValue(func() []*Format { return listOf(spec.All()) })
	ours = sync.OnceValue(func() []*Format { return listOf(spec.Ours()) })
)

// All returns all formats, ours first.
func All() []*Format { return slices.Clone(all()) }

// Ours returns the formats with generators, in the order in which tables list them.
func Ours() []*Format { return slices.Clone(ours()) }

// Lookup returns the format with this name, or a [*sortid.UnknownError]. Letter case does not
// matter.
func Lookup(name string) (*Format, error) {
	s, err := spec.Lookup(name)
	if err != nil {
		return nil, err
	}
	return of(s), nil
}

// Name returns the name, such as "scru128". For our formats, it is also the package's name.
func (f *Format) Name() string { return spec.Of(f).Name }

// Title returns the name in the format's document.
func (f *Format) Title() string { return spec.Of(f).Title }

// Summary returns what the format is, in a few words.
func (f *Format) Summary() string { return spec.Of(f).Summary }

// Source returns the format's document: its title, its address, or both.
func (f *Format) Source() string { return spec.Of(f).Source }

// Example returns the text of an ID.
func (f *Format) Example() string { return spec.Of(f).Example }

// Bits returns the size of an ID in bits.
func (f *Format) Bits() int { return spec.Of(f).Bits }

// Size returns the size of an ID in bytes.
func (f *Format) Size() int { return spec.Of(f).Size }

// Layout returns the fields, from the most significant bit to the least.
func (f *Format) Layout() []Field { return fieldsOf(spec.Of(f).Layout) }

// Encodings returns the encodings of IDs, the usual one first.
func (f *Format) Encodings() []Encoding {
	all := spec.Of(f).Encodings
	list := make([]Encoding, len(all))
	for i, e := range all {
		list[i] = Encoding(e)
	}
	return list
}

// Epoch returns the time of timestamp 0.
func (f *Format) Epoch() time.Time { return spec.Of(f).Epoch }

// Tick returns the timestamp's unit, a multiple or a divisor of 1 ms. It returns 0 if IDs have no
// time.
func (f *Format) Tick() time.Duration { return spec.Of(f).Tick }

// First returns the first time in generated IDs.
func (f *Format) First() time.Time { return spec.Of(f).First }

// Last returns the last time in generated IDs.
func (f *Format) Last() time.Time { return spec.Of(f).Last }

// Ordered reports whether IDs, as integers, are in order of time.
func (f *Format) Ordered() bool { return spec.Of(f).Ordered }

// Generates reports whether package generate makes IDs of the format.
func (f *Format) Generates() bool { return spec.Of(f).Generates }

// PlausibleRange returns the range of plausible times. It begins when the format was new, or else
// in 2010. If the epoch is later, it begins a month after the epoch, because small integers look
// like times in the first month. It ends a year after the current time.
func (f *Format) PlausibleRange(now time.Time) (from, to time.Time) {
	return spec.Of(f).PlausibleRange(now)
}

// Bounds returns the bounds of a time range: an ID is in the range if first <= ID and ID < end. The
// bounds are the smallest IDs of the ticks that contain the two times. Bounds returns
// [sortid.ErrTimeRange] if a time is outside the format's range. It also fails if the range is
// empty, or if IDs are not in order of time. For TypeIDs, the bounds are for a UUIDv7 inside.
func (f *Format) Bounds(from, to time.Time) (first, end ID, err error) {
	s := spec.Of(f)
	a, b, err := s.Bounds(from, to)
	if err != nil {
		return ID{}, ID{}, err
	}
	return ID{s, a}, ID{s, b}, nil
}

// A Variant is a format with an epoch, a tick and a layout of its own.
type Variant struct {
	Name  string
	Epoch time.Time     // Zero means the epoch of the original.
	Tick  time.Duration // 0 means the tick of the original.
	Bits  []int         // The sizes of the fields, the timestamp first; nil: as in the original.
}

// With returns a format like f with another epoch, tick or layout, which some generators let their
// users choose. [Lookup] does not find the new format.
//
// f must have IDs of 64 bits that begin with a timestamp, such as Snowflakes. Otherwise, or if the
// variant does not fit, With returns an error that matches [sortid.ErrOption].
func (f *Format) With(v Variant) (*Format, error) {
	s, err := spec.Of(f).With(spec.Variant(v))
	if err != nil {
		return nil, err
	}
	return of(s), nil
}

// A Kind is the purpose of a field.
type Kind string

const (
	KindTime    Kind = "time"    // The timestamp, or a part of it.
	KindCounter Kind = "counter" // Differs between the IDs of a tick.
	KindNode    Kind = "node"    // The generator; for scru64, also its counter.
	KindRandom  Kind = "random"
	KindData    Kind = "data"  // Anything else, such as the user's data.
	KindZero    Kind = "zero"  // Always 0.
	KindFixed   Kind = "fixed" // The same in all IDs, such as a version.
)

// A Field is a range of bits.
type Field struct {
	Name    string // as in the document; empty if the bits are always zero
	Bits    int    // the width
	Low     int    // the position of the lowest bit in the ID
	Kind    Kind
	Meaning string // in one line
}

func fieldsOf(layout []spec.Field) []Field {
	fields := make([]Field, len(layout))
	for i, f := range layout {
		fields[i] = Field{f.Name, f.Bits, f.Low, Kind(f.Kind), f.Meaning}
	}
	return fields
}
