package exact

import (
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A Times checks a source whose IDs have no order within a tick: the time must not go back.
type Times struct {
	f             *sample.Format
	rollback      *findings.Check
	tick, largest uint64
	known         bool
}

func NewTimes(f *sample.Format, rollback *findings.Check) *Times {
	return &Times{f: f, rollback: rollback}
}

func (t *Times) Feed(list []integer.Words, line uint64) {
	for i := range list {
		tick := t.f.Timestamp(&list[i])
		if t.known && tick < t.tick {
			by := t.tick - tick
			foundRollback(t.rollback, &t.largest, t.f, by)
			t.rollback.FoundID(line+uint64(i), &list[i], "the timestamp goes back by %s",
				words.Span(t.f.Tick, by))
		}
		t.tick, t.known = tick, true
	}
}
