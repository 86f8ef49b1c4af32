package format

import (
	"math/bits"
	"slices"
)

// Words are the integer of an [ID], the most significant word first. They need less memory than an
// ID.
type Words [3]uint64

// Words returns the integer.
func (id ID) Words() Words { return id.words }

// FromWords returns the ID with this integer, or an error if the format has no such ID.
func (f *Format) FromWords(w Words) (id ID, err error) { // inlined, for package generate
	if f.check != nil {
		if err = f.check(w); err != nil {
			return
		}
	}
	return ID{f, w}, nil
}

// has reports whether the format has an ID with this integer.
func (f *Format) has(w Words) bool { return f.check == nil || f.check(w) == nil }

// Compare returns -1, 0 or +1 if w is below, equal to or above v.
func (w Words) Compare(v Words) int { return slices.Compare(w[:], v[:]) }

// Less reports whether w < v.
func (w *Words) Less(v *Words) bool {
	_, borrow := bits.Sub64(w[2], v[2], 0)
	_, borrow = bits.Sub64(w[1], v[1], borrow)
	_, borrow = bits.Sub64(w[0], v[0], borrow)
	return borrow != 0
}

// A Place is a range of at most 64 bits.
type Place struct {
	word, above uint8 // the indexes of the lowest bit's word, and of the word above it
	shift       uint8
	mask        uint64
}

// PlaceOf returns the place with this lowest bit and this number of bits.
func PlaceOf(low, bits int) Place {
	word := 2 - low/64
	return Place{uint8(word), uint8(max(word-1, 0)), uint8(low % 64), 1<<bits - 1}
}

// Place returns the place of a field of at most 64 bits.
func (f *Field) Place() Place { return PlaceOf(f.Low, f.Bits) }

// Max returns the largest content of the place.
func (p *Place) Max() uint64 { return p.mask }

// Width returns the place's number of bits.
func (p *Place) Width() int { return bits.Len64(p.mask) }

// Of returns the place's content.
func (p *Place) Of(w *Words) uint64 {
	return (w[p.word]>>(p.shift&63) | w[p.above]<<1<<((63-p.shift)&63)) & p.mask
}

// Timestamp returns an integer's timestamp, in ticks of f.Tick since f.Epoch.
func (f *Format) Timestamp(w *Words) uint64 {
	if len(f.places) == 1 {
		return f.places[0].Of(w)
	}
	ticks := uint64(0)
	for i := range f.places {
		ticks |= f.places[i].Of(w) << f.timestamp[i].Shift
	}
	return ticks
}

// InEncoding returns the integer in an encoding of the format, or in hexadecimal if the integer is
// not an ID.
func (f *Format) InEncoding(w Words, e Encoding) string {
	if !f.has(w) {
		return ID{f, w}.In(Hex)
	}
	return ID{f, w}.In(e)
}

// InOrder reports whether IDs, as integers, are in order of time.
func (f *Format) InOrder() bool { return f.ordered }

// LastTimestamp returns the largest timestamp.
func (f *Format) LastTimestamp() uint64 { return f.Timestamp(&f.max) }
