package exact

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// A head is the part of an ID from its highest bit to the lowest bit of the counter. The tick is
// the part from the highest bit to the lowest bit of the time.
type heads struct {
	field     spec.Field    // The counter.
	high, low integer.Place // The head's two words.
	tickShift uint          // Number of bits below the tick.
	within    uint64        // Mask of the bits below the tick.
	counter   uint64        // Mask of the counter.
	maxStart  uint64        // Largest value of a new counter.
	hasHeader bool          // There is a header: bits between tick and counter.
}

type head struct{ high, low uint64 }

func newHeads(f *sample.Format, layout []spec.Field) (hs heads) {
	end := f.Bits
	for _, field := range layout {
		switch field.Kind {
		case spec.KindTime:
			end = field.Low
		case spec.KindCounter:
			hs.field, hs.counter = field, 1<<field.Bits-1
			if hs.maxStart = hs.counter; field.Start == spec.StartHalf {
				hs.maxStart >>= 1
			}
		}
		hs.hasHeader = hs.hasHeader || field.PartBits != ""
	}
	hs.tickShift = uint(end - hs.field.Low)
	hs.within = 1<<hs.tickShift - 1
	size := f.Bits - hs.field.Low
	hs.low = integer.PlaceOf(hs.field.Low, min(64, size))
	hs.high = integer.PlaceOf(hs.field.Low+64, max(0, min(64, size-64)))
	return hs
}

func (hs *heads) of(v *integer.Words) head { return head{hs.high.Of(v), hs.low.Of(v)} }

func (hs *heads) tick(h head) uint64 { return h.high<<(64-hs.tickShift) | h.low>>hs.tickShift }

// header returns the bits between tick and counter, or 0.
func (hs *heads) header(h head) uint64 {
	if !hs.hasHeader {
		return 0
	}
	return h.low & hs.within >> hs.field.Bits
}

// A counter checks how a generator's counter starts in each tick and goes up within the tick.
type counter struct {
	heads
	*Context
	withNode bool // the size of the node ID is unknown, so the counter includes the node ID

	starts  *startChecker // nil if the counter continues in a new tick
	renewal *renewal      // nil if there is no upper counter
	mixed   *mixed        // nil if no field has both data and random bits

	step, repeat, overflow, carry *findings.Check // nil if not checked
	changed, start, node          *findings.Check
	kept                          *findings.Chance

	known                          bool   // the field before has a value
	before                         head   // of the previous ID
	tickStart                      uint64 // header and counter of the tick's first ID
	changedBits                    uint64 // bits that changed within a tick
	carries, overflows, topCarries uint64
}

func (r *Rules) addCounter() {
	c := &counter{heads: newHeads(r.Format, r.usage.Layout), Context: r.Context, mixed: r.mixed,
		withNode: r.Format.NodeCounter > 0 && len(r.nodes) == 0, node: r.node}
	r.counter = c
	var names []string
	for _, f := range r.usage.Layout {
		if f.Kind == spec.KindCounter {
			names = append(names, f.Name)
		}
	}
	if c.hasHeader {
		c.changed = r.check("header", "the header stays the same within a tick",
			"the header changes within a tick")
	}
	name := c.field.Name
	if c.field.Start == spec.StartNever {
		c.step = r.check("step", fmt.Sprintf("the %s goes up by one, or from %d to 0", name, c.counter),
			fmt.Sprintf("the %s does not go up by one", name))
		c.overflow = r.check("overflow",
			fmt.Sprintf("within a tick the %s does not go from %d back to 0", name, c.counter),
			fmt.Sprintf("within a tick the %s goes from %d back to 0", name, c.counter))
		c.overflow.Severity = report.Warn
		r.counterRepeats = &counterRepeats{heads: &c.heads,
			check: r.check(name, fmt.Sprintf("no %s occurs twice in a tick", name),
				fmt.Sprintf("the same %s occurs twice in a tick", name))}
		return
	}
	all := words.List(names, "and")
	c.step = r.check("step", "each ID of a tick adds one to "+all,
		"IDs of a tick do not add one to "+all)
	c.repeat = r.check("repeat", "no two IDs of a tick have the same "+all,
		"IDs of a tick have the same "+all)
	kept := "counter"
	if len(names) > 1 {
		kept = name
		c.carry = r.check("carry", fmt.Sprintf("%s goes up when %s is full", names[0], name),
			fmt.Sprintf("%s does not go up when %s is full", names[0], name))
	} else {
		c.overflow = r.check("overflow", fmt.Sprintf(
			"a full %s does not start again within its tick, and changes no other field", name),
			fmt.Sprintf("a full %s starts again within its tick, or changes another field", name))
	}
	c.kept = r.Found.Chance("rules."+kept, name+" is renewed when the timestamp increases",
		name+" is not renewed when the timestamp increases", "new tick", 1)
	width := c.field.Bits
	if startsNarrow(c.field) {
		c.start = r.check("start", fmt.Sprintf("a new %s has random bits, but not too many", name),
			fmt.Sprintf("a new %s has no random bits, or too many", name))
		if width = -1; r.Options.CounterStart != 0 {
			width = max(r.Options.CounterStart, 0)
		}
	}
	c.starts = newStartChecker(c, width)
	for _, f := range r.usage.Layout {
		if f.Every > 0 {
			c.renewal = newRenewal(c, f)
		}
	}
}

func (c *counter) run(list []integer.Words, line uint64) {
	last, known := c.before, c.known
	mask := c.counter & 0xff
	// The IDs increase. If the first and the last ID have the same high word, every ID has it.
	high := c.high.Of(&list[0])
	oneHigh := high == c.high.Of(&list[len(list)-1])
	for i := range list {
		if !oneHigh {
			high = c.high.Of(&list[i])
		}
		h := head{high, c.low.Of(&list[i])}
		// Most heads go up by one, without a carry. Judge the other heads.
		if h.high != last.high || h.low != last.low+1 || h.low&mask == 0 || !known {
			c.judge(last, h, &list[i], line+uint64(i))
			known = true
		}
		last = h
	}
	c.before = last
}

func (c *counter) judge(last, h head, v *integer.Words, line uint64) {
	now, before := h.low&c.counter, last.low&c.counter
	switch tick := c.tick(h); {
	case !c.known:
		c.known, c.tickStart = true, h.low&c.within
		if c.renewal != nil {
			c.renewal.begin(tick, c.renewal.of(h) != c.renewal.of(last))
		}
	case c.field.Start == spec.StartNever:
		if now != (before+1)&c.counter && h != last { // counterRepeats reports h == last
			c.step.FoundID(line, v, "%s %d after %d", c.field.Name, now, before)
		}
	case tick == c.tick(last):
		c.judgeWithin(last, h, v, line)
	default:
		c.judgeStart(last, h, v, line)
	}
}

func (c *counter) judgeWithin(last, h head, v *integer.Words, line uint64) {
	by := h.low - last.low
	switch {
	case c.header(h) != c.header(last):
		c.foundHeader(last, h, v, line)
	case by == 0:
		c.foundRepeat(v, line)
	case by == 1 && c.withNode:
		c.judgeCarry(last, h, v, line)
	case by == 1 && h.low&c.counter != 0:
	case by == 1 && c.carry != nil:
		c.carries++
	case by == 1:
		c.foundCarry(v, line)
	default:
		c.step.FoundID(line, v, "%s goes up by %s", c.field.Name, words.Count(by))
	}
}

func (c *counter) foundHeader(last, h head, v *integer.Words, line uint64) {
	digits := (int(c.tickShift) - c.field.Bits + 3) / 4
	c.changed.FoundID(line, v, "the header changes to %0*x, from %0*x", digits, c.header(h),
		digits, c.header(last))
}

func (c *counter) foundRepeat(v *integer.Words, line uint64) {
	c.repeat.FoundID(line, v, "only the random bits differ from the previous line")
}

func (c *counter) foundCarry(v *integer.Words, line uint64) {
	c.overflow.FoundID(line, v, "the full counter has changed the node ID")
}

func (c *counter) judgeStart(last, h head, v *integer.Words, line uint64) {
	tick := c.tick(h)
	next := tick == c.tick(last)+1
	start, before := h.low&c.counter, last.low&c.counter
	c.changedBits |= last.low&c.within ^ c.tickStart
	c.tickStart = h.low & c.within
	if next && c.renewal != nil && last.low&c.within == c.within && c.renewal.of(h) == 0 {
		c.overflows++ // this counter and the upper counter were full
		c.starts.add(start, line)
		return
	}
	if next && before == c.counter && len(c.Options.Nodes) > 0 {
		c.overflows++
	}
	c.kept.Tries++
	if start-before <= 1 {
		c.kept.FoundID(line, v, "%s continues from the previous line, with %d", c.field.Name, start)
	}
	if start > c.maxStart {
		c.start.FoundID(line, v, "the counter starts at %d, which is more than %d", start,
			c.maxStart)
	}
	c.starts.add(start&c.maxStart, line)
	if c.mixed != nil {
		c.mixed.add(v)
	}
	if c.renewal != nil {
		c.renewal.judge(last, h, tick, v, line)
	}
}

func (c *counter) back(before, v *integer.Words, line uint64) Step {
	h, last := c.of(v), c.of(before)
	mayWrap := last.low&c.counter == c.counter && h.low&c.counter == 0 &&
		h.low == last.low&^c.counter
	switch {
	case c.tick(h) != c.tick(last):
		return Unknown
	case c.header(h) != c.header(last):
		c.foundHeader(last, h, v, line)
		return Continue
	case h.low == last.low:
		if c.repeat != nil { // if repeat is nil, counterRepeats reports this fault
			c.foundRepeat(v, line)
		}
		return Outlier
	case c.carry != nil && mayWrap:
		c.carry.FoundID(line, v,
			"%s starts again at 0, but the counter above it does not go up", c.field.Name)
		return Continue
	case c.overflow != nil && (mayWrap || c.wrapsBelowNode(last.low, h.low)):
		c.overflow.FoundID(line, v,
			"%s goes back to 0 in the same tick, so the ID is smaller than the previous ID",
			c.field.Name)
		return Continue
	}
	return Unknown
}

func (c *counter) countCarries() {
	if c.carries > 0 {
		c.Found.Fact("carries", "%s to %s", words.Count(c.carries), c.renewal.Name)
	}
	if c.overflows > 0 {
		c.Found.Fact("overflows", "%s to the next tick", words.Count(c.overflows))
	}
}

func (c *counter) concludeStarts() {
	s := c.starts
	s.infer()
	if s.width < 0 {
		c.kept.Tries = 0
		return
	}
	// With few random bits, a start often continues the old count by chance.
	c.kept.Probability = math.Min(1, math.Ldexp(2, -s.width))
	if c.withNode {
		c.concludeNode()
	}
	if s.n > 1 && c.field.Start != spec.StartRandom {
		c.Found.Fact("counter start", "%s", words.Plural(uint64(s.width), "random bit"))
	}
	// A counter of one bit can always start at 0. Wider counters must have random bits.
	size := c.field.Bits
	if c.withNode {
		size = bits.Len64(c.changedBits)
	}
	bad := c.Options.CounterStart == 0 && size >= 2
	if c.field.Start == spec.StartHalf { // this counter can always start at 0
		bad = s.top != 0
	}
	if s.width == 0 && s.n >= fewStarts && bad {
		c.start.Count = s.n
		c.start.Detail = fmt.Sprintf(
			"the counter starts at the same number in all %s ticks; "+
				"if it must start at zero, use --counter-start 0", words.Count(s.n))
	}
}

// judgeCarry checks a step by one if the counter includes the node ID. In the first ID of a tick,
// the bits between the node ID and the random bits are 0. So a carry out of the random bits may
// change only bits that are 0 in the tick's first ID. Bits that are 1 there belong to the node ID.
func (c *counter) judgeCarry(last, h head, v *integer.Words, line uint64) {
	s := c.starts
	if s.width < 0 {
		return
	}
	before := last.low & c.counter
	if full := uint64(1)<<s.width - 1; before&full != full {
		return
	}
	c.topCarries++
	if changed := (before ^ h.low&c.counter) >> s.width; changed&s.top != 0 {
		c.foundCarry(v, line)
	}
}

// wrapsBelowNode reports whether at least four low bits changed from 1 to 0, and no other bit
// changed.
func (c *counter) wrapsBelowNode(before, now uint64) bool {
	const least = 4
	ones, wrapped := bits.TrailingZeros64(^before), before-now+1
	width := bits.TrailingZeros64(wrapped)
	return c.withNode && wrapped&(wrapped-1) == 0 && width <= ones && width >= least
}

func (c *counter) concludeNode() {
	s := c.starts
	if c.kept.Certain() {
		// A counter that continues in the next tick makes the node ID seem to change.
		for _, t := range []*findings.Check{c.node, c.overflow} {
			t.Clear()
			t.Skip("see %s", c.kept.Name)
		}
	}
	if s.n < 2 {
		return
	}
	size := s.size - max(s.width, bits.Len64(c.changedBits))
	if c.topCarries > 0 {
		c.Found.Fact("node ID", "at most %s", words.Plural(uint64(size), "bit"))
	} else {
		c.Found.Fact("node ID", "%0*b, or only the high bits of this number", size, s.top)
	}
}

// topChanged reports a start with a wrong bit above the random bits.
func (c *counter) topChanged(value, line uint64) {
	s := c.starts
	if !c.withNode {
		c.start.Found(line, "", "the counter starts at %d, which has more than %s", value,
			words.Plural(uint64(s.width), "random bit"))
		return
	}
	high := s.size - s.width
	c.node.Found(line, "",
		"in node ID and counter, the high %s: %0*b after %0*b",
		words.Plural(uint64(high), "bit"), high, value>>s.width, high, s.top)
}
