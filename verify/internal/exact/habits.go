package exact

import (
	"math/bits"
	"slices"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/usage"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// Habits are choices that a format leaves to its generators, such as the use of the counter. For
// another project's format, Habits also say how the IDs of a tick are ordered.
type Habits struct {
	// Usage is how the counter is used. The zero Usage means the format's only usage.
	Usage usage.Usage
	// Rising says that all IDs are in order, also within a tick.
	Rising bool
	// Ordered is the position of the lowest bit that orders the IDs of a tick. The bit belongs to a
	// counter or a finer time. Without such a bit, Ordered is the size of an ID in bits.
	Ordered int
	// Changing has the names of fields that could be node IDs, but change from ID to ID.
	Changing []string
}

const (
	// habitIDs is how many IDs are enough to infer habits.
	habitIDs = 4096
	// fewPairs is how many increases within ticks are enough to infer Ordered.
	fewPairs = 40
)

// Open reports whether the generator's habits must be inferred from its IDs.
func (o *Options) Open(f *sample.Format) bool {
	usages, _ := o.layouts(f)
	return !o.Unordered && (len(usages) > 1 || !f.Generates)
}

// A HabitSample has the first IDs of a source.
type HabitSample struct {
	f     *sample.Format
	list  []integer.Words
	steps steps
	order *Order // passes to the field steps the IDs that are in order
}

func NewHabitSample(f *sample.Format) *HabitSample {
	s := &HabitSample{f: f, steps: steps{gaps: map[int]bool{}}}
	found := findings.List{Show: func(integer.Words) string { return "" }}
	s.order = NewOrder(f, &s.steps, &found, found.Check("", ""))
	return s
}

// Add adds the IDs of a segment until the sample is full.
func (s *HabitSample) Add(list []integer.Words, segment sample.Segment) {
	if segment.Gap {
		s.order.Gap()
	}
	list = list[:min(len(list), habitIDs-len(s.list))]
	s.list = append(s.list, list...)
	s.order.Feed(list, segment.Line, segment.Rising)
}

func (s *HabitSample) Full() bool { return len(s.list) == habitIDs }

// Habits infers the habits of the generator that made the IDs.
func (s *HabitSample) Habits(o *Options) Habits {
	s.order.Finish()
	f, list := s.f, s.list
	usages, _ := o.layouts(f)
	h := Habits{Usage: slices.MinFunc(usages, func(a, b usage.Usage) int {
		return s.steps.faults(f, a) - s.steps.faults(f, b)
	}), Ordered: f.Bits}
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
			changes(integer.PlaceOf(field.Low, field.Bits), list) > len(list)/2 {
			h.Changing = append(h.Changing, field.Name)
		}
	}
	h.Rising = f.Ordered && down <= up/20
	if h.Rising && up >= fewPairs {
		h.Ordered = lowest
	}
	return h
}

func changes(place integer.Place, list []integer.Words) (n int) {
	for i := 1; i < len(list); i++ {
		if place.Of(&list[i]) != place.Of(&list[i-1]) {
			n++
		}
	}
	return n
}

func highestBit(a, b integer.Words) int {
	for i := range a {
		if d := a[i] ^ b[i]; d != 0 {
			return 64*(2-i) + bits.Len64(d) - 1
		}
	}
	return 0
}

type steps struct {
	list []integer.Words
	gaps map[int]bool // indexes of IDs that cannot be compared with the previous ID
}

func (s *steps) Accept(list []integer.Words, _ uint64) { s.list = append(s.list, list...) }

func (s *steps) Back(_, _ *integer.Words, _ uint64) Step { return Unknown }

func (s *steps) Gap() { s.gaps[len(s.list)] = true }

func (s *steps) Restart() { s.Gap() }

// faults counts the IDs that would be wrong under a usage.
func (s *steps) faults(f *sample.Format, u usage.Usage) (n int) {
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

// addHabits adds the random fields of another project's format.
func (r *Rules) addHabits() {
	h := &r.Habits
	for _, f := range r.usage.Layout {
		free := min(f.Bits, h.Ordered-f.Low)
		switch {
		case f.Kind != format.KindRandom || f.Loose && (h.Rising || r.Options.Unordered):
		case r.Options.Unordered:
			// Some of the generators can count within a tick, so only a constant bit is a fault.
			sample := newRandom(r.Fields, f.Name, f.Low, f.Bits)
			for _, half := range sample.fields {
				half.SameOnly = true
			}
			r.firsts.randoms = append(r.firsts.randoms, sample)
		case free == f.Bits:
			r.randoms = append(r.randoms, newRandom(r.Fields, f.Name, f.Low, f.Bits))
		default:
			r.firsts.randoms = append(r.firsts.randoms,
				newRandom(r.Fields, f.Name+".first", f.Low, f.Bits))
			if free >= 8 {
				r.randoms = append(r.randoms, newRandom(r.Fields, f.Name, f.Low, free))
			}
		}
	}
	r.firsts.timestamp = r.Format.Timestamp
	switch {
	case r.Options.Unordered:
		r.firsts.sampled = map[uint64]bool{}
	case !h.Rising:
		r.Found.Fact("order", "by time; the IDs of one tick are not in order")
	case h.Ordered < r.Format.Bits:
		r.Found.Fact("order",
			"all IDs increase; within a tick, bit %d and higher bits decide the order",
			h.Ordered)
	default:
		r.Found.Fact("order", "all IDs increase")
	}
}

// The type firsts tests the random fields of only one ID in each tick, because the tick's other IDs
// can count up from this ID.
type firsts struct {
	randoms   []randomField
	timestamp func(*integer.Words) uint64
	tick      uint64
	known     bool
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
		if s.sampled != nil {
			fresh = !s.sampled[tick]
			s.sampled[tick] = true
		}
		for k := range s.randoms {
			if fresh {
				s.randoms[k].add(list[i : i+1])
			}
		}
		s.tick, s.known = tick, true
	}
}
