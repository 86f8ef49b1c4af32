package verify

import (
	"time"

	"github.com/sortid/sortid/uid60"
	"github.com/sortid/sortid/verify/internal/words"
)

var formatUID60 = format{
	name:    "uid60",
	lengths: []int{10, 9, 8, 7, 6, 5, 4},
	shift:   18,
	unit:    time.Millisecond,
	epoch:   uid60.ID(0).Time(),
	last:    uid60.MaxTimestamp,
	read:    readUID60,
	text:    func(v id, _ int) string { return uid60.ID(v.hi).String() },
	reasons: []reason{{uid60.ErrLength, "length"}, {uid60.ErrSymbol, "symbol"}},
	fields:  []string{"random"},
}

func init() { formatUID60.newRules = newUID60Rules }

func readUID60(text []byte) (v id, canonical bool, err error) {
	var n uid60.ID
	if err := n.UnmarshalText(text); err != nil {
		return id{}, false, err
	}
	var written [uid60.MaxTextLen]byte
	b, _ := n.AppendText(written[:0])
	return id{hi: uint64(n)}, string(b) == string(text), nil
}

// uid60Rules check the sequence: up by one with each ID, from one millisecond to the
// next, too, and from 511 back to 0 between milliseconds only.
type uid60Rules struct {
	c      *checker
	random *field // nil if the worker ID leaves no room
	free   int    // bits of random beside the worker ID

	step, repeat, wrap, worker *tally
	known                      bool
	before                     uint64
	workerKnown                bool
	workerID                   uint64
}

const (
	sequenceBits = 9
	sequenceMask = 1<<sequenceBits - 1
)

func newUID60Rules(c *checker) rules {
	r := &uid60Rules{c: c, free: sequenceBits - c.o.NodeBits}
	if r.free > 0 {
		r.random = c.field("random", r.free)
	}
	if c.o.Unordered {
		return r
	}
	r.step = c.tally("rules.step", "the sequence goes up by one, and from 511 to 0", Fail)
	r.repeat = c.tally("rules.sequence", "no sequence comes twice in a millisecond", Fail)
	r.wrap = c.tally("rules.overflow", "from 511 to 0 the sequence goes between milliseconds only", Fail)
	if c.o.NodeBits > 0 {
		r.worker = c.tally("rules.worker", "the worker ID stays the same", Fail)
	}
	return r
}

func (r *uid60Rules) each(ids []id, line uint64) {
	if r.random != nil {
		for i := range ids {
			r.random.add(ids[i].hi & (1<<r.free - 1))
		}
	}
	if r.worker == nil {
		return
	}
	for i := range ids {
		worker := ids[i].hi & sequenceMask >> r.free
		if r.workerKnown && worker != r.workerID && r.worker.hit() {
			r.worker.example(line+uint64(i), r.c.show(ids[i]), "the worker ID is %d, before it was %d", worker, r.workerID)
		}
		r.workerID, r.workerKnown = worker, true
	}
}

func (r *uid60Rules) run(ids []id, line uint64) {
	for i := range ids {
		v, last, known := ids[i].hi>>sequenceBits, r.before>>sequenceBits, r.known
		r.before, r.known = ids[i].hi, true
		switch expected := (last + 1) & sequenceMask; {
		case !known || v&sequenceMask == expected:
		case v == last:
			if r.repeat.hit() {
				r.repeat.example(line+uint64(i), r.c.show(ids[i]), "sequence %d again in the same millisecond", v&sequenceMask)
			}
		case r.step.hit():
			r.step.example(line+uint64(i), r.c.show(ids[i]), "sequence %d after %d", v&sequenceMask, last&sequenceMask)
		}
	}
}

func (r *uid60Rules) back(before, v id, line uint64) backwards {
	last, now := before.hi>>sequenceBits, v.hi>>sequenceBits
	switch {
	case r.c.o.Unordered:
	case last == now:
		if r.repeat.hit() {
			r.repeat.example(line, r.c.show(v), "sequence %d again in the same millisecond", now&sequenceMask)
		}
		return alone
	case last-now == sequenceMask && now&sequenceMask == 0:
		if r.wrap.hit() {
			r.wrap.example(line, r.c.show(v), "the sequence starts again at 0 in the same millisecond")
		}
		return onwards
	}
	return unknown
}

func (r *uid60Rules) resume()  { r.known = false }
func (r *uid60Rules) restart() { r.known = false }

func (r *uid60Rules) finish() {
	if r.worker != nil && r.workerKnown {
		r.c.fact("worker ID", "%d of %s", r.workerID, words.Plural(uint64(r.c.o.NodeBits), "bit"))
	}
	if r.random == nil || r.c.o.NodeBits > 0 {
		return
	}
	// The high bits of random never change: hint at the option.
	r.random.count()
	same := 0
	for bit := sequenceBits - 1; bit >= 0 && r.random.toggled(bit) == 0; bit-- {
		same++
	}
	if same > 0 && r.random.n >= enough {
		r.c.fact("hint", "the high %s of random never change; if they are a worker ID, say so", words.Plural(uint64(same), "bit"))
	}
}
