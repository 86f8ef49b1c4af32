package verify

// A starts gathers the numbers that a counter starts with in each new tick. From the
// first ones it infers how many of the low bits are random; what is above them, such as
// a node ID, stays the same. Then the random bits are tested like any other field.
type starts struct {
	c     *checker
	name  string // of the field
	size  int    // of the numbers, in bits
	width int    // of the random part; not known: -1
	top   uint64 // the part above it, of the start before
	clear bool   // whether the part above the random bits has to be zero
	n     uint64

	judged   bool
	learning []start
	field    *field
	// changed is told of a start whose top part is new, and of that of the start
	// before.
	changed func(line, start, top uint64)
}

type start struct{ value, line uint64 }

// enough is from how many starts their width is inferred. The odds against a random bit
// that hardly ever changes among so many are 10^11 to 1.
const enough = 64

// newStarts makes the field of the given width, or infers that if it is negative.
func newStarts(c *checker, name string, size, width int, changed func(line, start, top uint64)) *starts {
	s := &starts{c: c, name: name, size: size, width: -1, changed: changed}
	if width >= 0 {
		s.learned(width)
	}
	return s
}

func (s *starts) add(value, line uint64) {
	if s.n++; s.width >= 0 {
		s.judge(value, line)
		return
	}
	s.learning = append(s.learning, start{value, line})
	if len(s.learning) == enough {
		s.infer()
	}
}

// infer takes for random the bits up to the highest one that changes often.
func (s *starts) infer() {
	if s.width >= 0 || len(s.learning) == 0 {
		return
	}
	width := 0
	for bit := range s.size {
		changes := 0
		for i := 1; i < len(s.learning); i++ {
			changes += int((s.learning[i].value ^ s.learning[i-1].value) >> bit & 1)
		}
		// Of few starts all that changes may be random.
		if changes > 0 && (len(s.learning) < enough || changes >= enough/8) {
			width = bit + 1
		}
	}
	s.top = s.learning[0].value >> width
	s.learned(width)
	for _, l := range s.learning {
		s.judge(l.value, l.line)
	}
	s.learning = nil
}

func (s *starts) learned(width int) {
	s.width = width
	if width > 0 {
		s.field = s.c.field(s.name, width)
	}
}

func (s *starts) judge(value, line uint64) {
	if top := value >> s.width; top != s.top {
		if s.judged || s.clear {
			s.changed(line, value, s.top)
		}
		s.top = top
	}
	s.judged = true
	if s.field != nil {
		s.field.add(value & (1<<s.width - 1))
	}
}
