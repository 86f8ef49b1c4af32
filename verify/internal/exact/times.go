package exact

import (
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A Times checks a source whose IDs have no order within a tick. The time must not go back, and no
// ID may repeat in a tick.
type Times struct {
	f                   *sample.Format
	duplicate, rollback *findings.Check
	tick, largest       uint64
	known               bool
	seen                map[integer.Words]uint64 // the tick's IDs, with their lines
}

const maxSeen = 1 << 16

// NewTimes adds its checks to the list. The list already has the check in rollback.
func NewTimes(f *sample.Format, found *findings.List, rollback *findings.Check) *Times {
	return &Times{f: f, seen: map[integer.Words]uint64{}, rollback: rollback,
		duplicate: found.Check("order.duplicate", "no ID occurs twice in a tick")}
}

func (t *Times) Feed(list []integer.Words, line uint64) {
	for i := range list {
		v, at := list[i], line+uint64(i)
		tick := t.f.Timestamp(&v)
		if tick != t.tick || !t.known {
			if t.known && tick < t.tick {
				by := t.tick - tick
				foundRollback(t.rollback, &t.largest, t.f, by)
				t.rollback.FoundID(at, &list[i], "the timestamp goes back by %s",
					words.Span(t.f.Tick, by))
			}
			t.tick, t.known = tick, true
			clear(t.seen)
		}
		if first, again := t.seen[v]; !again {
			if len(t.seen) < maxSeen {
				t.seen[v] = at
			}
		} else {
			t.duplicate.FoundID(at, &list[i], "the same as in line %d", first)
		}
	}
}
