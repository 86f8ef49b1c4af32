package rules

import (
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/order"
)

// Run takes strictly increasing IDs on consecutive lines from line. The caller must call Each
// first.
func (r *Rules) Run(list []format.Words, line uint64) {
	if r.usage == nil {
		// Keep exactly inferenceIDs, so that the size of the lists does not change the result.
		n := min(len(list), max(inferenceIDs-len(r.pending), 0))
		for i, v := range list[:n] {
			r.pending = append(r.pending, lineID{v, line + uint64(i)})
		}
		if len(r.pending) < inferenceIDs {
			return
		}
		r.infer()
		list, line = list[n:], line+uint64(n)
	}
	u := r.usage
	u.constants(list, line)
	if r.step == nil {
		u.firsts(r, list)
	}
	if r.step == nil || len(list) == 0 {
		return
	}
	last, known := r.before, r.known
	mask := u.counter & 0xff
	// The IDs increase: if the first and the last share the high word, all do.
	high := u.high.Of(&list[0])
	oneHigh := high == u.high.Of(&list[len(list)-1])
	for i := range list {
		if !oneHigh {
			high = u.high.Of(&list[i])
		}
		h := head{high, u.low.Of(&list[i])}
		// Most steps add one without a carry.
		if h.high != last.high || h.low != last.low+1 || h.low&mask == 0 || !known {
			r.judge(last, h, &list[i], line+uint64(i))
			known = true
		}
		last = h
	}
	r.before = last
}

func (r *Rules) judge(last, h head, v *format.Words, line uint64) {
	u := r.usage
	switch tick, before := u.tickOf(h), u.tickOf(last); {
	case !r.known:
		r.known, r.tickStart = true, h.low&u.within
		if r.renewal != nil {
			r.renewal.begin(tick, r.renewal.of(h) != r.renewal.of(last))
		}
	case u.field.Start == format.StartNever:
		r.judgeSequence(last, h, v, line)
	case tick == before:
		r.judgeWithin(last, h, v, line)
	default:
		r.judgeStart(last, h, tick, tick == before+1, v, line)
	}
}

func (r *Rules) judgeSequence(last, h head, v *format.Words, line uint64) {
	u := r.usage
	now, before := h.low&u.counter, last.low&u.counter
	if now != (before+1)&u.counter && h != last { // equal heads are a repeat
		r.step.FoundID(line, v, "%s %d after %d", u.field.Name, now, before)
	}
}

func (r *Rules) judgeWithin(last, h head, v *format.Words, line uint64) {
	u := r.usage
	by := h.low - last.low
	switch {
	case u.headerOf(h) != u.headerOf(last):
		r.foundHeader(last, h, v, line)
	case by == 0:
		r.foundRepeat(v, line)
	case by == 1 && r.guarded():
		r.judgeGuard(last, h, v, line)
	case by == 1 && h.low&u.counter != 0:
	case by == 1 && r.carry != nil:
		r.carries++
	case by == 1:
		r.foundCarry(v, line)
	default:
		r.step.FoundID(line, v, "%s goes up by %s", u.field.Name, words.Count(by))
	}
}

func (r *Rules) foundHeader(last, h head, v *format.Words, line uint64) {
	u := r.usage
	digits := (int(u.tickShift) - u.field.Bits + 3) / 4
	r.header.FoundID(line, v, "the header changes to %0*x, from %0*x", digits, u.headerOf(h),
		digits, u.headerOf(last))
}

func (r *Rules) foundRepeat(v *format.Words, line uint64) {
	r.repeat.FoundID(line, v, "only the random bits differ from the line before")
}

func (r *Rules) foundCarry(v *format.Words, line uint64) {
	r.overflow.FoundID(line, v, "the full counter has changed the node ID")
}

func (r *Rules) judgeStart(last, h head, tick uint64, next bool, v *format.Words, line uint64) {
	u := r.usage
	start, before := h.low&u.counter, last.low&u.counter
	r.changedBits |= last.low&u.within ^ r.tickStart
	r.tickStart = h.low & u.within
	if next && r.renewal != nil && last.low&u.within == u.within && r.renewal.of(h) == 0 {
		r.overflows++ // full counters use the next tick
		r.starts.add(start, line)
		return
	}
	if next && before == u.counter && len(r.nodes) > 0 {
		r.overflows++
	}
	r.counterKept.Tries++
	if start-before <= 1 {
		r.counterKept.FoundID(line, v, "%s continues from the line before, with %d",
			u.field.Name, start)
	}
	if start > u.start {
		r.start.FoundID(line, v, "the counter starts at %d, which is more than %d", start, u.start)
	}
	r.starts.add(start&u.start, line)
	if r.taken != nil {
		r.taken.add(v)
	}
	if r.renewal != nil {
		r.renewal.judge(r, last, h, tick, v, line)
	}
}

// Back implements order.Sink.
func (r *Rules) Back(before, v *format.Words, line uint64) order.Step {
	if r.step == nil {
		return order.Unknown
	}
	u := r.usage
	if u == nil {
		u = r.common
	}
	h, last := u.headOf(v), u.headOf(before)
	mayWrap := last.low&u.counter == u.counter && h.low&u.counter == 0 &&
		h.low == last.low&^u.counter
	switch {
	case u.tickOf(h) != u.tickOf(last):
		return order.Unknown
	case u.headerOf(h) != u.headerOf(last):
		r.foundHeader(last, h, v, line)
		return order.Continue
	case h.low == last.low:
		if r.repeat != nil { // otherwise sequences reports it
			r.foundRepeat(v, line)
		}
		return order.Outlier
	case r.carry != nil && mayWrap:
		r.carry.FoundID(line, v,
			"%s starts again at 0, but the counter above it does not go up", u.field.Name)
		return order.Continue
	case r.overflow != nil && (mayWrap || r.guardWraps(last.low, h.low)):
		r.overflow.FoundID(line, v,
			"%s goes back to 0 in the same tick, so the ID is smaller than the one before",
			u.field.Name)
		return order.Continue
	}
	return order.Unknown
}
