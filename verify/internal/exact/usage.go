package exact

import (
	"slices"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify/internal/sample"
)

// The type steps has the IDs of a [HabitSample] that are in order.
type steps struct {
	list []integer.Words
	gaps map[int]bool // indexes of IDs that cannot be compared with the previous ID
}

func (s *steps) Accept(list []integer.Words, _ uint64) { s.list = append(s.list, list...) }

func (s *steps) Back(_, _ *integer.Words, _ uint64) Step { return Unknown }

func (s *steps) Gap() { s.gaps[len(s.list)] = true }

func (s *steps) Restart() { s.Gap() }

// usage returns the usage that explains the most IDs, and at least half of them, or else the first.
func (s *steps) usage(f *sample.Format, usages []spec.Usage) spec.Usage {
	best := usages[0]
	least := min(s.faults(f, best), len(s.list)/2+1)
	for _, u := range usages[1:] {
		if n := s.faults(f, u); n < least && s.timely(f, u) {
			best, least = u, n
		}
	}
	return best
}

// timely reports whether the part of a millisecond, if the usage has one, can be a clock's. A part
// that counts the IDs is a counter. So is a part that is nearly always in the upper half, and has
// few values, or values that no clock has.
func (s *steps) timely(f *sample.Format, u spec.Usage) bool {
	i := slices.IndexFunc(u.Layout, func(field spec.Field) bool { return field.Most > 0 })
	if i < 0 {
		return true
	}
	part := u.Layout[i]
	below := u.Layout[i+1] // the counter within a microsecond
	place := integer.PlaceOf(part.Low, part.Bits)
	all := integer.PlaceOf(below.Low, part.Bits+below.Bits)
	pairs, counted, low, impossible, values := 0, 0, 0, 0, map[uint64]bool{}
	for i := range s.list {
		v := place.Of(&s.list[i])
		if values[v] = true; v <= part.Most/2 {
			low++
		} else if v > part.Most {
			impossible++
		}
		if i > 0 && f.Timestamp(&s.list[i]) == f.Timestamp(&s.list[i-1]) {
			pairs++
			if all.Of(&s.list[i]) == all.Of(&s.list[i-1])+1 {
				counted++
			}
		}
	}
	n := len(s.list)
	counts := pairs >= usagePairs && 100*counted >= 99*pairs
	large := 10*low < n && (100*impossible >= n || n >= usagePairs && len(values) < usagePairs)
	return !counts && !large
}

// faults counts the IDs that would be wrong under a usage.
func (s *steps) faults(f *sample.Format, u spec.Usage) (n int) {
	list := s.list
	heads, fields := newHeads(f, u.Layout), watchedIn(u.Layout)
	for i := 1; i < len(list); i++ {
		if s.gaps[i] {
			continue
		}
		h, before := heads.of(&list[i]), heads.of(&list[i-1])
		counter, same := h.low&heads.counter, heads.tick(h) == heads.tick(before)
		bad := same && counter != before.low&heads.counter+1 || !same && counter > heads.maxStart
		for _, w := range fields {
			v := w.place.Of(&list[i])
			bad = bad || w.Most > 0 && v > w.Most || w.Most == 0 && v != w.place.Of(&list[i-1])
		}
		if bad {
			n++
		}
	}
	return n
}
