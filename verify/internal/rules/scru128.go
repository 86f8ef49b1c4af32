package rules

import (
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/order"
	"github.com/sortid/sortid/verify/internal/randomness"
	"github.com/sortid/sortid/verify/internal/words"
	"github.com/sortid/sortid/verify/report"
)

// scru128Rules check the three layers: entropy new in each ID, counter_lo random in each
// millisecond and then plus one, counter_hi random once a second of movement.
type scru128Rules struct {
	c                       *Context
	entropy, loField        *randomness.Field // counter_lo where it starts
	hiField                 *randomness.Field // counter_hi where it is renewed
	step, repeat            *findings.Check
	lost, early             *findings.Check
	counterKept, notRenewed *findings.Chance
	known                   bool   // whether there is an ID before
	hi, lo32                uint64 // of that, without its entropy
	renewed                 uint64 // when counter_hi was, at the latest
	renewedExactly          bool   // just then
	carries, overflows      uint64
}

const (
	counterBits    = 24
	counterMask    = 1<<counterBits - 1
	fullCounter    = 1<<48 - 1
	scru128Renewal = 1000 // timestamps
	entropyBits    = 32
	neverRenewed   = 1<<64 - 1
)

func newSCRU128(c *Context) Rules {
	r := &scru128Rules{c: c, entropy: c.Fields.Add("entropy", entropyBits), renewed: neverRenewed}
	if c.Unordered && !c.Stateless {
		return r
	}
	r.loField, r.hiField = c.Fields.Add("counter_lo", counterBits), c.Fields.Add("counter_hi", counterBits)
	if c.Stateless {
		return r
	}
	r.step = c.Check("rules.step", "the counters go up by one within a millisecond", report.Fail)
	r.repeat = c.Check("rules.repeat", "no two IDs have the same timestamp and counters", report.Fail)
	r.lost = c.Check("rules.carry", "counter_hi goes up when counter_lo is full", report.Fail)
	r.counterKept = c.Chance("rules.counter_lo", "counter_lo is renewed when the timestamp moves on", 2.0/(1<<counterBits))
	r.notRenewed = c.Chance("rules.counter_hi", "counter_hi is renewed once the timestamp has moved on by a second", 1.0/(1<<counterBits))
	r.early = c.Check("rules.counter_hi.early", "counter_hi is not renewed more often than that", report.Fail)
	return r
}

func (r *scru128Rules) Each(list []ids.ID, line uint64) {
	for rest := list; len(rest) > 0; {
		values := r.entropy.Grow(len(rest))
		for i := range values {
			values[i] = rest[i].Lo & (1<<entropyBits - 1)
		}
		rest = rest[len(values):]
	}
	if r.c.Stateless {
		for i := range list {
			counter := scru128Counter(list[i].Hi, list[i].Lo>>32)
			r.loField.Add(counter & counterMask)
			r.hiField.Add(counter >> counterBits)
		}
	}
}

// scru128Counter returns both counters as one number.
func scru128Counter(hi, lo32 uint64) uint64 { return hi&0xffff<<32 | lo32 }

func (r *scru128Rules) Run(list []ids.ID, line uint64) {
	hi, lo32 := r.hi, r.lo32
	for i := range list {
		v := &list[i]
		// One more than before, but for a carry of any kind.
		if v.Hi == hi && v.Lo>>32 == lo32+1 && v.Lo>>32&counterMask != 0 && r.known {
			lo32++
			continue
		}
		r.hi, r.lo32 = hi, lo32
		r.judgeStep(*v, line+uint64(i))
		hi, lo32 = v.Hi, v.Lo>>32
	}
	r.hi, r.lo32 = hi, lo32
}

// judgeStep judges a step that is not just plus one.
func (r *scru128Rules) judgeStep(v ids.ID, line uint64) {
	before, now := r.hi>>16, v.Hi>>16
	last, counter := scru128Counter(r.hi, r.lo32), scru128Counter(v.Hi, v.Lo>>32)
	hiKept := counter>>counterBits == last>>counterBits
	switch {
	case !r.known:
		r.known = true
		if !hiKept || now < r.renewed {
			r.renewed, r.renewedExactly = now, false
		}
		return
	case now == before && counter == last:
		if r.repeat.Hit() {
			r.repeat.Example(line, r.c.Show(v), "the same as in the line before, but for the entropy")
		}
		return
	case now == before && counter == last+1:
		r.carries++ // of counter_lo: nothing else leads here
		return
	case now == before:
		if r.step.Hit() {
			r.step.Example(line, r.c.Show(v), "the counters go up by %s", words.Count(counter-last))
		}
		return
	}
	lo := counter & counterMask
	if last == fullCounter && now == before+1 && counter>>counterBits == 0 {
		r.overflows++
		r.loField.Add(lo)
		return
	}
	r.counterKept.Tries++
	if step := lo - last&counterMask; step <= 1 && r.counterKept.Hit() {
		r.counterKept.Example(line, r.c.Show(v), "counter_lo goes on from the line before, %d", lo)
	}
	r.loField.Add(lo)

	due := now-r.renewed >= scru128Renewal
	if due {
		r.notRenewed.Tries++
	}
	switch {
	case !hiKept:
		if !due && r.renewedExactly && r.early.Hit() {
			r.early.Example(line, r.c.Show(v), "counter_hi is new, %d ms after it was last renewed", now-r.renewed)
		}
		r.hiField.Add(counter >> counterBits)
		r.renewed, r.renewedExactly = now, true
	case due:
		if r.notRenewed.Hit() {
			r.notRenewed.Example(line, r.c.Show(v), "counter_hi is the same as %d ms before", now-r.renewed)
		}
		r.renewed = now
	}
}

func (r *scru128Rules) Back(before, v ids.ID, line uint64) order.Step {
	if r.c.Stateless || before.Hi>>16 != v.Hi>>16 {
		return order.Unknown
	}
	last, counter := scru128Counter(before.Hi, before.Lo>>32), scru128Counter(v.Hi, v.Lo>>32)
	switch {
	case counter == last:
		if r.repeat.Hit() {
			r.repeat.Example(line, r.c.Show(v), "the same as in the line before, but for the entropy")
		}
		return order.Outlier
	case last&counterMask == counterMask && counter == last&^counterMask:
		if r.lost.Hit() {
			r.lost.Example(line, r.c.Show(v), "counter_lo starts again at 0, counter_hi stays at %d", counter>>counterBits)
		}
		return order.Continue
	}
	return order.Unknown
}

func (r *scru128Rules) Gap()     { r.known = false }
func (r *scru128Rules) Restart() { r.known, r.renewedExactly, r.renewed = false, false, neverRenewed }

func (r *scru128Rules) Finish() {
	if r.carries > 0 {
		r.c.Fact("carries", "%s from counter_lo to counter_hi", words.Count(r.carries))
	}
	if r.overflows > 0 {
		r.c.Fact("overflows", "%s of both counters", words.Count(r.overflows))
	}
}
