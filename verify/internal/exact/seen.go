package exact

import (
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/usage"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// A Seen looks for IDs that occur twice, in a format without a time. It remembers the latest
// maxRemembered IDs or more.
type Seen struct {
	check      *findings.Check
	old, fresh map[integer.Words]uint64 // the IDs, with their lines
}

const maxRemembered = 1 << 17

func NewSeen(f *sample.Format, found *findings.List) *Seen {
	s := &Seen{fresh: map[integer.Words]uint64{}, check: found.Check("order.duplicate",
		"no ID occurs twice", "IDs occur twice")}
	if usage.Repeating(f.Format) {
		s.check.Severity = report.Warn
	}
	return s
}

func (s *Seen) Feed(list []integer.Words, line uint64) {
	for i, v := range list {
		at := line + uint64(i)
		first, again := s.fresh[v]
		if !again {
			first, again = s.old[v]
		}
		if again {
			s.check.FoundID(at, &list[i], "the same as in line %d", first)
			continue
		}
		if len(s.fresh) == maxRemembered {
			s.old, s.fresh = s.fresh, s.old
			if clear(s.fresh); s.fresh == nil {
				s.fresh = map[integer.Words]uint64{}
			}
		}
		s.fresh[v] = at
	}
}
