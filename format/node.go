package format

import (
	"cmp"
	"slices"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
)

// WithNode returns the formats whose node IDs can be leased, ours first.
func WithNode() []*Format {
	return slices.DeleteFunc(All(), func(f *Format) bool { return f.NodeBits == 0 })
}

// LookupWithNode is like [LookupAny], but fails with an error that lists [WithNode] if IDs of the
// format have no node ID.
func LookupWithNode(name string) (*Format, error) {
	f, err := lookup(all, name)
	switch {
	case err != nil:
		return nil, &sortid.UnknownError{What: "format with node IDs", Name: name,
			Known: namesOf(WithNode())}
	case f.NodeBits == 0:
		return nil, kindErrorf(sortid.ErrOption,
			"IDs of %s have no node ID; the formats with one are %s", f.Name,
			words.List(namesOf(WithNode()), "and"))
	}
	return f, nil
}

// LeaseConfig returns the Format, NodeBits and OneSize of a new realm for node IDs of nodeBits
// bits. If nodeBits is 0, the node IDs of the realm have [Format.NodeBits], and a realm of scru64
// grants all sizes. LeaseConfig fails with [sortid.ErrOption] if no node ID of the format can have
// this size. If the format's node IDs are longer than [lease.MaxBits], nodeBits must not be 0.
func (f *Format) LeaseConfig(nodeBits int) (lease.Config, error) {
	c := lease.Config{Format: f.Lease, NodeBits: nodeBits, OneSize: nodeBits != 0}
	switch most := f.Lease.Bits; {
	case most == 0:
		_, err := LookupWithNode(f.Name)
		return c, err
	case nodeBits < 0 || nodeBits > most:
		return c, kindErrorf(sortid.ErrOption, "a node ID of %s has 1 to %d bits, not %d", f.Name, most,
			nodeBits)
	case nodeBits == 0 && f.NodeBits > most:
		return c, kindErrorf(sortid.ErrOption, "the node IDs of %s have %d bits, and a realm grants "+
			"node IDs of at most %d: choose a size", f.Name, f.NodeBits, most)
	case nodeBits == 0:
		c.Format.Bits = f.NodeBits
	}
	return c, nil
}

// completeNode sets NodeBits and Lease of a format whose layout has a field for node IDs. The first
// such field and the next ones form a node ID.
func (f *Format) completeNode() {
	if f.Lease != (lease.Format{}) { // ours
		f.NodeBits = f.Lease.Bits
		return
	}
	for _, field := range f.Layout {
		if field.Kind == KindNode {
			f.NodeBits += field.Bits
		} else if f.NodeBits != 0 {
			break
		}
	}
	if bits := cmp.Or(f.mostNodeBits, f.NodeBits); bits != 0 {
		// A tick of a realm has whole milliseconds.
		f.Lease = lease.Format{Name: f.Name, Bits: min(bits, lease.MaxBits),
			Tick: max(f.Tick, time.Millisecond), Epoch: f.Epoch}
	}
}
