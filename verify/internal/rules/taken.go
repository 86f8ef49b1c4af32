package rules

import (
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/randomness"
)

// A taken collects random bits above data bits, whose number another field has. Only IDs with as
// many random bits as the first count.
type taken struct {
	set           *randomness.Set
	name          string
	place, length format.Place
	bits          int // random bits; -1 at first
	values        *randomness.Field
	lengths       []uint64 // IDs of each length
}

func newTaken(r *Rules, f format.Field, layout []format.Field) *taken {
	t := &taken{set: r.Fields, name: f.Name, place: f.Place(), bits: -1}
	for _, other := range layout {
		if other.Name == f.PartBits {
			t.length = other.Place()
		}
	}
	t.lengths = make([]uint64, t.length.Max()+1)
	return t
}

func (t *taken) add(v *format.Words) {
	length := int(t.length.Of(v))
	bits := t.place.Width() - length
	if t.bits < 0 {
		if t.bits = bits; bits > 0 {
			t.values = t.set.Add(t.name, bits)
		}
	}
	if bits > 0 && bits == t.bits {
		t.values.Add(t.place.Of(v) >> length)
	}
}

func (t *taken) count(list []format.Words) {
	for i := range list {
		t.lengths[t.length.Of(&list[i])]++
	}
}

func (t *taken) report(r *Rules) {
	for length, n := range t.lengths {
		switch {
		case n == 0:
		case length == 0:
			r.Fact("extension", "none in %s", words.Plural(n, "ID"))
		default:
			r.Fact("extension", "of %s in %s", words.Plural(uint64(length), "bit"),
				words.Plural(n, "ID"))
		}
	}
}
