package verify

import (
	"sync"

	"github.com/sortid/sortid/verify/internal/chance"
	"github.com/sortid/sortid/verify/internal/findings"
)

// Sources finds random values that several sources share, because their generators have the same
// seed, or because a process was forked. All calls of [Check] for these sources get the same Sources
// in their options. The report of each source compares it with the sources that ended before it.
//
// The zero value is ready. Goroutines may share a Sources.
type Sources struct {
	mu  sync.Mutex
	all map[string][]chance.Other // of each format
}

func (s *Sources) compare(found *findings.List, formatName, source string, fields *chance.Set) {
	own := fields.Sketches()
	s.mu.Lock()
	defer s.mu.Unlock()
	chance.Compare(found, own, s.all[formatName])
	if s.all == nil {
		s.all = map[string][]chance.Other{}
	}
	s.all[formatName] = append(s.all[formatName], chance.Other{Source: source, Sketches: own})
}
