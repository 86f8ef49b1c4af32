package rules

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/randomness"
)

// starts collects the counter's first value in each tick. It infers the number of random bits if
// that is unknown, and tests them. The bits above them must not change.
type starts struct {
	r       *Rules
	name    string
	size    int    // Of the counter, in bits.
	width   int    // Random bits, or -1 if unknown.
	top     uint64 // The bits above the random ones in the last start.
	topZero bool   // The bits in top must be zero.
	n       uint64

	judged  bool
	pending []start
	field   *randomness.Field
}

type start struct{ value, line uint64 }

const (
	// inferenceStarts is how many starts are enough to infer the width. With probability 10^-11, a
	// random bit changes so rarely that infer misses it.
	inferenceStarts = 64
	// fewStarts is how many equal starts rule out chance.
	fewStarts = 20
)

// newStarts returns starts with width random bits. A negative width means unknown.
func newStarts(r *Rules, name string, size, width int) *starts {
	s := &starts{r: r, name: name, size: size, width: -1}
	if width >= 0 {
		s.learned(width)
	}
	return s
}

func (s *starts) add(value, line uint64) {
	s.n++
	switch {
	case s.width == s.size: // no bits above
		s.field.Add(value)
		return
	case s.width >= 0:
		s.judge(value, line)
		return
	}
	s.pending = append(s.pending, start{value, line})
	if len(s.pending) == inferenceStarts {
		s.infer()
	}
}

// infer finds the highest bit that changes often. It and all below are random.
func (s *starts) infer() {
	if s.width >= 0 || len(s.pending) == 0 {
		return
	}
	width := 0
	for bit := range s.size {
		changes := 0
		for i := 1; i < len(s.pending); i++ {
			changes += int((s.pending[i].value ^ s.pending[i-1].value) >> bit & 1)
		}
		// With few starts, any changing bit may be random.
		if changes > 0 && (len(s.pending) < inferenceStarts || changes >= inferenceStarts/8) {
			width = bit + 1
		}
	}
	s.top = s.pending[0].value >> width
	s.learned(width)
	for _, l := range s.pending {
		s.judge(l.value, l.line)
	}
	s.pending = nil
}

func (s *starts) learned(width int) {
	s.width = width
	if width > 0 {
		s.field = s.r.Fields.Add(s.name, width)
	}
}

func (s *starts) judge(value, line uint64) {
	if top := value >> s.width; top != s.top {
		if s.judged || s.topZero {
			s.topChanged(value, line)
		}
		s.top = top
	}
	s.judged = true
	if s.field != nil {
		s.field.Add(value & (1<<s.width - 1))
	}
}

func (s *starts) topChanged(value, line uint64) {
	if !s.r.guarded() {
		s.r.start.Found(line, "", "the counter starts at %d, which has more than %s", value,
			words.Plural(uint64(s.width), "random bit"))
		return
	}
	high := s.size - s.width
	s.r.node.Found(line, "",
		"the high %d bits of node ID and counter change to %0*b, from %0*b",
		high, high, value>>s.width, high, s.top)
}

// Finish ends the checks and adds facts.
func (r *Rules) Finish() {
	if r.usage == nil {
		r.infer()
	}
	if r.usage.Title != "" && !r.Unordered {
		r.Fact("usage", "%s", r.usage.Title)
	}
	for _, n := range r.usage.nodes {
		if n.known {
			r.Fact(n.Name+" ID", "%d of %s", n.value, words.Plural(uint64(n.Bits), "bit"))
		}
	}
	if len(r.nodes) == 1 && !r.Unordered {
		r.Fact("node", "%d/%d", r.nodes[0].NodeID(), r.nodes[0].NodeIDSize())
	}
	if r.starts != nil && r.counterKept != nil {
		r.concludeStarts()
	}
	if r.taken != nil {
		r.taken.report(r)
	}
	if r.carries > 0 {
		r.Fact("carries", "%s to %s", words.Count(r.carries), r.renewal.Name)
	}
	if r.overflows > 0 {
		r.Fact("overflows", "%s to the next tick", words.Count(r.overflows))
	}
	r.hintNode()
}

func (r *Rules) concludeStarts() {
	s, fixed := r.starts, r.usage.field.Start == format.StartRandom
	s.infer()
	if s.width < 0 {
		r.counterKept.Tries = 0
		return
	}
	// A start with few random bits often repeats.
	r.counterKept.Probability = math.Min(1, math.Ldexp(2, -s.width))
	if r.guarded() {
		r.concludeGuard()
	}
	if s.n > 1 && !fixed {
		r.Fact("counter start", "%s", words.Plural(uint64(s.width), "random bit"))
	}
	// A counter of one bit is only a guard bit.
	counter := r.usage.field.Bits
	if r.guarded() {
		counter = bits.Len64(r.changedBits)
	}
	bad := r.CounterStart == 0 && counter >= 2
	if r.usage.field.Start == format.StartHalf { // it may start at zero
		bad = s.top != 0
	}
	if s.width == 0 && s.n >= fewStarts && bad {
		r.start.Count = s.n
		r.start.Detail = fmt.Sprintf(
			"the counter starts at the same number in all %s ticks; "+
				"if it must start at zero, use --counter-start 0", words.Count(s.n))
	}
}

func (r *Rules) concludeGuard() {
	s := r.starts
	if r.counterKept.Certain() {
		// If the counter continues in the next tick, the node ID seems to change.
		for _, t := range []*findings.Check{r.node, r.overflow} {
			t.Clear()
			t.Skip("see %s", r.counterKept.Name)
		}
	}
	if s.n < 2 {
		return
	}
	size := s.size - max(s.width, bits.Len64(r.changedBits))
	if r.guardCarries > 0 {
		r.Fact("node ID", "at most %d bits", size)
	} else {
		r.Fact("node ID", "%0*b, or the first of these bits", size, s.top)
	}
}

func (r *Rules) hintNode() {
	if r.Unordered || r.NodeBits > 0 || r.Format.Node == "" || r.Format.NodeCounter > 0 {
		return
	}
	for _, f := range r.usage.randoms {
		values := f.fields[0]
		same := 0
		for bit := values.Width() - 1; bit >= 0 && values.Toggled(bit) == 0; bit-- {
			same++
		}
		if same > 0 && values.Len() >= inferenceStarts {
			r.Fact("hint", "the high %s of %s never change; "+
				"if they are a node ID, give its size (--node-bits)",
				words.Plural(uint64(same), "bit"), f.name)
		}
	}
}
