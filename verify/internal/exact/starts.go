package exact

import "github.com/sortid/sortid/verify/internal/chance"

// A start is a counter's first value in a tick. A startChecker tests the random bits of starts. If
// their number is unknown, it infers the number. The bits above the random bits must not change.
type startChecker struct {
	counter *counter
	size    int    // Of the counter, in bits.
	width   int    // Number of random bits, or -1 if unknown.
	top     uint64 // The bits above the random bits, in the newest start.
	topZero bool   // Top must be 0.
	n       uint64 // Number of starts.

	judged  bool
	pending []start
	field   *chance.Field
}

type start struct{ value, line uint64 }

const (
	// inferenceStarts is how many starts are enough to infer the number of random bits. The
	// probability that the method infer misses a random bit is below 10^-10.
	inferenceStarts = 64
	// By chance, fewStarts starts are never all the same.
	fewStarts = 20
)

// newStartChecker checks starts with width random bits. A negative width means an unknown number.
func newStartChecker(c *counter, width int) *startChecker {
	s := &startChecker{counter: c, size: c.field.Bits, width: -1, topZero: width >= 0 && !c.withNode}
	if width >= 0 {
		s.learned(width)
	}
	return s
}

func (s *startChecker) add(value, line uint64) {
	s.n++
	switch {
	case s.width == s.size: // all bits are random
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

// infer finds the highest bit that changes often. This bit and all bits below it are random.
func (s *startChecker) infer() {
	if s.width >= 0 || len(s.pending) == 0 {
		return
	}
	width := 0
	for bit := range s.size {
		changes := 0
		for i := 1; i < len(s.pending); i++ {
			changes += int((s.pending[i].value ^ s.pending[i-1].value) >> bit & 1)
		}
		// With few starts, each bit that changes counts as random.
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

func (s *startChecker) learned(width int) {
	s.width = width
	if width > 0 {
		s.field = s.counter.Fields.Add(s.counter.field.Name, width)
	}
}

func (s *startChecker) judge(value, line uint64) {
	if top := value >> s.width; top != s.top {
		if s.judged || s.topZero {
			s.counter.topChanged(value, line)
		}
		s.top = top
	}
	s.judged = true
	if s.field != nil {
		s.field.Add(value & (1<<s.width - 1))
	}
}
