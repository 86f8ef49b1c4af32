package rules

import (
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/order"
	"github.com/sortid/sortid/verify/internal/randomness"
	"github.com/sortid/sortid/verify/internal/words"
	"github.com/sortid/sortid/verify/report"
)

// euidRules check the two halves of random and the header: within a millisecond the high
// half goes up by one and the header stays, in a new one both are random; the low half
// is random in each ID.
type euidRules struct {
	c                         *Context
	low, high, header         *randomness.Field
	headerBits                int // of header, as many as the first extension leaves
	version                   *findings.Check
	step, repeat, headerStays *findings.Check
	overflow                  *findings.Check
	counterKept               *findings.Chance
	known                     bool
	before                    ids.ID
	lengths                   [euid.MaxExtensionLength + 1]uint64
}

func newEUID(c *Context) Rules {
	r := &euidRules{
		c: c, low: c.Fields.Add("random_low", 32), headerBits: -1,
		version: c.Check("rules.version", "the version bits are 0, for version 1", report.Fail),
	}
	if !c.Unordered || c.Stateless {
		r.high = c.Fields.Add("random_high", 32)
	}
	if c.Unordered {
		return r
	}
	r.step = c.Check("rules.step", "the high half of random goes up by one within a millisecond", report.Fail)
	r.repeat = c.Check("rules.repeat", "no two IDs have the same timestamp and high half of random", report.Fail)
	r.headerStays = c.Check("rules.header", "the header stays the same within a millisecond", report.Fail)
	r.overflow = c.Check("rules.overflow", "when the high half is full there is no other ID in the millisecond", report.Fail)
	r.counterKept = c.Chance("rules.counter", "the high half is renewed when the timestamp moves on", 2.0/(1<<32))
	return r
}

func (r *euidRules) Each(list []ids.ID, line uint64) {
	for i := range list {
		v := &list[i]
		r.low.Add(v.Lo & (1<<32 - 1))
		r.lengths[v.Hi>>3&euid.MaxExtensionLength]++
		if v.Hi&euid.MaxVersionBits != 0 && r.version.Hit() {
			r.version.Example(line+uint64(i), r.c.Show(*v), "has the version bits %03b", v.Hi&euid.MaxVersionBits)
		}
	}
	if r.c.Stateless {
		for i := range list {
			r.high.Add(list[i].Lo >> 32)
			r.addHeader(list[i].Hi)
		}
	}
}

// addHeader notes the header's random bits, those that are above the extension.
func (r *euidRules) addHeader(hi uint64) {
	bits := euid.MaxExtensionLength - int(hi>>3&euid.MaxExtensionLength)
	if r.headerBits < 0 {
		if r.headerBits = bits; bits > 0 {
			r.header = r.c.Fields.Add("header", bits)
		}
	}
	if bits > 0 && bits == r.headerBits {
		r.header.Add(hi >> 7 & euid.MaxRandomAndExtension >> (euid.MaxExtensionLength - bits))
	}
}

func (r *euidRules) Run(list []ids.ID, line uint64) {
	hi, high := r.before.Hi, r.before.Lo>>32
	for i := range list {
		v := list[i]
		if v.Hi != hi || v.Lo>>32 != high+1 || !r.known {
			r.judgeStep(ids.ID{Hi: hi, Lo: high << 32}, v, line+uint64(i))
		}
		hi, high = v.Hi, v.Lo>>32
	}
	r.before = ids.ID{Hi: hi, Lo: high << 32}
}

// judgeStep judges a step that is not just plus one.
func (r *euidRules) judgeStep(before, v ids.ID, line uint64) {
	known := r.known
	r.known = true
	high, last := v.Lo>>32, before.Lo>>32
	switch {
	case !known:
	case v.Hi>>22 != before.Hi>>22:
		r.counterKept.Tries++
		if high-last <= 1 && r.counterKept.Hit() {
			r.counterKept.Example(line, r.c.Show(v), "the high half goes on from the line before, %d", high)
		}
		r.high.Add(high)
		r.addHeader(v.Hi)
	case v.Hi != before.Hi:
		if r.headerStays.Hit() {
			r.headerStays.Example(line, r.c.Show(v), "the header is %06x, before it was %06x", v.Hi&(1<<22-1), before.Hi&(1<<22-1))
		}
	case high == last:
		r.foundRepeat(v, line)
	case r.step.Hit():
		r.step.Example(line, r.c.Show(v), "the high half goes up by %s", words.Count(high-last))
	}
}

func (r *euidRules) foundRepeat(v ids.ID, line uint64) {
	if r.repeat.Hit() {
		r.repeat.Example(line, r.c.Show(v), "the same as in the line before, but for the low half")
	}
}

func (r *euidRules) Back(before, v ids.ID, line uint64) order.Step {
	switch {
	case r.c.Unordered || before.Hi>>22 != v.Hi>>22:
	case before.Hi != v.Hi:
		if r.headerStays.Hit() {
			r.headerStays.Example(line, r.c.Show(v), "the header is %06x, before it was %06x", v.Hi&(1<<22-1), before.Hi&(1<<22-1))
		}
		return order.Continue
	case before.Lo>>32 == v.Lo>>32:
		r.foundRepeat(v, line)
		return order.Outlier
	case before.Lo>>32 == 1<<32-1 && v.Lo>>32 == 0:
		if r.overflow.Hit() {
			r.overflow.Example(line, r.c.Show(v), "the high half starts again at 0 in the same millisecond")
		}
		return order.Continue
	}
	return order.Unknown
}

func (r *euidRules) Gap()     { r.known = false }
func (r *euidRules) Restart() { r.known = false }

func (r *euidRules) Finish() {
	for length, n := range r.lengths {
		switch {
		case n == 0:
		case length == 0:
			r.c.Fact("extension", "none in %s", words.Plural(n, "ID"))
		default:
			r.c.Fact("extension", "of %s in %s", words.Plural(uint64(length), "bit"), words.Plural(n, "ID"))
		}
	}
}
