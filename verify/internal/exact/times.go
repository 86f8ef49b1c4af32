package exact

import (
	"math"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A Times checks a source whose IDs have no order within a tick. The time must not go back, and no
// ID may repeat in a tick.
type Times struct {
	f             *sample.Format
	duplicate     *findings.Chance
	rollback      *findings.Check
	tick, largest uint64
	known         bool
	seen          map[integer.Words]uint64 // the tick's IDs, with their lines
	onlyTime      bool                     // IDs of a tick are equal
}

const maxSeen = 1 << 16

// NewTimes adds its checks to the list. The list already has the check in rollback.
func NewTimes(f *sample.Format, found *findings.List, rollback *findings.Check) *Times {
	t := &Times{f: f, seen: map[integer.Words]uint64{}, rollback: rollback}
	free, other := 0, 0 // bits after the time: chosen by chance or in an unknown way, and others
	for _, field := range f.Layout {
		switch field.Kind {
		case format.KindRandom, format.KindData:
			free += field.Bits
		case format.KindCounter, format.KindNode:
			other += field.Bits
		}
	}
	const title = "no ID occurs twice in a tick"
	if t.duplicate = found.Chance("order.duplicate", title, "IDs occur twice in a tick", 0); free > 0 {
		t.duplicate.Probability = math.Ldexp(1, -free)
	}
	t.onlyTime = free+other == 0
	return t
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
		if t.onlyTime {
			continue
		}
		t.duplicate.Tries += uint64(len(t.seen))
		if first, again := t.seen[v]; !again {
			if len(t.seen) < maxSeen {
				t.seen[v] = at
			}
		} else {
			t.duplicate.FoundID(at, &list[i], "the same as in line %d", first)
		}
	}
}
