package spec

import (
	"slices"

	"github.com/sortid/sortid/internal/integer"
)

// Of returns the field's content, of up to 128 bits.
func (f *Field) Of(w *integer.Words) (high, low uint64) {
	place := integer.PlaceOf(f.Low, min(f.Bits, 64))
	if low = place.Of(w); f.Bits > 64 {
		place = integer.PlaceOf(f.Low+64, f.Bits-64)
		high = place.Of(w)
	}
	return high, low
}

// Inner returns the format of the ID inside, or nil.
func (f *Format) Inner(w *integer.Words) *Format {
	for _, inner := range f.Within {
		if inner.Has(*w) {
			return inner
		}
	}
	return nil
}

// LayoutOf returns the layout of an ID, or of the ID inside.
func (f *Format) LayoutOf(w *integer.Words) []Field {
	if inner := f.Inner(w); inner != nil {
		return inner.Layout
	}
	return f.Layout
}

// Generated reports whether an ID's constant fields have the values that generators write. For an
// EUID this means version 1.
func (f *Format) Generated(w *integer.Words) bool {
	for i := range f.constants {
		field := &f.constants[i]
		if _, v := field.Of(w); v != field.Value {
			return false
		}
	}
	return true
}

// Constant returns the bits that are the same in all IDs, as ones, and their values.
func (f *Format) Constant() (mask, values integer.Words) {
	for _, field := range f.Layout {
		if field.isConstant() {
			bits := integer.Ones(field.Bits)
			mask = mask.Or(bits.Shift(field.Low))
			values = values.Or(integer.Words{Low: field.Value}.And(bits).Shift(field.Low))
		}
	}
	return mask, values
}

// FixedBits returns how many bits are the same in all IDs, and not zero.
func (f *Format) FixedBits() (n int) {
	for _, field := range f.Layout {
		if field.Kind == KindFixed {
			n += field.Bits
		}
	}
	return n
}

// ConvertsTo reports whether an ID's integer has the same meaning in another format. This is so
// if both formats have the same time in the same bits, or if both are UUIDs, in whatever text.
func (f *Format) ConvertsTo(g *Format) bool {
	if f == g || f.Bits != g.Bits {
		return false
	}
	if f.Within != nil || g.Within != nil {
		return (f.Within != nil || slices.Contains(versions(), f)) &&
			(g.Within != nil || slices.Contains(versions(), g))
	}
	return f.Tick != 0 && g.Tick != 0 && f.Tick == g.Tick && f.Epoch.Equal(g.Epoch) &&
		slices.EqualFunc(f.timestamp, g.timestamp, func(a, b Field) bool {
			return a.Low == b.Low && a.Bits == b.Bits && a.Shift == b.Shift
		})
}
