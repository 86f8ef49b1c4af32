package verify

import (
	"sync"

	"github.com/sortid/sortid/verify/internal/chance"
	"github.com/sortid/sortid/verify/internal/exact"
)

// Sources finds node IDs and random values that several sources share, because their generators have
// the same configuration or seed, or because a process was forked. All calls of [Check] for these
// sources get the same Sources in their options. The report of each source compares it with the
// sources that ended before it.
//
// The zero value is ready. Goroutines may share a Sources.
type Sources struct {
	mu    sync.Mutex
	all   map[string][]chance.Other // of each format
	nodes map[string][]*exact.Node  // of each format
}

func (s *Sources) compare(c *checker, source string) {
	own, node := c.fields.Sketches(), c.rules.Node(source, c.clock)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all, s.nodes = map[string][]chance.Other{}, map[string][]*exact.Node{}
	}
	name := c.f.Name
	chance.Compare(&c.found, own, s.all[name])
	s.all[name] = append(s.all[name], chance.Other{Source: source, Sketches: own})
	exact.CompareNodes(&c.found, c.timed, node, s.nodes[name])
	if node != nil {
		s.nodes[name] = append(s.nodes[name], node)
	}
}
