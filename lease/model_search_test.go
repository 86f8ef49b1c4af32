package lease

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
)

// A search visits the states that a model can reach. The type S has only fields of one byte.
type search[S any] struct {
	start     func() *S
	next      func(s *S) // adds each state that can follow s
	violation func(s *S) string
	canonical func(s *S) // replaces s by an equivalent state; may be nil
	hash      func(seed maphash.Seed, s *S) uint64
	limit     int // how many states to visit; 0: all

	seed  maphash.Seed
	seen  map[uint64]struct{}
	nodes []node[S]
	from  int32
	which int32

	wrong string // what is wrong in the state nodes[at], or ""
	at    int32

	walking  *rand.Rand // not nil: choose one of the next states at random
	retrace  int32      // the number of the step to describe, or -1
	found    S
	label    string
	branches int
}

// A node is a state, with the step and the state that lead to it.
type node[S any] struct {
	state  *S
	parent int32
	which  int32
}

// The parameter id is the process whose step leads to s, or 0.
func (m *search[S]) add(s *S, id int8, what string, args ...any) {
	which := m.which
	m.which++
	if m.walking != nil {
		if m.branches++; m.walking.IntN(m.branches) == 0 {
			m.found, m.label = *s, label(id, what, args)
		}
		return
	}
	if m.retrace >= 0 {
		if which == m.retrace {
			m.label = label(id, what, args)
			m.simplify(s)
			m.found = *s
		}
		return
	}
	m.simplify(s)
	// The search compares hashes of 64 bits. For ten million states, the probability that two
	// hashes are the same is at most 1 in 300,000.
	k := m.hash(m.seed, s)
	if _, ok := m.seen[k]; ok {
		return
	}
	m.seen[k] = struct{}{}
	c := *s
	m.nodes = append(m.nodes, node[S]{&c, m.from, which})
	if m.wrong == "" {
		m.wrong = m.violation(s)
		m.at = int32(len(m.nodes) - 1)
	}
}

func label(id int8, what string, args []any) string {
	if id == 0 {
		return fmt.Sprintf(what, args...)
	}
	return fmt.Sprintf("%d: ", id) + fmt.Sprintf(what, args...)
}

func (m *search[S]) simplify(s *S) {
	if m.canonical != nil {
		m.canonical(s)
	}
}

// run visits the states by breadth. If a state is wrong, run also returns the shortest way there.
// If there are more states than the limit, it returns a negative number.
func (m *search[S]) run() (states int, trace []string) {
	m.seed, m.seen, m.nodes = maphash.MakeSeed(), map[uint64]struct{}{}, nil
	m.from, m.which, m.retrace, m.wrong = -1, 0, -1, ""
	m.add(m.start(), 0, "")
	for n := 0; n < len(m.nodes); n++ {
		if m.wrong != "" {
			return len(m.nodes), append(m.path(m.at), m.wrong)
		}
		s := m.nodes[n].state
		m.from, m.which = int32(n), 0
		m.next(s)
		m.nodes[n].state = nil
		if m.limit > 0 && len(m.nodes) > m.limit {
			return -len(m.nodes), nil
		}
	}
	return len(m.nodes), nil
}

func (m *search[S]) path(n int32) (trace []string) {
	var which []int32
	for ; n > 0; n = m.nodes[n].parent {
		which = append(which, m.nodes[n].which)
	}
	m.found = *m.start()
	m.simplify(&m.found)
	for _, w := range slices.Backward(which) {
		s := m.found
		m.which, m.retrace = 0, w
		m.next(&s)
		trace = append(trace, m.label)
	}
	m.retrace = -1
	return trace
}

// walk does random steps, and returns them if they lead to a wrong state.
func (m *search[S]) walk(seed uint64, steps int) (trace []string) {
	m.walking = rand.New(rand.NewPCG(seed, 2))
	defer func() { m.walking = nil }()
	s := *m.start()
	for range steps {
		m.branches = 0
		if m.next(&s); m.branches == 0 {
			return nil
		}
		s = m.found
		trace = append(trace, m.label)
		if wrong := m.violation(&s); wrong != "" {
			return append(trace, wrong)
		}
	}
	return nil
}
