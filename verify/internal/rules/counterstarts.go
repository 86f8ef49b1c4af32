package rules

import "github.com/sortid/sortid/verify/internal/randomness"

// counterStarts gathers the numbers that a counter starts with in each new tick. From the
// first ones it infers how many of the low bits are random; what is above them, such as
// a node ID, stays the same. Then the random bits are tested like any other field.
type counterStarts struct {
	c       *Context
	name    string // of the field
	size    int    // of the numbers, in bits
	width   int    // of the random part; not known: -1
	top     uint64 // the part above it, of the start before
	topZero bool   // whether the part above the random bits has to be zero
	n       uint64

	judged  bool
	pending []start
	field   *randomness.Field
	// changed is told of a start whose top part is new, and of that of the start
	// before.
	topChanged func(line, start, top uint64)
}

type start struct{ value, line uint64 }

// inferenceStarts is the number of starts from which their width is inferred. The odds
// against a random bit that hardly ever changes among so many are 10^11 to 1.
const inferenceStarts = 64

// newCounterStarts makes the field of the given width, or infers that if it is negative.
func newCounterStarts(c *Context, name string, size, width int, topChanged func(line, start, top uint64)) *counterStarts {
	s := &counterStarts{c: c, name: name, size: size, width: -1, topChanged: topChanged}
	if width >= 0 {
		s.learned(width)
	}
	return s
}

func (s *counterStarts) add(value, line uint64) {
	if s.n++; s.width >= 0 {
		s.judge(value, line)
		return
	}
	s.pending = append(s.pending, start{value, line})
	if len(s.pending) == inferenceStarts {
		s.infer()
	}
}

// infer takes for random the bits up to the highest one that changes often.
func (s *counterStarts) infer() {
	if s.width >= 0 || len(s.pending) == 0 {
		return
	}
	width := 0
	for bit := range s.size {
		changes := 0
		for i := 1; i < len(s.pending); i++ {
			changes += int((s.pending[i].value ^ s.pending[i-1].value) >> bit & 1)
		}
		// Of few starts all that changes may be random.
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

func (s *counterStarts) learned(width int) {
	s.width = width
	if width > 0 {
		s.field = s.c.Fields.Add(s.name, width)
	}
}

func (s *counterStarts) judge(value, line uint64) {
	if top := value >> s.width; top != s.top {
		if s.judged || s.topZero {
			s.topChanged(line, value, s.top)
		}
		s.top = top
	}
	s.judged = true
	if s.field != nil {
		s.field.Add(value & (1<<s.width - 1))
	}
}
