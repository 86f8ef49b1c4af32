package exact

import (
	"fmt"
	"math"
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
	var within, across order
	var varying integer.Words
	lowest := f.Bits
	for i := 1; i < len(list); i++ {
		last, v := f.AfterTime(list[i-1]), f.AfterTime(list[i])
		pairs := &across
		if f.Timestamp(&list[i]) == f.Timestamp(&list[i-1]) {
			pairs = &within
		}
		pairs.add(&last, &v)
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
	h.Mixed = !h.Rising && !within.mayRise() && within.pairs() >= fewPairs &&
		(!loose(f.Layout) || within.startsAtRandom(varying))
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

// startsAtRandom reports whether the highest bit that varies is in random order.
func (o *order) startsAtRandom(varying integer.Words) bool {
	bit := highestBit(varying, integer.Words{})
	return o.down[bit] >= 3 && o.down[bit] > o.up[bit]/5
}

// free returns the lowest of the bits that are in order, if the bits below are in random order. It
// compares how probable the pairs are for each possible bit. In bits that are in order, pairs differ
// with any probability, and increase. Bits that never vary show nothing. The result ok says that
// chance does not explain the order.
func (o *order) free(varying integer.Words) (bit int, ok bool) {
	const faulty, leastGain = 0.01, 15
	gain, best, left := 0.0, 0.0, float64(o.pairs())
	for i := len(o.up) - 1; i >= 0 && left > 0; i-- {
		up, down := float64(o.up[i]), float64(o.down[i])
		if varying.And(integer.Ones(1).Shift(i)) != (integer.Words{}) {
			gain += logProbability(up+down, left) + left*math.Ln2 - math.Log(left+1)/2 +
				up*math.Log(2-2*faulty) + down*math.Log(2*faulty)
		}
		if left -= up + down; gain > best {
			bit, best = i, gain
		}
	}
	return bit, best >= leastGain
}

// logProbability returns the logarithm of the probability that n tries have these hits, in this order,
// if a try is a hit with the best probability.
func logProbability(hits, n float64) float64 {
	if hits == 0 || hits == n {
		return 0
	}
	return hits*math.Log(hits/n) + (n-hits)*math.Log(1-hits/n)
}

// inferFree infers which low bits of a tick's IDs are in random order, below bits that are in order.
// In a UUIDv7, too few pairs do not show that low bits are in order, except below a counter that goes
// up by one: no two IDs of a tick may have the same count.
func (s *HabitSample) inferFree(h *Habits, within *order, varying integer.Words) {
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

// below returns how many pairs differ first below a bit.
func (o *order) below(bit int) int {
	up, down := o.total(0, bit-1)
	return up + down
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

// unknown reports whether nobody knows what the bits after the time mean. Then the IDs of a tick may
// be in any order.
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

// newWrap returns nil if the counter starts at small numbers in each tick, or if there is none. In a
// UUIDv7, a counter must not go back within a tick, as RFC 9562 demands.
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
// that counts the IDs is a counter. So is a part that is nearly always in the upper half, and has few
// values, or values that no clock has.
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

// addUnordered adds a random field of a source whose IDs are not in order. Some of the generators can
// count within a tick, so only a constant bit is a fault.
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
