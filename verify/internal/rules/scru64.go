package rules

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/order"
	"github.com/sortid/sortid/verify/internal/words"
	"github.com/sortid/sortid/verify/report"
)

const (
	nodeCtrBits = 24
	nodeCtrMask = 1<<nodeCtrBits - 1
)

// scru64Rules check the node ID and the counter, whose sizes the ID does not tell: within
// a tick the two together go up by one, and in a new tick the counter is random.
type scru64Rules struct {
	c     *Context
	nodes []scru64.NodeSpec // as told
	size  int               // of the counter, with one node; not known: 0

	node, step, repeat      *findings.Check
	overflow, start         *findings.Check
	counterKept             *findings.Chance
	starts                  *counterStarts
	known                   bool
	before                  uint64
	tickStart               uint64 // the tick's first ID
	changedBits             uint64 // the bits of node and counter that have changed within a tick
	overflows, guardCarries uint64
}

func newSCRU64(c *Context) Rules {
	r := &scru64Rules{c: c}
	for _, s := range c.Nodes {
		spec, err := scru64.ParseNodeSpec(s)
		if err != nil { // Options.Validate has checked it
			panic(err)
		}
		r.nodes = append(r.nodes, spec)
	}
	if len(r.nodes) > 0 || !c.Unordered {
		r.node = c.Check("rules.node", "each ID is of the node, or of one of those named", report.Fail)
	}
	if len(r.nodes) > 1 {
		r.prefixes()
	}
	if c.Unordered {
		return r
	}
	size, width := nodeCtrBits, -1
	if len(r.nodes) == 1 {
		r.size = nodeCtrBits - r.nodes[0].NodeIDSize()
		size = r.size
	}
	if c.CounterStart != 0 {
		width = max(c.CounterStart, 0)
	}
	r.step = c.Check("rules.step", "the counter goes up by one within a tick", report.Fail)
	r.repeat = c.Check("rules.repeat", "no two IDs have the same timestamp, node ID and counter", report.Fail)
	r.overflow = c.Check("rules.overflow", "a full counter moves the timestamp on, and nothing else", report.Fail)
	r.start = c.Check("rules.start", "the counter starts at random in each tick", report.Fail)
	r.counterKept = c.Chance("rules.counter", "the counter is renewed when the timestamp moves on", 1)
	r.starts = newCounterStarts(c, "counter", size, width, r.startChanged)
	r.starts.topZero = r.size > 0 && width >= 0
	return r
}

// prefixes checks that no node ID is a prefix of another.
func (r *scru64Rules) prefixes() {
	t := r.c.Check("rules.prefix", "no node ID is a prefix of another", report.Fail)
	for i, a := range r.nodes {
		for _, b := range r.nodes[:i] {
			size := min(a.NodeIDSize(), b.NodeIDSize())
			if a.NodeID()>>(a.NodeIDSize()-size) == b.NodeID()>>(b.NodeIDSize()-size) && t.Hit() {
				t.Example(0, fmt.Sprintf("%d/%d", a.NodeID(), a.NodeIDSize()), "clashes with %d/%d", b.NodeID(), b.NodeIDSize())
			}
		}
	}
}

// startChanged counts a counter whose bits above the random ones are new.
func (r *scru64Rules) startChanged(line, value, top uint64) {
	switch {
	case r.size == 0 && r.node.Hit():
		high := nodeCtrBits - r.starts.width
		r.node.Example(line, "", "the high %d bits of node ID and counter are %0*b, before they were %0*b",
			high, high, value>>r.starts.width, high, top)
	case r.size > 0 && r.start.Hit():
		r.start.Example(line, "", "the counter starts at %d, with more than %d random bits", value, r.starts.width)
	}
}

func (r *scru64Rules) Each(list []ids.ID, line uint64) {
	if len(r.nodes) == 0 {
		return
	}
	for i := range list {
		if v := scru64.ID(list[i].Hi); !r.ours(v) && r.node.Hit() {
			r.node.Example(line+uint64(i), v.String(), "is of none of the nodes told of")
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

func (r *scru64Rules) Run(list []ids.ID, line uint64) {
	before := r.before
	for i := range list {
		v := list[i].Hi
		if v == before+1 && v&0xff != 0 && r.known {
			before = v
			continue
		}
		r.before = before
		r.judgeStep(v, line+uint64(i))
		before = v
	}
	r.before = before
}

// judgeStep judges a step that is not just plus one.
func (r *scru64Rules) judgeStep(v, line uint64) {
	last, known := r.before, r.known
	r.known = true
	switch {
	case !known:
		r.tickStart = v
		return
	case v>>nodeCtrBits == last>>nodeCtrBits:
		if v == last+1 {
			r.checkCarry(last, v, line)
		} else if r.step.Hit() {
			r.step.Example(line, r.text(v), "node ID and counter go up by %s", words.Count(v-last))
		}
		return
	}
	r.changedBits |= last ^ r.tickStart
	r.tickStart = v
	r.counterKept.Tries++
	if step := (v - last) & nodeCtrMask; step <= 1 && r.counterKept.Hit() {
		r.counterKept.Example(line, r.text(v), "the counter goes on from the line before")
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

// checkCarry checks whether the counter has gone over its end, into the node ID.
func (r *scru64Rules) checkCarry(last, v, line uint64) {
	switch {
	case r.size > 0 && last&(1<<r.size-1) == 1<<r.size-1:
	case r.size == 0 && r.starts.width >= 0 && last&(1<<r.starts.width-1) == 1<<r.starts.width-1:
		// Bits that were clear in all starts may be the counter's guard bits, and may
		// be set. A bit that was set is the node ID's.
		r.guardCarries++
		changed := (last ^ v) & nodeCtrMask >> r.starts.width
		if changed&r.starts.top == 0 {
			return
		}
	default:
		return
	}
	if r.overflow.Hit() {
		r.overflow.Example(line, r.text(v), "the full counter has changed the node ID")
	}
}

func (r *scru64Rules) text(v uint64) string { return scru64.ID(v).String() }

func (r *scru64Rules) Back(before, v ids.ID, line uint64) order.Step {
	if r.c.Unordered || before.Hi>>nodeCtrBits != v.Hi>>nodeCtrBits {
		return order.Unknown
	}
	// From all ones to zero, in as many low bits as the counter may have.
	ones := bits.TrailingZeros64(^before.Hi)
	wrapped := before.Hi - v.Hi + 1
	width := bits.TrailingZeros64(wrapped)
	least := 4
	if r.size > 0 {
		least = r.size
	}
	if wrapped&(wrapped-1) != 0 || width > ones || width < least {
		return order.Unknown
	}
	if r.overflow.Hit() {
		r.overflow.Example(line, r.text(v.Hi), "the counter starts again at 0 in the same tick")
	}
	return order.Continue
}

func (r *scru64Rules) Gap()     { r.known = false }
func (r *scru64Rules) Restart() { r.known = false }

func (r *scru64Rules) Finish() {
	if r.starts == nil {
		return
	}
	s := r.starts
	s.infer()
	if s.width >= 0 {
		r.counterKept.Probability = math.Min(1, math.Ldexp(2, -s.width))
	} else {
		r.counterKept.Tries = 0
	}
	if r.counterKept.Certain() && r.size == 0 {
		// A counter that simply goes on looks like a node ID that changes.
		for _, t := range []*findings.Check{r.node, r.overflow} {
			t.Count, t.Examples = 0, nil
			t.Skip("see %s", r.counterKept.Name)
		}
	}
	if r.size > 0 {
		r.c.Fact("node", "%d/%d", r.nodes[0].NodeID(), r.nodes[0].NodeIDSize())
	} else if s.n > 1 {
		size := nodeCtrBits - max(s.width, bits.Len64(r.changedBits))
		if r.guardCarries > 0 {
			r.c.Fact("node ID", "of at most %d bits", size)
		} else {
			r.c.Fact("node ID", "%0*b, or the first of these bits", size, s.top)
		}
	}
	if s.n > 1 {
		r.c.Fact("counter start", "%s", words.Plural(uint64(s.width), "random bit"))
	}
	// A counter of one bit has nothing but its guard bit.
	counter := bits.Len64(r.changedBits)
	if r.size > 0 {
		counter = r.size
	}
	if s.width == 0 && r.c.CounterStart == 0 && s.n >= 20 && counter >= 2 {
		r.start.Count = s.n
		r.start.Detail = fmt.Sprintf("in all of %s ticks the counter starts at the same number; if it is meant to start at zero, say so", words.Count(s.n))
	}
	if r.overflows > 0 {
		r.c.Fact("overflows", "%s of the counter", words.Count(r.overflows))
	}
}
