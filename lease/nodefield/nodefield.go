// Package nodefield says which formats have node IDs, and how processes lease them.
//
// For generators of other formats, a [lease.Config] needs no Format.
package nodefield

import (
	"cmp"
	"slices"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
)

// Formats returns the formats whose node IDs can be leased, ours first.
func Formats() []*format.Format {
	return slices.DeleteFunc(format.All(), func(f *format.Format) bool { return Bits(f) == 0 })
}

// Lookup is like [format.Lookup], but fails with an error that lists [Formats] if IDs of the
// format have no node ID.
func Lookup(name string) (*format.Format, error) {
	f, err := format.Lookup(name)
	if err != nil {
		return nil, &sortid.UnknownError{What: "format with node IDs", Name: name,
			Known: names()}
	}
	return f, check(f)
}

func names() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name())
	}
	return names
}

func check(f *format.Format) error {
	if Bits(f) != 0 {
		return nil
	}
	return parseerr.Kindf(sortid.ErrOption, "IDs of %s have no node ID; the formats with one are %s",
		f.Name(), words.List(names(), "and"))
}

// Bits returns the size in bits of a format's node IDs, which may also have the name worker,
// machine or shard. It returns 0 if there is none, the largest size for scru64, and the usual size
// for tsid, whose IDs do not show the size.
func Bits(f *format.Format) int { return bits(spec.Of(f)) }

func bits(f *spec.Format) int {
	if f.Node.Bits != 0 {
		return f.Node.Bits
	}
	if f.Tick == 0 {
		return 0 // there are no ticks to lease
	}
	bits := 0 // the first field for node IDs and the next ones form a node ID
	for _, field := range f.Layout {
		if field.Kind == spec.KindNode {
			bits += field.Bits
		} else if bits != 0 {
			break
		}
	}
	return bits
}

// LeaseFormat returns the Format of a [lease.Config] for a format's node IDs, or the zero Format if
// there are none.
func LeaseFormat(f *format.Format) lease.Format {
	s := spec.Of(f)
	most := cmp.Or(s.Node.Most, bits(s))
	if most == 0 {
		return lease.Format{}
	}
	// A tick of a realm has whole milliseconds.
	return lease.Format{Name: s.Name, Mixed: s.Node.Mixed, Bits: min(most, lease.MaxBits),
		Tick: max(s.Tick, time.Millisecond), Epoch: s.Epoch}
}

// Config returns the Format, NodeBits and OneSize of a new realm for node IDs of nodeBits bits. If
// nodeBits is 0, the node IDs of the realm have [Bits], and a realm of scru64 grants all sizes.
// Config fails with [sortid.ErrOption] if no node ID of the format can have this size. If [Bits] is
// more than [lease.MaxBits], nodeBits must not be 0.
func Config(f *format.Format, nodeBits int) (lease.Config, error) {
	if err := check(f); err != nil {
		return lease.Config{}, err
	}
	c := lease.Config{Format: LeaseFormat(f), NodeBits: nodeBits, OneSize: nodeBits != 0}
	switch bits, most := Bits(f), c.Format.Bits; {
	case nodeBits < 0 || nodeBits > most:
		return c, parseerr.Kindf(sortid.ErrOption, "a node ID of %s has 1 to %d bits, not %d", f.Name(),
			most, nodeBits)
	case nodeBits == 0 && bits > most:
		return c, parseerr.Kindf(sortid.ErrOption, "the node IDs of %s have %d bits, and a realm grants "+
			"node IDs of at most %d: choose a size", f.Name(), bits, most)
	case nodeBits == 0:
		c.Format.Bits = bits
	}
	return c, nil
}
