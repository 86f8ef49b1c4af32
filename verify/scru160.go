package verify

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/verify/internal/words"
)

var formatSCRU160 = format{
	name:     "scru160",
	lengths:  []int{scru160.TextLen, scru160.HexLen},
	shift:    16,
	unit:     time.Millisecond,
	epoch:    time.UnixMilli(0).UTC(),
	last:     scru160.MaxTimestamp,
	reserved: true,
	read:     readSCRU160,
	text:     textSCRU160,
	reasons:  []reason{{scru160.ErrLength, "length"}, {scru160.ErrSymbol, "symbol"}},
	sorts:    true,
	fields:   []string{"random80", "random16", "counter"},
}

func init() { formatSCRU160.newRules = newSCRU160Rules }

func readSCRU160(text []byte) (v id, canonical bool, err error) {
	var s scru160.ID
	if err := s.UnmarshalText(text); err != nil {
		return id{}, false, err
	}
	v = id{binary.BigEndian.Uint64(s[:8]), binary.BigEndian.Uint64(s[8:16]), binary.BigEndian.Uint32(s[16:])}
	capitals, small := cases(text)
	if len(text) == scru160.HexLen {
		return v, !capitals, nil
	}
	return v, !small, nil
}

func textSCRU160(v id, length int) string {
	var s scru160.ID
	binary.BigEndian.PutUint64(s[:8], v.hi)
	binary.BigEndian.PutUint64(s[8:16], v.lo)
	binary.BigEndian.PutUint32(s[16:], v.tail)
	if length == scru160.HexLen {
		return s.Hex()
	}
	return s.String()
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
func (u usage) tick(v id) uint64 {
	if u.micros {
		return v.hi >> microBits
	}
	return v.hi >> 16
}

// counter returns the counter with its extension.
func (u usage) counter(v id) uint64 {
	if u.micros {
		return v.hi & (1<<microBits - 1)
	}
	return (v.hi&0xffff<<16 | v.lo>>48) >> (16 - u.ext)
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
func (u usage) node(v id, bits int) uint64 {
	return v.lo >> 48 >> (16 - u.ext - bits) & (1<<bits - 1)
}

// faults counts what is wrong in IDs, if this is the usage and there is a node ID of so
// many bits.
func (u usage) faults(ids []item, node int) (n int) {
	for i, l := range ids {
		if l.line == 0 || i == 0 || ids[i-1].line == 0 {
			continue
		}
		last := ids[i-1].id
		counter := u.counter(l.id)
		if u.tick(l.id) == u.tick(last) && counter != u.counter(last)+1 ||
			u.tick(l.id) != u.tick(last) && counter>>u.startSize() != 0 ||
			u.micros && l.id.hi>>microBits&0x3ff > maxMicros ||
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
	c          *checker
	high, low  *field // the halves of random80
	raw80      *bitWriter
	random16   *field // what neither counter nor node ID takes of it
	randomBits int
	usage      usage
	decided    bool
	learning   []item   // line 0: the step to the next one is not to be judged
	undecided  []uint64 // random16 of all IDs so far

	step, repeat, overflow *tally
	micros, start, node    *tally
	kept                   *chance
	starts                 *starts
	known                  bool
	before                 id
	nodeKnown              bool
	nodeID                 uint64
}

const (
	// learn is from how many IDs the usage of the counter is inferred.
	learn = 4096

	half80 = 40
)

func newSCRU160Rules(c *checker) rules {
	r := &scru160Rules{c: c, high: c.field("random80.high", half80), low: c.field("random80.low", half80)}
	if c.o.Raw == "random80" {
		r.raw80 = c.raw
	}
	if c.o.Unordered {
		r.decide()
		return r
	}
	r.step = c.tally("rules.step", "the counter goes up by one within a tick", Fail)
	r.repeat = c.tally("rules.repeat", "no two IDs have the same timestamp and counter", Fail)
	r.overflow = c.tally("rules.overflow", "a full counter waits for the next tick", Fail)
	r.micros = c.tally("rules.micros", "the microseconds are at most 999", Fail)
	r.start = c.tally("rules.start", "the counter starts at random with its top bit clear, or at zero", Fail)
	r.kept = c.chance("rules.counter", "the counter is renewed in each tick", 1)
	if c.o.NodeBits > 0 {
		r.node = c.tally("rules.node", "the node ID stays the same", Fail)
	}
	return r
}

func (r *scru160Rules) each(ids []id, line uint64) {
	for i := range ids {
		v := &ids[i]
		high, low := v.lo>>8&(1<<half80-1), v.lo&0xff<<32|uint64(v.tail)
		r.high.add(high)
		r.low.add(low)
		if r.raw80 != nil {
			r.raw80.add(high, half80)
			r.raw80.add(low, half80)
		}
		r.add16(v.lo >> 48)
	}
}

// add16 notes the random part of random16, once it is known which one that is.
func (r *scru160Rules) add16(v uint64) {
	if !r.decided {
		r.undecided = append(r.undecided, v)
	} else if r.random16 != nil {
		r.random16.add(v & (1<<r.randomBits - 1))
	}
}

func (r *scru160Rules) run(ids []id, line uint64) {
	if !r.decided {
		// As many as it takes, however many come together.
		n := min(len(ids), max(learn-len(r.learning), 0))
		for i, v := range ids[:n] {
			r.learning = append(r.learning, item{v, line + uint64(i)})
		}
		if len(r.learning) < learn {
			return
		}
		r.decide()
		ids, line = ids[n:], line+uint64(n)
	}
	for i := range ids {
		r.judge(ids[i], line+uint64(i))
	}
}

// decide takes the usage that was stated, or the one with the fewest faults among the
// IDs that were kept; the common one, if that says nothing. Then it judges what was kept.
func (r *scru160Rules) decide() {
	o := r.c.o
	r.usage = usage{micros: o.Usage == UsageMicroseconds, ext: max(o.Extension, 0)}
	if !o.Unordered {
		fewest := math.MaxInt
		try := func(u usage) {
			if n := u.faults(r.learning, o.NodeBits); n < fewest {
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
		r.starts = newStarts(r.c, "counter", r.usage.size(), width, r.startChanged)
		r.starts.clear = width >= 0
	}
	if r.randomBits = 16 - r.usage.ext - o.NodeBits; r.randomBits > 0 {
		r.random16 = r.c.field("random16", r.randomBits)
	}
	r.decided = true
	for _, l := range r.learning {
		if l.line == 0 {
			r.known = false
			continue
		}
		r.judge(l.id, l.line)
	}
	for _, v := range r.undecided {
		r.add16(v)
	}
	r.learning, r.undecided = nil, nil
}

// startChanged is told of a start that has other bits than the random ones.
func (r *scru160Rules) startChanged(line, value, top uint64) {
	if r.start.hit() {
		r.start.example(line, "", "the counter starts at %d, with more than %s", value, words.Plural(uint64(r.starts.width), "random bit"))
	}
}

func (r *scru160Rules) judge(v id, line uint64) {
	last, known, u := r.before, r.known, r.usage
	r.before, r.known = v, true
	if r.node != nil {
		node := u.node(v, r.c.o.NodeBits)
		if r.nodeKnown && node != r.nodeID && r.node.hit() {
			r.node.example(line, r.c.show(v), "the node ID is %d, before it was %d", node, r.nodeID)
		}
		r.nodeID, r.nodeKnown = node, true
	}
	if u.micros && v.hi>>microBits&0x3ff > maxMicros && r.micros.hit() {
		r.micros.example(line, r.c.show(v), "the microseconds are %d", v.hi>>microBits&0x3ff)
	}
	if !known {
		return
	}
	counter, before := u.counter(v), u.counter(last)
	switch {
	case u.tick(v) != u.tick(last):
		r.kept.tries++
		if counter-before <= 1 && r.kept.hit() {
			r.kept.example(line, r.c.show(v), "the counter goes on from the line before, at %d", counter)
		}
		if counter>>u.startSize() != 0 && r.start.hit() {
			r.start.example(line, r.c.show(v), "the counter starts at %d, of more than %s", counter, words.Plural(uint64(u.startSize()), "bit"))
		}
		r.starts.add(counter&(1<<u.startSize()-1), line)
	case counter == before+1:
	case counter == before:
		r.again(v, line)
	case r.step.hit():
		r.step.example(line, r.c.show(v), "the counter goes up by %s", words.Count(counter-before))
	}
}

func (r *scru160Rules) again(v id, line uint64) {
	if r.repeat.hit() {
		r.repeat.example(line, r.c.show(v), "the same as in the line before, but for the random bits")
	}
}

func (r *scru160Rules) back(before, v id, line uint64) backwards {
	u := r.usage // the common one, while it is not known
	if r.c.o.Unordered || u.tick(before) != u.tick(v) {
		return unknown
	}
	switch counter := u.counter(v); {
	case counter == u.counter(before) && (r.decided || len(r.learning) == 0 || v.hi == before.hi):
		r.again(v, line)
		return alone
	case counter == 0 && u.counter(before) == 1<<u.size()-1:
		if r.overflow.hit() {
			r.overflow.example(line, r.c.show(v), "the counter starts again at 0 in the same tick")
		}
		return onwards
	}
	return unknown
}

func (r *scru160Rules) resume() {
	r.known = false
	if !r.decided {
		r.learning = append(r.learning, item{})
	}
}

func (r *scru160Rules) restart() { r.resume() }

func (r *scru160Rules) finish() {
	if !r.decided {
		r.decide()
	}
	if r.starts == nil {
		return
	}
	s := r.starts
	s.infer()
	r.c.fact("usage", "%v", r.usage)
	if r.nodeKnown {
		r.c.fact("node ID", "%d of %s", r.nodeID, words.Plural(uint64(r.c.o.NodeBits), "bit"))
	}
	if s.width < 0 {
		r.kept.tries = 0
		return
	}
	if s.n > 1 {
		r.c.fact("counter start", "%s", words.Plural(uint64(s.width), "random bit"))
	}
	// From zero, a counter may well start where it was.
	r.kept.probability = math.Min(1, math.Ldexp(2, -s.width))
	if s.width == 0 && s.top != 0 && s.n >= 20 {
		r.start.Count = s.n
		r.start.Detail = "in all ticks the counter starts at " + words.Count(s.top)
	}
}
