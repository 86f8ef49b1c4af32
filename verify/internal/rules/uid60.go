package rules

import (
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/order"
	"github.com/sortid/sortid/verify/internal/randomness"
	"github.com/sortid/sortid/verify/internal/words"
	"github.com/sortid/sortid/verify/report"
)

// uid60Rules check the sequence: up by one with each ID, from one millisecond to the next,
// too, and never the same twice in a millisecond. The document lets it go on from 511 to 0
// within a millisecond; then IDs are no longer in order, which is worth a warning.
type uid60Rules struct {
	c      *Context
	random *randomness.Field // nil if the worker ID leaves no room
	free   int               // bits of random beside the worker ID

	step, repeat, wrap, worker *findings.Check
	known                      bool
	before                     uint64
	workerKnown                bool
	workerID                   uint64
	used                       [recentMillis]usedSequences
}

// usedSequences are the sequences of a millisecond that IDs have had so far.
type usedSequences struct {
	timestamp uint64
	bits      [1 << sequenceBits / 64]uint64
}

// recentMillis is the number of milliseconds whose sequences are kept, so that a repeat is
// found where IDs of several milliseconds are mixed.
const recentMillis = 16

// add adds the sequence of an ID and reports whether it is new in its millisecond.
func (r *uid60Rules) add(v ids.ID) (fresh bool) {
	timestamp, sequence := v.Hi>>(2*sequenceBits), v.Hi>>sequenceBits&sequenceMask
	u := &r.used[timestamp%recentMillis]
	if u.timestamp != timestamp {
		*u = usedSequences{timestamp: timestamp}
	}
	word, bit := &u.bits[sequence/64], uint64(1)<<(sequence%64)
	fresh = *word&bit == 0
	*word |= bit
	return fresh
}

const (
	sequenceBits = 9
	sequenceMask = 1<<sequenceBits - 1
)

func newUID60(c *Context) Rules {
	r := &uid60Rules{c: c, free: sequenceBits - c.NodeBits}
	if r.free > 0 {
		r.random = c.Fields.Add("random", r.free)
	}
	if c.Unordered {
		return r
	}
	r.step = c.Check("rules.step", "the sequence goes up by one, and from 511 to 0", report.Fail)
	r.repeat = c.Check("rules.sequence", "no sequence comes twice in a millisecond", report.Fail)
	r.wrap = c.Check("rules.overflow", "within a millisecond the sequence does not go on from 511 to 0, out of order", report.Warn)
	if c.NodeBits > 0 {
		r.worker = c.Check("rules.worker", "the worker ID stays the same", report.Fail)
	}
	return r
}

func (r *uid60Rules) Each(list []ids.ID, line uint64) {
	if r.random != nil {
		for i := range list {
			r.random.Add(list[i].Hi & (1<<r.free - 1))
		}
	}
	if r.repeat != nil {
		for i := range list {
			if !r.add(list[i]) && r.repeat.Hit() {
				r.repeat.Example(line+uint64(i), r.c.Show(list[i]), "sequence %d again in the same millisecond", list[i].Hi>>sequenceBits&sequenceMask)
			}
		}
	}
	if r.worker == nil {
		return
	}
	for i := range list {
		worker := list[i].Hi & sequenceMask >> r.free
		if r.workerKnown && worker != r.workerID && r.worker.Hit() {
			r.worker.Example(line+uint64(i), r.c.Show(list[i]), "the worker ID is %d, before it was %d", worker, r.workerID)
		}
		r.workerID, r.workerKnown = worker, true
	}
}

func (r *uid60Rules) Run(list []ids.ID, line uint64) {
	for i := range list {
		v, last, known := list[i].Hi>>sequenceBits, r.before>>sequenceBits, r.known
		r.before, r.known = list[i].Hi, true
		switch expected := (last + 1) & sequenceMask; {
		case !known || v&sequenceMask == expected:
		case v == last: // a repeat
		case r.step.Hit():
			r.step.Example(line+uint64(i), r.c.Show(list[i]), "sequence %d after %d", v&sequenceMask, last&sequenceMask)
		}
	}
}

func (r *uid60Rules) Back(before, v ids.ID, line uint64) order.Step {
	last, now := before.Hi>>sequenceBits, v.Hi>>sequenceBits
	switch {
	case r.c.Unordered:
	case last == now: // a repeat
		return order.Outlier
	case last-now == sequenceMask && now&sequenceMask == 0:
		if r.wrap.Hit() {
			r.wrap.Example(line, r.c.Show(v), "the sequence goes on from 511 to 0 in the same millisecond, so the ID is smaller than the one before")
		}
		return order.Continue
	}
	return order.Unknown
}

func (r *uid60Rules) Gap()     { r.known = false }
func (r *uid60Rules) Restart() { r.known = false }

func (r *uid60Rules) Finish() {
	if r.worker != nil && r.workerKnown {
		r.c.Fact("worker ID", "%d of %s", r.workerID, words.Plural(uint64(r.c.NodeBits), "bit"))
	}
	if r.random == nil || r.c.NodeBits > 0 {
		return
	}
	// The high bits of random never change: hint at the option.
	same := 0
	for bit := sequenceBits - 1; bit >= 0 && r.random.Toggled(bit) == 0; bit-- {
		same++
	}
	if same > 0 && r.random.Len() >= inferenceStarts {
		r.c.Fact("hint", "the high %s of random never change; if they are a worker ID, say so", words.Plural(uint64(same), "bit"))
	}
}
