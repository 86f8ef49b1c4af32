package exact

import (
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
)

// The type firsts tests the random fields of only one ID in each tick, because the tick's other IDs
// can count up from this ID. If IDs are not in order, it takes all IDs of the first ticks. Then its
// fields only look for constant bits.
type firsts struct {
	randoms   []randomField
	timestamp func(*integer.Words) uint64
	tick      uint64
	last      integer.Words
	known     bool            // tick and last are of the previous ID
	sampled   map[uint64]bool // ticks already tested; nil if the IDs are in order
}

// If IDs are not in order, the type firsts tests at most maxSamples ticks.
const maxSamples = 4096

func (s *firsts) add(list []integer.Words) {
	if len(s.randoms) == 0 {
		return
	}
	for i := range list {
		if len(s.sampled) == maxSamples {
			return
		}
		tick := s.timestamp(&list[i])
		fresh := s.known && tick != s.tick
		next := tick == s.tick+1
		if s.sampled != nil {
			fresh = true
			s.sampled[tick] = true
		}
		for k := range s.randoms {
			if fresh && !(next && s.randoms[k].full(&s.last)) {
				s.randoms[k].add(list[i : i+1])
			}
		}
		s.tick, s.known, s.last = tick, true, list[i]
	}
}

// finish removes the fields if too few ticks were tested: a tick's IDs can have most bits in
// common.
func (s *firsts) finish() {
	if s.sampled == nil || len(s.sampled) >= fewTicks {
		return
	}
	for _, r := range s.randoms {
		for _, field := range r.fields {
			field.Skip = "too few ticks"
		}
	}
}

// addHabits adds the random fields of another project's format.
func (r *Rules) addHabits() {
	h := &r.Habits
	for _, f := range r.usage.Layout {
		free := min(f.Bits, h.Ordered-f.Low)
		if f.Seeds && (h.Mixed || h.Rising && free == f.Bits) {
			f.Half = "" // the field has no counter, so its highest bit guards nothing
		}
		switch {
		case f.Kind != spec.KindRandom:
		case f.Loose && !h.Mixed:
			if f.Bits = free; h.Exact && free > 0 { // below a finer time
				r.randoms = append(r.randoms, newRandom(r.Fields, f))
			}
		case f.Most > 0: // its digits are tested
		case r.Options.Unordered:
			r.addUnordered(f)
		case h.Mixed || h.Rising && free == f.Bits || !h.Rising && !f.Seeds:
			r.randoms = append(r.randoms, newRandom(r.Fields, f))
		default:
			if !h.Continuing {
				first := f
				first.Name += ".first"
				r.firsts.randoms = append(r.firsts.randoms, newRandom(r.Fields, first))
			}
			if h.Rising && free >= 8 {
				low := f
				low.Bits, low.Half = free, ""
				r.randoms = append(r.randoms, newRandom(r.Fields, low))
			}
		}
	}
	r.firsts.timestamp = r.Format.Timestamp
	if r.Options.Unordered {
		r.firsts.sampled = map[uint64]bool{}
	}
}

// addUnordered adds a random field of a source whose IDs are not in order. Some of the generators
// can count within a tick, so only a constant bit is a fault.
func (r *Rules) addUnordered(f spec.Field) {
	if _, node := r.Format.NodeInEnd(); node && r.Options.NodeBits == 0 {
		return
	}
	fields := newRandom(r.Fields, f)
	for _, half := range fields.fields {
		half.SameOnly = true
	}
	if f.Seeds && loose(r.Format.Layout) {
		fields.fields[0].Prefix = counterBits
	}
	r.firsts.randoms = append(r.firsts.randoms, fields)
}
