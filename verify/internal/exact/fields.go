package exact

import (
	"slices"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/chance"
	"github.com/sortid/sortid/verify/internal/findings"
)

// A watched field must be at most Most. If Most is 0, the field must be the same in all IDs.
type watched struct {
	spec.Field
	place integer.Place
	check *findings.Check
	known bool // Value is set, by the previous ID or by the format
}

func watchedIn(layout []spec.Field) (all []watched) {
	for _, f := range layout {
		if f.Kind == spec.KindNode || f.Most > 0 {
			all = append(all, watched{Field: f, place: integer.PlaceOf(f.Low, f.Bits)})
		}
	}
	return all
}

func (w *watched) judge(list []integer.Words, line uint64) {
	for i := range list {
		switch v := w.place.Of(&list[i]); {
		case w.Most > 0:
			if v > w.Most {
				w.check.FoundID(line+uint64(i), &list[i], "%s is %d", w.Name, v)
			}
		case v == w.Value && w.known:
		case w.Kind == spec.KindFixed:
			w.check.FoundID(line+uint64(i), &list[i], "the bits of the %s are %0*b", w.Name,
				w.Bits, v)
		default:
			if w.known {
				w.check.FoundID(line+uint64(i), &list[i], "the %s ID changes to %d, from %d",
					w.Name, v, w.Value)
			}
			w.Value, w.known = v, true
		}
	}
}

// A randomField has only random bits. If it has more than 64 bits, it consists of two halves.
type randomField struct {
	name   string
	places []integer.Place
	fields []*chance.Field
	raw    *chance.BitWriter // writes the bits of both halves, or nil
}

func newRandom(set *chance.Set, f spec.Field) randomField {
	r := randomField{name: f.Name}
	if f.Bits <= 64 {
		r.places = []integer.Place{integer.PlaceOf(f.Low, f.Bits)}
		r.fields = []*chance.Field{set.Add(f.Name, f.Bits)}
	} else {
		low := f.Bits / 2
		high := f.Bits - low
		r.raw = set.Raw(f.Name)
		r.places = []integer.Place{integer.PlaceOf(f.Low+low, high), integer.PlaceOf(f.Low, low)}
		r.fields = []*chance.Field{set.Add(f.Name+".high", high), set.Add(f.Name+".low", low)}
	}
	r.fields[0].Half = f.Half
	return r
}

func (f *randomField) add(list []integer.Words) {
	for i, field := range f.fields {
		place := f.places[i]
		for rest := list; len(rest) > 0; {
			values := field.Grow(len(rest))
			for i := range values {
				values[i] = place.Of(&rest[i])
			}
			rest = rest[len(values):]
		}
	}
	if f.raw != nil {
		for i := range list {
			for _, place := range f.places {
				f.raw.Add(place.Of(&list[i]), place.Width())
			}
		}
	}
}

// full reports whether the field is a full counter, which may go on in the next tick with 0.
func (f *randomField) full(v *integer.Words) bool {
	return !slices.ContainsFunc(f.places, func(p integer.Place) bool { return p.Of(v) != p.Max() })
}

func (f *randomField) hintNode(found *findings.List) {
	values := f.fields[0]
	same := 0
	for bit := values.Width() - 1; bit >= 0 && values.Toggled(bit) == 0; bit-- {
		same++
	}
	if same > 0 && values.Len() >= inferenceStarts {
		found.Fact("hint", "nothing changes in the high %s of %s; "+
			"if this is a node ID, give its size (--node-bits)",
			words.Plural(uint64(same), "bit"), f.name)
	}
}

// A mixed field has random bits, but its low bits are data. Another field contains the number of
// data bits. The random bits are tested only in IDs with as many random bits as the first ID.
type mixed struct {
	set           *chance.Set
	name          string
	place, length integer.Place
	bits          int // number of random bits; -1 before the first ID
	values        *chance.Field
	lengths       []uint64 // number of IDs for each number of data bits
}

func newMixed(set *chance.Set, f spec.Field, layout []spec.Field) *mixed {
	t := &mixed{set: set, name: f.Name, place: integer.PlaceOf(f.Low, f.Bits), bits: -1}
	for _, other := range layout {
		if other.Name == f.PartBits {
			t.length = integer.PlaceOf(other.Low, other.Bits)
		}
	}
	t.lengths = make([]uint64, t.length.Max()+1)
	return t
}

func (t *mixed) addAll(list []integer.Words) {
	for i := range list {
		t.add(&list[i])
	}
}

func (t *mixed) add(v *integer.Words) {
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

func (t *mixed) count(list []integer.Words) {
	for i := range list {
		t.lengths[t.length.Of(&list[i])]++
	}
}

func (t *mixed) report(found *findings.List) {
	for length, n := range t.lengths {
		switch {
		case n == 0:
		case length == 0:
			found.Fact("extension", "none in %s", words.Plural(n, "ID"))
		default:
			found.Fact("extension", "%s in %s", words.Plural(uint64(length), "bit"),
				words.Plural(n, "ID"))
		}
	}
}
