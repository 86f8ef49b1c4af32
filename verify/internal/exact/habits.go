package exact

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// Habits are choices that a format leaves to its generators, such as the use of the counter. For
// another project's format, Habits also say how the IDs of a tick are ordered.
type Habits struct {
	// Usage is how the counter is used. The zero Usage means the format's only usage.
	Usage spec.Usage
	// Rising says that all IDs are in order, also within a tick.
	Rising bool
	// Mixed says that the IDs of a tick are in random order. If neither Rising nor Mixed is set, too
	// few IDs share a tick.
	Mixed bool
	// Continuing says that the bits after the time also increase from tick to tick.
	Continuing bool
	// Ordered is the position of the lowest bit that orders the IDs of a tick. The bit belongs to a
	// counter or a finer time. Without such a bit, Ordered is the size of an ID in bits.
	Ordered int
	// Free is how many low bits are in random order, below a finer time. IDs of a tick that differ
	// only there may be in any order. If Exact is set, no other bits are.
	Free  int
	Exact bool
	// Wraps is the counter that may go back to 0 within a tick, or nil.
	Wraps *wrap
	// NodeBits is the inferred size of a node ID that shares a field with the counter, or 0.
	NodeBits int
	// Changing has the names of fields that could be node IDs, but change from ID to ID.
	Changing []string
}

const (
	// habitIDs is how many IDs are enough to infer habits, if they have enough ticks. If one of our
	// formats has several usages, a sample must also have usagePairs pairs of IDs in one tick. In any
	// case, maxHabitIDs are enough.
	habitIDs    = 4096
	maxHabitIDs = 1 << 18
	usagePairs  = 20
	// At most counterBits of rand_b in a UUIDv7 belong to a counter: RFC 9562 permits a counter of up
	// to 42 bits, and rand_a has 12 of them.
	counterBits = 30
	// fewPairs is how many pairs of IDs are enough to infer an order.
	fewPairs = 40
)

// Open reports whether the generator's habits must be inferred from its IDs.
func (o *Options) Open(f *sample.Format) bool {
	usages, _ := o.layouts(f)
	return !o.Unordered && f.Tick != 0 && (len(usages) > 1 || !f.Generates)
}

// A HabitSample has the first IDs of a source.
type HabitSample struct {
	f     *sample.Format
	list  []integer.Words
	pairs int // how many pairs of consecutive IDs must still be in one tick
	ticks int // how many ticks must still follow
	steps steps
	order *Order // passes to the field steps the IDs that are in order
}

func NewHabitSample(f *sample.Format, o *Options) *HabitSample {
	s := &HabitSample{f: f, steps: steps{gaps: map[int]bool{}}}
	found := findings.List{Show: func(integer.Words) string { return "" }}
	s.order = NewOrder(f, &s.steps, &found, found.Check("", "", ""))
	if !f.Generates {
		s.ticks = 2 * fewPairs
	} else if usages, _ := o.layouts(f); len(usages) > 1 {
		s.pairs = usagePairs
	}
	return s
}

// Add adds the IDs of a segment until the sample is full.
func (s *HabitSample) Add(list []integer.Words, segment sample.Segment) {
	if segment.Gap {
		s.order.Gap()
	}
	n := 0
	for ; n < len(list) && !s.Full(); n++ {
		k := len(s.list)
		if k > 0 && s.f.Timestamp(&s.list[k-1]) == s.f.Timestamp(&list[n]) {
			s.pairs--
		} else {
			s.ticks--
		}
		s.list = append(s.list, list[n])
	}
	s.order.Feed(list[:n], segment.Line, segment.Rising)
}

// Full reports whether the sample is large enough.
func (s *HabitSample) Full() bool {
	n := len(s.list)
	return n >= habitIDs && s.pairs <= 0 && s.ticks <= 0 || n == maxHabitIDs
}

// Habits infers the habits of the generator that made the IDs.
func (s *HabitSample) Habits(o *Options) Habits {
	s.order.Finish()
	f, list := s.f, s.list
	var within, across pairs
	var varying integer.Words
	lowest := f.Bits
	for i := 1; i < len(list); i++ {
		last, v := f.AfterTime(list[i-1]), f.AfterTime(list[i])
		if f.Timestamp(&list[i]) == f.Timestamp(&list[i-1]) {
			within.add(&last, &v)
		} else {
			across.add(&last, &v)
		}
		varying = varying.Or(v.AndNot(last)).Or(last.AndNot(v))
	}
	own := *o
	if own.NodeBits == 0 {
		own.NodeBits = s.nodeBits(across.rises())
	}
	usages, _ := own.layouts(f)
	h := Habits{NodeBits: own.NodeBits, Usage: s.steps.usage(f, usages)}
	for _, field := range f.Layout {
		if field.Kind == spec.KindNode && field.Loose &&
			changes(integer.PlaceOf(field.Low, field.Bits), list) > len(list)/2 {
			h.Changing = append(h.Changing, field.Name)
		}
	}
	h.Continuing = f.Ordered && across.rises() && within.mayRise()
	h.Rising = f.Ordered && within.mayRise() && !unknown(f) &&
		(h.Continuing || within.rises() && !loose(f.Layout) || counts(f))
	if f.Ordered && !h.Continuing && !counts(f) {
		s.inferFree(&h, &within, varying)
	}
	h.Mixed = !h.Rising && !within.mayRise() && within.count() >= fewPairs &&
		(!loose(f.Layout) || within.startsAtRandom(varying))
	if h.Rising && within.count() >= fewPairs {
		lowest = max(within.lowest(), h.Free)
	}
	if h.Continuing {
		lowest = min(lowest, across.lowest())
	}
	h.Ordered = lowest
	h.Wraps = newWrap(f, &h, list)
	return h
}

// inferFree infers which low bits of a tick's IDs are in random order, below bits that are in
// order. In a UUIDv7, too few pairs do not show that low bits are in order, except below a counter
// that goes up by one: no two IDs of a tick may have the same count.
func (s *HabitSample) inferFree(h *Habits, within *pairs, varying integer.Words) {
	bit, ok := within.free(varying)
	below := within.below(bit)
	if !ok || below < fewPairs && !loose(s.f.Layout) {
		return
	}
	if up, _ := within.total(bit, len(within.up)-1); s.counted(bit) > up-up/100-1 && below <= up/20 {
		h.Rising = within.mayRise() && up >= fewPairs
		return
	}
	for bit < len(within.up) && within.below(bit+1) < fewPairs {
		bit++
	}
	up, down := within.total(bit, len(within.up)-1)
	if h.Exact = below >= fewPairs; (h.Exact || up >= fewPairs) && mayRise(up, down) {
		h.Free, h.Rising = bit, true
	}
}

// counted returns in how many pairs of a tick the number above a bit goes up by one.
func (s *HabitSample) counted(bit int) (n int) {
	place := integer.PlaceOf(bit, min(64, s.f.Bits-bit))
	for i := 1; i < len(s.list); i++ {
		if s.f.Timestamp(&s.list[i]) == s.f.Timestamp(&s.list[i-1]) &&
			place.Of(&s.list[i]) == place.Of(&s.list[i-1])+1 {
			n++
		}
	}
	return n
}

// counts reports whether only counters order the IDs of a tick, as the format's document says.
func counts(f *sample.Format) bool {
	found := false
	for _, field := range f.Layout {
		switch field.Kind {
		case spec.KindRandom, spec.KindData:
			return false
		case spec.KindCounter:
			found = !field.Loose
		}
	}
	return found
}

// unknown reports whether nobody knows what the bits after the time mean. Then the IDs of a tick
// may be in any order.
func unknown(f *sample.Format) bool {
	return !slices.ContainsFunc(f.Layout, func(field spec.Field) bool {
		return field.Kind == spec.KindCounter || field.Kind == spec.KindRandom
	}) && slices.ContainsFunc(f.Layout, func(field spec.Field) bool {
		return field.Kind == spec.KindData
	})
}

// fewTicks is how many ticks are enough to infer a node ID: random bits hardly stay the same in all
// of them.
const fewTicks = 32

// nodeBits infers the size of a node ID that shares a field with the counter: the highest bits are
// always the same. It returns 0 if there is no such field, or if the sample is too small. The
// highest bits of a continuing counter are a node ID only if the counter goes back to 0 below them.
func (s *HabitSample) nodeBits(continuing bool) int {
	field, ok := s.f.NodeInEnd()
	if !ok || len(s.list) == 0 {
		return 0
	}
	place := integer.PlaceOf(field.Low, field.Bits)
	ticks, changed := 0, uint64(0)
	for i := 1; i < len(s.list); i++ {
		changed |= place.Of(&s.list[i]) ^ place.Of(&s.list[0])
		if s.f.Timestamp(&s.list[i]) != s.f.Timestamp(&s.list[i-1]) {
			ticks++
		}
	}
	if ticks < fewTicks || changed == 0 {
		return 0
	}
	counter := wrap{integer.PlaceOf(field.Low, bits.Len64(changed)), 1<<bits.Len64(changed) - 1}
	for i := 1; continuing; i++ {
		if i == len(s.list) {
			return 0
		}
		if counter.permits(&s.list[i-1], &s.list[i]) {
			break
		}
	}
	return field.Bits - bits.Len64(changed)
}

// A wrap permits that a counter goes from its largest value to 0 within a tick.
type wrap struct {
	counter integer.Place
	last    uint64 // the largest value
}

// newWrap returns nil if the counter starts at small numbers in each tick, or if there is none. In
// a UUIDv7, a counter must not go back within a tick, as RFC 9562 demands.
func newWrap(f *sample.Format, h *Habits, list []integer.Words) *wrap {
	if loose(f.Layout) {
		return nil
	}
	for _, field := range h.Usage.Layout {
		low := field.Low
		switch field.Kind {
		case spec.KindCounter:
		case spec.KindRandom:
			if low = max(low, h.Ordered); !h.Continuing || low >= field.Low+field.Bits {
				continue
			}
		default:
			continue
		}
		w := &wrap{counter: integer.PlaceOf(low, field.Low+field.Bits-low)}
		if w.last = w.counter.Max(); field.Most > 0 {
			w.last = field.Most
		}
		if field.Start == spec.StartNever || h.Continuing {
			return w
		}
		for i := range list {
			if (i == 0 || f.Timestamp(&list[i]) != f.Timestamp(&list[i-1])) &&
				w.counter.Of(&list[i]) > w.last/4 {
				return w
			}
		}
		return nil
	}
	return nil
}

// permits reports whether the counter wraps between two IDs of a tick. IDs can be missing between
// them.
func (w *wrap) permits(before, v *integer.Words) bool {
	return w != nil && w.counter.Of(before) > w.last-w.last/4 && w.counter.Of(v) < w.last/4
}

func changes(place integer.Place, list []integer.Words) (n int) {
	for i := 1; i < len(list); i++ {
		if place.Of(&list[i]) != place.Of(&list[i-1]) {
			n++
		}
	}
	return n
}

// order says in which order the IDs are.
func (r *Rules) order(falls uint64) string {
	h, all := &r.Habits, "all IDs increase"
	if falls > 0 {
		all = "IDs increase, except in " + words.Plural(falls, "step")
	}
	switch {
	case h.Mixed:
		return "by time; the IDs of one tick are not in order"
	case !h.Rising:
		return "by time; too few IDs share a tick to know more"
	case h.Continuing:
		return all + "; a counter continues from tick to tick"
	case h.Ordered < r.Format.Bits:
		return fmt.Sprintf("%s; within a tick, bit %d and higher bits decide the order", all,
			h.Ordered)
	}
	return all
}

// loose reports whether generators may use random bits in another way. Then a counter may also
// continue from tick to tick.
func loose(layout []spec.Field) bool {
	return slices.ContainsFunc(layout, func(f spec.Field) bool {
		return f.Loose && f.Kind == spec.KindRandom
	})
}
