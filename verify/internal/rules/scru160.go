package rules

import (
	"math"

	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/order"
	"github.com/sortid/sortid/verify/internal/randomness"
	"github.com/sortid/sortid/verify/internal/words"
	"github.com/sortid/sortid/verify/report"
)

// A lineID is an ID and its line; line 0 says that the step to the next one is not to be
// judged.
type lineID struct {
	id   ids.ID
	line uint64
}

// A usage is what a scru160 generator does with the counter.
type usage struct {
	micros bool
	ext    int // bits of random16 that belong to the counter
}

const (
	microBits = 6 // of the counter below the microseconds
	maxMicros = 999
)

// tick returns what has to change for the counter to start anew.
func (u usage) tick(v ids.ID) uint64 {
	if u.micros {
		return v.Hi >> microBits
	}
	return v.Hi >> 16
}

// counter returns the counter with its extension.
func (u usage) counter(v ids.ID) uint64 {
	if u.micros {
		return v.Hi & (1<<microBits - 1)
	}
	return (v.Hi&0xffff<<16 | v.Lo>>48) >> (16 - u.ext)
}

// size returns the size of the counter, and startSize that of its largest start, which
// has the top bit clear.
func (u usage) size() int {
	if u.micros {
		return microBits
	}
	return 16 + u.ext
}

func (u usage) startSize() int { return u.size() - 1 }

func (u usage) String() string {
	switch {
	case u.micros:
		return "microseconds and 6 bits of counter"
	case u.ext > 0:
		return "counter of " + words.Plural(uint64(u.size()), "bit") + ", the low " + words.Count(uint64(u.ext)) + " in random16"
	}
	return "counter of 16 bits"
}

// node returns the node ID of so many bits, which follows the counter.
func (u usage) node(v ids.ID, bits int) uint64 {
	return v.Lo >> 48 >> (16 - u.ext - bits) & (1<<bits - 1)
}

// faults counts what is wrong in IDs, if this is the usage and there is a node ID of so
// many bits.
func (u usage) faults(list []lineID, node int) (n int) {
	for i, l := range list {
		if l.line == 0 || i == 0 || list[i-1].line == 0 {
			continue
		}
		last := list[i-1].id
		counter := u.counter(l.id)
		if u.tick(l.id) == u.tick(last) && counter != u.counter(last)+1 ||
			u.tick(l.id) != u.tick(last) && counter>>u.startSize() != 0 ||
			u.micros && l.id.Hi>>microBits&0x3ff > maxMicros ||
			u.node(l.id, node) != u.node(last, node) {
			n++
		}
	}
	return n
}

// scru160Rules check the counter, in either of its usages, and the random fields. What
// the IDs do not tell, the usage and how far the counter extends into random16, is
// inferred from the first ones, which are kept until then.
type scru160Rules struct {
	c          *Context
	high, low  *randomness.Field // the halves of random80
	raw80      *randomness.BitWriter
	random16   *randomness.Field // what neither counter nor node ID takes of it
	randomBits int
	usage      usage
	inferred   bool
	pending    []lineID // line 0: the step to the next one is not to be judged
	pending16  []uint64 // random16 of all IDs so far

	step, repeat, overflow *findings.Check
	micros, start, node    *findings.Check
	counterKept            *findings.Chance
	starts                 *counterStarts
	known                  bool
	before                 ids.ID
	nodeKnown              bool
	nodeID                 uint64
}

const (
	// inferenceIDs is the number of IDs from which the usage of the counter is inferred.
	inferenceIDs = 4096

	half80 = 40
)

func newSCRU160(c *Context) Rules {
	r := &scru160Rules{c: c, raw80: c.Fields.Raw("random80"), high: c.Fields.Add("random80.high", half80), low: c.Fields.Add("random80.low", half80)}
	if c.Unordered {
		r.inferUsage()
		return r
	}
	r.step = c.Check("rules.step", "the counter goes up by one within a tick", report.Fail)
	r.repeat = c.Check("rules.repeat", "no two IDs have the same timestamp and counter", report.Fail)
	r.overflow = c.Check("rules.overflow", "a full counter waits for the next tick", report.Fail)
	r.micros = c.Check("rules.micros", "the microseconds are at most 999", report.Fail)
	r.start = c.Check("rules.start", "the counter starts at random with its top bit clear, or at zero", report.Fail)
	r.counterKept = c.Chance("rules.counter", "the counter is renewed in each tick", 1)
	if c.NodeBits > 0 {
		r.node = c.Check("rules.node", "the node ID stays the same", report.Fail)
	}
	return r
}

func (r *scru160Rules) Each(list []ids.ID, line uint64) {
	for i := range list {
		v := &list[i]
		high, low := v.Lo>>8&(1<<half80-1), v.Lo&0xff<<32|uint64(v.Tail)
		r.high.Add(high)
		r.low.Add(low)
		if r.raw80 != nil {
			r.raw80.Add(high, half80)
			r.raw80.Add(low, half80)
		}
		r.add16(v.Lo >> 48)
	}
}

// add16 adds the random part of random16, once it is known which part that is.
func (r *scru160Rules) add16(v uint64) {
	if !r.inferred {
		r.pending16 = append(r.pending16, v)
	} else if r.random16 != nil {
		r.random16.Add(v & (1<<r.randomBits - 1))
	}
}

func (r *scru160Rules) Run(list []ids.ID, line uint64) {
	if !r.inferred {
		// As many as it takes, however many come together.
		n := min(len(list), max(inferenceIDs-len(r.pending), 0))
		for i, v := range list[:n] {
			r.pending = append(r.pending, lineID{v, line + uint64(i)})
		}
		if len(r.pending) < inferenceIDs {
			return
		}
		r.inferUsage()
		list, line = list[n:], line+uint64(n)
	}
	for i := range list {
		r.judge(list[i], line+uint64(i))
	}
}

// inferUsage takes the usage that was stated, or the one with the fewest faults among the
// IDs that were kept, or the common one if these say nothing. Then it judges what was kept.
func (r *scru160Rules) inferUsage() {
	o := &r.c.Options
	r.usage = usage{micros: o.Usage == UsageMicroseconds, ext: max(o.Extension, 0)}
	if !o.Unordered {
		fewest := math.MaxInt
		try := func(u usage) {
			if n := u.faults(r.pending, o.NodeBits); n < fewest {
				fewest, r.usage = n, u
			}
		}
		for ext := range 17 - o.NodeBits {
			if o.Usage != UsageMicroseconds && (o.Extension == 0 || ext == max(o.Extension, 0)) {
				try(usage{ext: ext})
			}
		}
		if o.Usage != UsageDefault && o.Extension <= 0 {
			try(usage{micros: true})
		}
		width := -1
		if o.CounterStart != 0 {
			width = max(o.CounterStart, 0)
		}
		r.starts = newCounterStarts(r.c, "counter", r.usage.size(), width, r.startChanged)
		r.starts.topZero = width >= 0
	}
	if r.randomBits = 16 - r.usage.ext - o.NodeBits; r.randomBits > 0 {
		r.random16 = r.c.Fields.Add("random16", r.randomBits)
	}
	r.inferred = true
	for _, l := range r.pending {
		if l.line == 0 {
			r.known = false
			continue
		}
		r.judge(l.id, l.line)
	}
	for _, v := range r.pending16 {
		r.add16(v)
	}
	r.pending, r.pending16 = nil, nil
}

// startChanged counts a start that has other bits than the random ones.
func (r *scru160Rules) startChanged(line, value, top uint64) {
	if r.start.Hit() {
		r.start.Example(line, "", "the counter starts at %d, with more than %s", value, words.Plural(uint64(r.starts.width), "random bit"))
	}
}

func (r *scru160Rules) judge(v ids.ID, line uint64) {
	last, known, u := r.before, r.known, r.usage
	r.before, r.known = v, true
	if r.node != nil {
		node := u.node(v, r.c.NodeBits)
		if r.nodeKnown && node != r.nodeID && r.node.Hit() {
			r.node.Example(line, r.c.Show(v), "the node ID is %d, before it was %d", node, r.nodeID)
		}
		r.nodeID, r.nodeKnown = node, true
	}
	if u.micros && v.Hi>>microBits&0x3ff > maxMicros && r.micros.Hit() {
		r.micros.Example(line, r.c.Show(v), "the microseconds are %d", v.Hi>>microBits&0x3ff)
	}
	if !known {
		return
	}
	counter, before := u.counter(v), u.counter(last)
	switch {
	case u.tick(v) != u.tick(last):
		r.counterKept.Tries++
		if counter-before <= 1 && r.counterKept.Hit() {
			r.counterKept.Example(line, r.c.Show(v), "the counter goes on from the line before, at %d", counter)
		}
		if counter>>u.startSize() != 0 && r.start.Hit() {
			r.start.Example(line, r.c.Show(v), "the counter starts at %d, of more than %s", counter, words.Plural(uint64(u.startSize()), "bit"))
		}
		r.starts.add(counter&(1<<u.startSize()-1), line)
	case counter == before+1:
	case counter == before:
		r.foundRepeat(v, line)
	case r.step.Hit():
		r.step.Example(line, r.c.Show(v), "the counter goes up by %s", words.Count(counter-before))
	}
}

func (r *scru160Rules) foundRepeat(v ids.ID, line uint64) {
	if r.repeat.Hit() {
		r.repeat.Example(line, r.c.Show(v), "the same as in the line before, but for the random bits")
	}
}

func (r *scru160Rules) Back(before, v ids.ID, line uint64) order.Step {
	u := r.usage // the common one, while it is not known
	if r.c.Unordered || u.tick(before) != u.tick(v) {
		return order.Unknown
	}
	switch counter := u.counter(v); {
	case counter == u.counter(before) && (r.inferred || len(r.pending) == 0 || v.Hi == before.Hi):
		r.foundRepeat(v, line)
		return order.Outlier
	case counter == 0 && u.counter(before) == 1<<u.size()-1:
		if r.overflow.Hit() {
			r.overflow.Example(line, r.c.Show(v), "the counter starts again at 0 in the same tick")
		}
		return order.Continue
	}
	return order.Unknown
}

func (r *scru160Rules) Gap() {
	r.known = false
	if !r.inferred {
		r.pending = append(r.pending, lineID{})
	}
}

func (r *scru160Rules) Restart() { r.Gap() }

func (r *scru160Rules) Finish() {
	if !r.inferred {
		r.inferUsage()
	}
	if r.starts == nil {
		return
	}
	s := r.starts
	s.infer()
	r.c.Fact("usage", "%v", r.usage)
	if r.nodeKnown {
		r.c.Fact("node ID", "%d of %s", r.nodeID, words.Plural(uint64(r.c.NodeBits), "bit"))
	}
	if s.width < 0 {
		r.counterKept.Tries = 0
		return
	}
	if s.n > 1 {
		r.c.Fact("counter start", "%s", words.Plural(uint64(s.width), "random bit"))
	}
	// From zero, a counter may well start where it was.
	r.counterKept.Probability = math.Min(1, math.Ldexp(2, -s.width))
	if s.width == 0 && s.top != 0 && s.n >= 20 {
		r.start.Count = s.n
		r.start.Detail = "in all ticks the counter starts at " + words.Count(s.top)
	}
}
