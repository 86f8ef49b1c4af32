package rules

import (
	"math/bits"
	"slices"

	"github.com/sortid/sortid/format"
)

// Habits describe what another project's format leaves open: whether IDs of a tick are in order,
// and by which bits.
type Habits struct {
	// Rising says that all IDs are in order, also within a tick.
	Rising bool
	// Ordered is the lowest bit that orders the IDs of a tick. It is in a counter or a finer time.
	// If too few IDs share a tick, Ordered is the number of bits of an ID.
	Ordered int
	// Changing names fields that may be node IDs, but change from ID to ID.
	Changing []string
}

const (
	// HabitIDs is how many IDs Observe needs.
	HabitIDs = 4096
	// fewPairs is how many steps within a tick rule out chance.
	fewPairs = 40
)

// Observe finds the habits of IDs in the order of their lines.
func Observe(f *format.Format, list []format.Words) Habits {
	h := Habits{Ordered: f.Bits}
	up, down, lowest := 0, 0, f.Bits
	for i := 1; i < len(list); i++ {
		last, v := &list[i-1], &list[i]
		switch {
		case f.Timestamp(v) != f.Timestamp(last) || *v == *last:
		case v.Less(last):
			down++
		default:
			up++
			lowest = min(lowest, highestBit(*v, *last))
		}
	}
	for _, field := range f.Layout {
		if field.Kind == format.KindNode && field.Loose &&
			changes(field.Place(), list) > len(list)/2 {
			h.Changing = append(h.Changing, field.Name)
		}
	}
	h.Rising = f.InOrder() && down <= up/20
	if h.Rising && up >= fewPairs {
		h.Ordered = lowest
	}
	return h
}

func changes(place format.Place, list []format.Words) (n int) {
	for i := 1; i < len(list); i++ {
		if place.Of(&list[i]) != place.Of(&list[i-1]) {
			n++
		}
	}
	return n
}

func highestBit(a, b format.Words) int {
	for i := range a {
		if d := a[i] ^ b[i]; d != 0 {
			return 64*(2-i) + bits.Len64(d) - 1
		}
	}
	return 0
}

func (r *Rules) observe(h Habits) {
	u := newUsage(r.Format, r.candidates[0])
	u.randoms = nil
	for _, f := range u.Layout {
		free := min(f.Bits, h.Ordered-f.Low)
		switch {
		case f.Kind != format.KindRandom || f.Loose && (h.Rising || r.Unordered):
		case r.Unordered:
			// If there are several generators, some may count within a tick.
			sample := newRandom(f.Name, f.Low, f.Bits)
			sample.starts, sample.same = true, true
			u.randoms = append(u.randoms, sample)
		case free == f.Bits:
			u.randoms = append(u.randoms, newRandom(f.Name, f.Low, f.Bits))
		default:
			first := newRandom(f.Name+".first", f.Low, f.Bits)
			first.starts = true
			u.randoms = append(u.randoms, first)
			if free >= 8 {
				u.randoms = append(u.randoms, newRandom(f.Name, f.Low, free))
			}
		}
	}
	if r.Unordered {
		u.nodes, h.Changing, r.sampled = nil, nil, map[uint64]bool{}
	}
	u.nodes = slices.DeleteFunc(
		u.nodes, func(n *watched) bool { return slices.Contains(h.Changing, n.Name) })
	for _, name := range h.Changing {
		r.constant[name].Skip("it changes from ID to ID, which the format allows")
	}
	r.begin(u)
	if r.Unordered {
		return
	}
	switch {
	case !h.Rising:
		r.Fact("order", "by time; the IDs of one tick are not in order")
	case h.Ordered < r.Format.Bits:
		r.Fact("order", "all IDs increase; within a tick, the bits from bit %d up give the order",
			h.Ordered)
	default:
		r.Fact("order", "all IDs increase")
	}
}
