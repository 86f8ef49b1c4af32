package verify

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/verify/internal/words"
)

var formatSCRU64 = format{
	name:     "scru64",
	lengths:  []int{scru64.TextLen},
	shift:    nodeCtrBits,
	unit:     scru64.Tick,
	epoch:    time.UnixMilli(0).UTC(),
	last:     scru64.MaxTimestamp,
	reserved: true,
	lead:     scru64.DefaultRollbackAllowance,
	read:     readSCRU64,
	text:     func(v id, _ int) string { return scru64.ID(v.hi).String() },
	reasons:  []reason{{scru64.ErrLength, "length"}, {scru64.ErrSymbol, "symbol"}},
	sorts:    true,
	fields:   []string{"counter"},
}

func init() { formatSCRU64.newRules = newSCRU64Rules }

const (
	nodeCtrBits = 24
	nodeCtrMask = 1<<nodeCtrBits - 1
)

func readSCRU64(text []byte) (v id, canonical bool, err error) {
	var n scru64.ID
	if err := n.UnmarshalText(text); err != nil {
		return id{}, false, err
	}
	capitals, _ := cases(text)
	return id{hi: uint64(n)}, !capitals, nil
}

// scru64Rules check the node ID and the counter, whose sizes the ID does not tell: within
// a tick the two together go up by one, and in a new tick the counter is random.
type scru64Rules struct {
	c     *checker
	nodes []scru64.NodeSpec // as told
	size  int               // of the counter, with one node; not known: 0

	node, step, repeat   *tally
	overflow, start      *tally
	kept                 *chance
	starts               *starts
	known                bool
	before               uint64
	began                uint64 // the tick's first ID
	climbed              uint64 // the bits of node and counter that have changed within a tick
	overflows, intoGuard uint64
}

func newSCRU64Rules(c *checker) rules {
	r := &scru64Rules{c: c}
	for _, s := range c.o.Nodes {
		spec, err := scru64.ParseNodeSpec(s)
		if err != nil { // Options.check has seen to that
			panic(err)
		}
		r.nodes = append(r.nodes, spec)
	}
	if len(r.nodes) > 0 || !c.o.Unordered {
		r.node = c.tally("rules.node", "each ID is of the node, or of one of those named", Fail)
	}
	if len(r.nodes) > 1 {
		r.prefixes()
	}
	if c.o.Unordered {
		return r
	}
	size, width := nodeCtrBits, -1
	if len(r.nodes) == 1 {
		r.size = nodeCtrBits - r.nodes[0].NodeIDSize()
		size = r.size
	}
	if c.o.CounterStart != 0 {
		width = max(c.o.CounterStart, 0)
	}
	r.step = c.tally("rules.step", "the counter goes up by one within a tick", Fail)
	r.repeat = c.tally("rules.repeat", "no two IDs have the same timestamp, node ID and counter", Fail)
	r.overflow = c.tally("rules.overflow", "a full counter moves the timestamp on, and nothing else", Fail)
	r.start = c.tally("rules.start", "the counter starts at random in each tick", Fail)
	r.kept = c.chance("rules.counter", "the counter is renewed when the timestamp moves on", 1)
	r.starts = newStarts(c, "counter", size, width, r.startChanged)
	r.starts.clear = r.size > 0 && width >= 0
	return r
}

// prefixes checks that no node ID is a prefix of another.
func (r *scru64Rules) prefixes() {
	t := r.c.tally("rules.prefix", "no node ID is a prefix of another", Fail)
	for i, a := range r.nodes {
		for _, b := range r.nodes[:i] {
			size := min(a.NodeIDSize(), b.NodeIDSize())
			if a.NodeID()>>(a.NodeIDSize()-size) == b.NodeID()>>(b.NodeIDSize()-size) && t.hit() {
				t.example(0, fmt.Sprintf("%d/%d", a.NodeID(), a.NodeIDSize()), "clashes with %d/%d", b.NodeID(), b.NodeIDSize())
			}
		}
	}
}

// startChanged is told of a counter whose bits above the random ones are new.
func (r *scru64Rules) startChanged(line, value, top uint64) {
	switch {
	case r.size == 0 && r.node.hit():
		high := nodeCtrBits - r.starts.width
		r.node.example(line, "", "the high %d bits of node ID and counter are %0*b, before they were %0*b",
			high, high, value>>r.starts.width, high, top)
	case r.size > 0 && r.start.hit():
		r.start.example(line, "", "the counter starts at %d, with more than %d random bits", value, r.starts.width)
	}
}

func (r *scru64Rules) each(ids []id, line uint64) {
	if len(r.nodes) == 0 {
		return
	}
	for i := range ids {
		if v := scru64.ID(ids[i].hi); !r.ours(v) && r.node.hit() {
			r.node.example(line+uint64(i), v.String(), "is of none of the nodes told of")
		}
	}
}

func (r *scru64Rules) ours(v scru64.ID) bool {
	for _, s := range r.nodes {
		if v.NodeID(s.NodeIDSize()) == s.NodeID() {
			return true
		}
	}
	return false
}

func (r *scru64Rules) run(ids []id, line uint64) {
	before := r.before
	for i := range ids {
		v := ids[i].hi
		if v == before+1 && v&0xff != 0 && r.known {
			before = v
			continue
		}
		r.before = before
		r.turn(v, line+uint64(i))
		before = v
	}
	r.before = before
}

// turn judges any step.
func (r *scru64Rules) turn(v, line uint64) {
	last, known := r.before, r.known
	r.known = true
	switch {
	case !known:
		r.began = v
		return
	case v>>nodeCtrBits == last>>nodeCtrBits:
		if v == last+1 {
			r.climb(last, v, line)
		} else if r.step.hit() {
			r.step.example(line, r.text(v), "node ID and counter go up by %s", words.Count(v-last))
		}
		return
	}
	r.climbed |= last ^ r.began
	r.began = v
	r.kept.tries++
	if step := (v - last) & nodeCtrMask; step <= 1 && r.kept.hit() {
		r.kept.example(line, r.text(v), "the counter goes on from the line before")
	}
	start := v & nodeCtrMask
	if r.size > 0 {
		start &= 1<<r.size - 1
		if last&(1<<r.size-1) == 1<<r.size-1 && v>>nodeCtrBits == last>>nodeCtrBits+1 {
			r.overflows++
		}
	}
	r.starts.add(start, line)
}

// climb looks whether the counter has climbed over its end, into the node ID.
func (r *scru64Rules) climb(last, v, line uint64) {
	switch {
	case r.size > 0 && last&(1<<r.size-1) == 1<<r.size-1:
	case r.size == 0 && r.starts.width >= 0 && last&(1<<r.starts.width-1) == 1<<r.starts.width-1:
		// Into bits that were clear in all starts it may climb: they may be the
		// counter's. A bit that was set is the node ID's.
		r.intoGuard++
		changed := (last ^ v) & nodeCtrMask >> r.starts.width
		if changed&r.starts.top == 0 {
			return
		}
	default:
		return
	}
	if r.overflow.hit() {
		r.overflow.example(line, r.text(v), "the full counter has changed the node ID")
	}
}

func (r *scru64Rules) text(v uint64) string { return scru64.ID(v).String() }

func (r *scru64Rules) back(before, v id, line uint64) backwards {
	if r.c.o.Unordered || before.hi>>nodeCtrBits != v.hi>>nodeCtrBits {
		return unknown
	}
	// From all ones to zero, in as many low bits as the counter may have.
	ones := bits.TrailingZeros64(^before.hi)
	wrapped := before.hi - v.hi + 1
	width := bits.TrailingZeros64(wrapped)
	least := 4
	if r.size > 0 {
		least = r.size
	}
	if wrapped&(wrapped-1) != 0 || width > ones || width < least {
		return unknown
	}
	if r.overflow.hit() {
		r.overflow.example(line, r.text(v.hi), "the counter starts again at 0 in the same tick")
	}
	return onwards
}

func (r *scru64Rules) resume()  { r.known = false }
func (r *scru64Rules) restart() { r.known = false }

func (r *scru64Rules) finish() {
	if r.starts == nil {
		return
	}
	s := r.starts
	s.infer()
	if s.width >= 0 {
		r.kept.probability = math.Min(1, math.Ldexp(2, -s.width))
	} else {
		r.kept.tries = 0
	}
	if r.kept.certain() && r.size == 0 {
		// A counter that simply goes on looks like a node ID that changes.
		for _, t := range []*tally{r.node, r.overflow} {
			t.Count, t.Examples = 0, nil
			t.skip("see %s", r.kept.Name)
		}
	}
	if r.size > 0 {
		r.c.fact("node", "%d/%d", r.nodes[0].NodeID(), r.nodes[0].NodeIDSize())
	} else if s.n > 1 {
		size := nodeCtrBits - max(s.width, bits.Len64(r.climbed))
		if r.intoGuard > 0 {
			r.c.fact("node ID", "of at most %d bits", size)
		} else {
			r.c.fact("node ID", "%0*b, or the first of these bits", size, s.top)
		}
	}
	if s.n > 1 {
		r.c.fact("counter start", "%s", words.Plural(uint64(s.width), "random bit"))
	}
	// A counter of one bit has nothing but its guard bit.
	counter := bits.Len64(r.climbed)
	if r.size > 0 {
		counter = r.size
	}
	if s.width == 0 && r.c.o.CounterStart == 0 && s.n >= 20 && counter >= 2 {
		r.start.Count = s.n
		r.start.Detail = fmt.Sprintf("in all of %s ticks the counter starts at the same number; if it is meant to start at zero, say so", words.Count(s.n))
	}
	if r.overflows > 0 {
		r.c.fact("overflows", "%s of the counter", words.Count(r.overflows))
	}
}
