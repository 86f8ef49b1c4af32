package rules

import (
	"math"
	"slices"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/randomness"
)

type usage struct {
	format.Usage
	field format.Field // the counter

	// The head of an ID is its bits from the first to the end of the counter.
	high, low format.Place // Its two words.
	tickShift uint         // The tick's lowest bit. A new tick restarts the counter.
	within    uint64       // Bits below the tick.
	counter   uint64
	start     uint64 // Bits that may be 1 in a new counter.
	hasHeader bool   // There are bits between tick and counter.

	nodes   []*watched // fields that must stay the same
	limits  []*watched // fields with a largest value
	randoms []random
}

type random struct {
	places []format.Place // two for more than 64 bits
	fields []*randomness.Field
	raw    *randomness.BitWriter // for both halves
	name   string
	starts bool // random only in a tick's first ID
	same   bool // only constant bits are a fault
}

type watched struct {
	format.Field
	place format.Place
	check *findings.Check
	known bool
	value uint64
}

type head struct{ high, low uint64 }

func (u *usage) headOf(v *format.Words) head { return head{u.high.Of(v), u.low.Of(v)} }

func (u *usage) tickOf(h head) uint64 { return h.high<<(64-u.tickShift) | h.low>>u.tickShift }

// headerOf returns the bits between tick and counter, or 0.
func (u *usage) headerOf(h head) uint64 {
	if !u.hasHeader {
		return 0
	}
	return h.low & u.within >> u.field.Bits
}

func newUsage(f *format.Format, from format.Usage) *usage {
	u := &usage{Usage: from}
	end, counterEnd := f.Bits, 0
	for _, field := range from.Layout {
		switch {
		case field.Kind == format.KindTime:
			end = field.Low
		case field.Kind == format.KindCounter:
			u.field, u.counter, counterEnd = field, 1<<field.Bits-1, field.Low
			if u.start = u.counter; field.Start == format.StartHalf {
				u.start >>= 1
			}
		case field.Kind == format.KindNode:
			u.nodes = append(u.nodes, &watched{Field: field, place: field.Place()})
		case field.Kind == format.KindRandom:
			u.randoms = append(u.randoms, newRandom(field.Name, field.Low, field.Bits))
		}
		u.hasHeader = u.hasHeader || field.PartBits != ""
		if field.Most > 0 {
			u.limits = append(u.limits, &watched{Field: field, place: field.Place()})
		}
	}
	u.tickShift = uint(end - counterEnd)
	u.within = 1<<u.tickShift - 1
	u.low = format.PlaceOf(counterEnd, min(64, f.Bits-counterEnd))
	u.high = format.PlaceOf(counterEnd+64, max(0, min(64, f.Bits-counterEnd-64)))
	return u
}

// faults counts the faults of the IDs under usage u.
func (u *usage) faults(list []lineID) (n int) {
	for i := 1; i < len(list); i++ {
		last, v := &list[i-1].id, &list[i].id
		if list[i-1].line == 0 || list[i].line == 0 {
			continue
		}
		h, before := u.headOf(v), u.headOf(last)
		counter, same := h.low&u.counter, u.tickOf(h) == u.tickOf(before)
		bad := same && counter != before.low&u.counter+1 || !same && counter > u.start
		for _, l := range u.limits {
			bad = bad || l.place.Of(v) > l.Most
		}
		for _, node := range u.nodes {
			bad = bad || node.place.Of(v) != node.place.Of(last)
		}
		if bad {
			n++
		}
	}
	return n
}

const inferenceIDs = 4096

// infer chooses the usage with the fewest faults in the kept IDs.
func (r *Rules) infer() {
	best, fewest := r.candidates[0], math.MaxInt
	for _, c := range r.candidates {
		if n := newUsage(r.Format, c).faults(r.pending); n < fewest {
			best, fewest = c, n
		}
	}
	r.use(best)
}

func (r *Rules) use(from format.Usage) {
	u := newUsage(r.Format, from)
	r.begin(u)
	r.useCounters(u)
	for _, l := range r.pending {
		if r.known = r.known && l.line != 0; l.line != 0 {
			r.Run([]format.Words{l.id}, l.line)
		}
	}
	u.each(r, r.waiting)
	r.pending, r.waiting = nil, nil
}

func (r *Rules) begin(u *usage) {
	r.usage = u
	for i := range u.randoms {
		u.randoms[i].add(r.Fields)
	}
	for _, f := range u.Layout {
		if f.PartBits != "" {
			r.taken = newTaken(r, f, u.Layout)
		}
	}
	if len(r.nodes) > 0 { // checkSpecs checks them
		u.nodes = nil
	}
	for _, w := range slices.Concat(u.nodes, u.limits) {
		w.check = r.constant[w.Name]
	}
}

func (r *Rules) useCounters(u *usage) {
	if u.counter == 0 || u.field.Start == format.StartNever || r.Unordered && !r.Stateless {
		return
	}
	size, width := u.field.Bits, u.field.Bits
	if startsNarrow(u.field) {
		if width = -1; r.CounterStart != 0 {
			width = max(r.CounterStart, 0)
		}
	}
	r.starts = newStarts(r, u.field.Name, size, width)
	r.starts.topZero = width >= 0 && !r.guarded()
	for _, f := range u.Layout {
		if f.Every > 0 {
			r.renewal = newRenewal(r, u, f)
		}
	}
}

func newRandom(name string, low, bits int) random {
	if bits <= 64 {
		return random{name: name, places: []format.Place{format.PlaceOf(low, bits)}}
	}
	half := bits / 2
	return random{name: name, places: []format.Place{format.PlaceOf(low+half, bits-half),
		format.PlaceOf(low, half)}}
}

func (f *random) add(set *randomness.Set) {
	names := []string{f.name}
	if len(f.places) > 1 {
		names = []string{f.name + ".high", f.name + ".low"}
		f.raw = set.Raw(f.name)
	}
	for i, name := range names {
		f.fields = append(f.fields, set.Add(name, f.places[i].Width()))
		f.fields[i].SameOnly = f.same
	}
}

func (u *usage) each(r *Rules, list []format.Words) {
	for i := range u.randoms {
		if !u.randoms[i].starts {
			u.randoms[i].each(list)
		}
	}
	if r.taken != nil {
		r.taken.count(list)
	}
	if !r.Stateless {
		return
	}
	for i := range list {
		r.starts.add(u.low.Of(&list[i])&u.counter, 0)
		if r.renewal != nil {
			r.renewal.values.Add(r.renewal.of(u.headOf(&list[i])))
		}
		if r.taken != nil {
			r.taken.add(&list[i])
		}
	}
}

// maxSamples limits the ticks from which firsts takes an unordered ID.
const maxSamples = 4096

// firsts takes the random fields of one ID of each tick, because a generator may count within a
// tick.
func (u *usage) firsts(r *Rules, list []format.Words) {
	for i := range list {
		if len(r.sampled) == maxSamples {
			return
		}
		tick := r.Format.Timestamp(&list[i])
		fresh := r.known && tick != r.tickStart
		if r.sampled != nil {
			fresh = !r.sampled[tick]
			r.sampled[tick] = true
		}
		for k := range u.randoms {
			if fresh && u.randoms[k].starts {
				u.randoms[k].each(list[i : i+1])
			}
		}
		r.tickStart, r.known = tick, true
	}
}

func (u *usage) constants(list []format.Words, line uint64) {
	for _, l := range u.limits {
		for i := range list {
			if v := l.place.Of(&list[i]); v > l.Most {
				l.check.FoundID(line+uint64(i), &list[i], "%s is %d", l.Name, v)
			}
		}
	}
	for _, n := range u.nodes {
		for i := range list {
			v := n.place.Of(&list[i])
			if n.known && v != n.value {
				n.check.FoundID(line+uint64(i), &list[i], "the %s ID changes to %d, from %d",
					n.Name, v, n.value)
			}
			n.value, n.known = v, true
		}
	}
}

func (f *random) each(list []format.Words) {
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

// A taken collects the random bits of a field that has data bits below them. Another field has the
// number of data bits. A taken ignores IDs that have more or fewer random bits than the first.
type taken struct {
	set           *randomness.Set
	name          string
	place, length format.Place
	bits          int // number of random bits; -1 before the first ID
	values        *randomness.Field
	lengths       []uint64 // number of IDs for each length
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
			r.Fact("extension", "%s in %s", words.Plural(uint64(length), "bit"),
				words.Plural(n, "ID"))
		}
	}
}
