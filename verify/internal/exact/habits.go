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
	// Mixed says that the IDs of a tick are in random order. If neither Rising nor Mixed is set, too
	// few IDs share a tick.
	Mixed bool
	// Continuing says that the bits after the time also increase from tick to tick.
	Continuing bool
	// Ordered is the position of the lowest bit that orders the IDs of a tick. The bit belongs to a
	// counter or a finer time. Without such a bit, Ordered is the size of an ID in bits.
	Ordered int
	// Free is how many low bits are in random order, below a finer time. IDs of a tick that differ
	// only there may be in any order.
	Free int
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
	var within, across order
	lowest := f.Bits
	for i := 1; i < len(list); i++ {
		last, v := f.AfterTime(list[i-1]), f.AfterTime(list[i])
		pairs := &across
		if f.Timestamp(&list[i]) == f.Timestamp(&list[i-1]) {
			pairs = &within
		}
		pairs.add(&last, &v)
	}
	own := *o
	if own.NodeBits == 0 {
		own.NodeBits = s.nodeBits(across.rises())
	}
	usages, _ := own.layouts(f)
	h := Habits{NodeBits: own.NodeBits, Usage: slices.MinFunc(usages, func(a, b usage.Usage) int {
		return s.steps.faults(f, a) - s.steps.faults(f, b)
	})}
	for _, field := range f.Layout {
		if field.Kind == format.KindNode && field.Loose &&
			changes(integer.PlaceOf(field.Low, field.Bits), list) > len(list)/2 {
			h.Changing = append(h.Changing, field.Name)
		}
	}
	h.Continuing = f.Ordered && across.rises() && within.mayRise()
	h.Rising = f.Ordered && within.mayRise() && !unknown(f) &&
		(h.Continuing || within.rises() || counts(f))
	if f.Ordered && !h.Continuing && !counts(f) {
		h.Free = s.free(&within)
		h.Rising = h.Rising || h.Free > 0
	}
	h.Mixed = !h.Rising && !within.mayRise() && within.pairs() >= fewPairs
	if h.Rising && within.pairs() >= fewPairs {
		lowest = max(within.lowest(), h.Free)
	}
	if h.Continuing {
		lowest = min(lowest, across.lowest())
	}
	h.Ordered = lowest
	h.Wraps = newWrap(f, &h, list)
	return h
}

// An order counts the pairs of consecutive IDs that increase or decrease, by the highest bit in
// which the two IDs differ.
type order struct {
	up, down [192]int
}

func (o *order) add(last, v *integer.Words) {
	if *v == *last {
		return
	}
	bit := highestBit(*v, *last)
	if v.Less(last) {
		o.down[bit]++
		return
	}
	o.up[bit]++
}

// total adds the pairs that differ first in a bit from low to high.
func (o *order) total(low, high int) (up, down int) {
	for bit := low; bit <= high; bit++ {
		up += o.up[bit]
		down += o.down[bit]
	}
	return up, down
}

func (o *order) pairs() int {
	up, down := o.total(0, len(o.up)-1)
	return up + down
}

// lowest returns the lowest bit that orders an increasing pair.
func (o *order) lowest() int {
	return max(0, slices.IndexFunc(o.up[:], func(n int) bool { return n > 0 }))
}

// mayRise permits a few pairs in the wrong order, which are faults.
func (o *order) mayRise() bool { return mayRise(o.total(0, len(o.up)-1)) }

func mayRise(up, down int) bool { return down <= up/20 }

func (o *order) rises() bool { return o.mayRise() && o.pairs() >= fewPairs }

// free returns how many low bits are in random order in the pairs of a tick, below bits that are in
// order. It returns 0 if the bits above are a counter that goes up by one, because then no two IDs
// of a tick may have the same count.
func (s *HabitSample) free(within *order) int {
	size := len(within.up)
	bit := size - 1
	for ; bit >= 0; bit-- {
		up, down := within.total(0, bit)
		few := up+down < fewPairs
		if few && loose(s.f.Layout) || !few && down > up/5 {
			break
		}
	}
	bit++
	up, down := within.total(bit, size-1)
	if bit == 0 || up < fewPairs || !mayRise(up, down) {
		return 0
	}
	place, counted := integer.PlaceOf(bit, min(64, s.f.Bits-bit)), 0
	for i := 1; i < len(s.list); i++ {
		if s.f.Timestamp(&s.list[i]) == s.f.Timestamp(&s.list[i-1]) &&
			place.Of(&s.list[i]) == place.Of(&s.list[i-1])+1 {
			counted++
		}
	}
	if counted > up/2 {
		return 0
	}
	return bit
}

// counts reports whether only counters order the IDs of a tick, as the format's document says.
func counts(f *sample.Format) bool {
	found := false
	for _, field := range f.Layout {
		switch field.Kind {
		case format.KindRandom, format.KindData:
			return false
		case format.KindCounter:
			found = !field.Loose
		}
	}
	return found
}

// unknown reports whether nobody knows what the bits after the time mean. Then the IDs of a tick may
// be in any order.
func unknown(f *sample.Format) bool {
	return !slices.ContainsFunc(f.Layout, func(field format.Field) bool {
		return field.Kind == format.KindCounter || field.Kind == format.KindRandom
	}) && slices.ContainsFunc(f.Layout, func(field format.Field) bool {
		return field.Kind == format.KindData
	})
}

// fewTicks is how many ticks are enough to infer a node ID: random bits hardly stay the same in all
// of them.
const fewTicks = 32

// nodeBits infers the size of a node ID that shares a field with the counter: the highest bits are
// always the same. It returns 0 if there is no such field, or if the sample is too small. The
// highest bits of a continuing counter are a node ID only if the counter goes back to 0 below them.
func (s *HabitSample) nodeBits(continuing bool) int {
	field, ok := usage.NodeIn(s.f.Format)
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

// newWrap returns nil if the counter starts at small numbers in each tick, or if there is none.
func newWrap(f *sample.Format, h *Habits, list []integer.Words) *wrap {
	for _, field := range h.Usage.Layout {
		low := field.Low
		switch field.Kind {
		case format.KindCounter:
		case format.KindRandom:
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
		if field.Start == usage.StartNever || h.Continuing {
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

func highestBit(a, b integer.Words) int {
	switch {
	case a.High != b.High:
		return 127 + bits.Len64(a.High^b.High)
	case a.Mid != b.Mid:
		return 63 + bits.Len64(a.Mid^b.Mid)
	}
	return max(bits.Len64(a.Low^b.Low)-1, 0)
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
		case f.Kind != format.KindRandom || f.Loose && !h.Mixed:
		case r.Options.Unordered:
			// Some of the generators can count within a tick, so only a constant bit is a fault.
			if _, node := usage.NodeIn(r.Format.Format); !node || r.Options.NodeBits > 0 {
				fields := newRandom(r.Fields, f)
				for _, half := range fields.fields {
					half.SameOnly = true
				}
				if f.Seeds && loose(r.Format.Layout) {
					fields.fields[0].Prefix = counterBits
				}
				r.firsts.randoms = append(r.firsts.randoms, fields)
			}
		case f.Most > 0:
			r.randoms = append(r.randoms, newScaled(r.Fields, f))
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
	switch {
	case r.Options.Unordered:
		r.firsts.sampled = map[uint64]bool{}
	case h.Mixed:
		r.Found.Fact("order", "by time; the IDs of one tick are not in order")
	case !h.Rising:
		r.Found.Fact("order", "by time; too few IDs share a tick to know more")
	case h.Continuing:
		r.Found.Fact("order", "all IDs increase; a counter continues from tick to tick")
	case h.Ordered < r.Format.Bits:
		r.Found.Fact("order",
			"all IDs increase; within a tick, bit %d and higher bits decide the order",
			h.Ordered)
	default:
		r.Found.Fact("order", "all IDs increase")
	}
}

// loose reports whether generators may use random bits in another way. Then a counter may also
// continue from tick to tick.
func loose(layout []format.Field) bool {
	return slices.ContainsFunc(layout, func(f format.Field) bool {
		return f.Loose && f.Kind == format.KindRandom
	})
}

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

// finish removes the fields if too few ticks were tested: a tick's IDs can have most bits in common.
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
