package exact

import (
	"time"

	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// A timeline counts the IDs in each interval. It makes intervals wider if there are too many.
type timeline struct {
	width  uint64
	first  uint64
	counts []uint64
}

const maxIntervals = 240

func (t *timeline) add(timestamp, n uint64) {
	if t.counts == nil {
		t.width, t.first, t.counts = 1, timestamp, make([]uint64, 1, maxIntervals)
	}
	for {
		at := timestamp / t.width
		first, last := min(at, t.first), max(at, t.first+uint64(len(t.counts))-1)
		if last-first < maxIntervals {
			t.extend(first, last)
			t.counts[at-first] += n
			return
		}
		t.fold()
	}
}

func (t *timeline) extend(first, last uint64) {
	if gap := t.first - first; gap > 0 {
		t.counts = append(make([]uint64, gap, maxIntervals), t.counts...)
		t.first = first
	}
	for uint64(len(t.counts)) <= last-first {
		t.counts = append(t.counts, 0)
	}
}

func (t *timeline) fold() {
	folded := make([]uint64, 0, maxIntervals)
	for i, n := range t.counts {
		if i == 0 || (t.first+uint64(i))%2 == 0 {
			folded = append(folded, 0)
		}
		folded[len(folded)-1] += n
	}
	t.width, t.first, t.counts = t.width*2, t.first/2, folded
}

func (t *timeline) result(f *sample.Format) report.Timeline {
	return report.Timeline{
		Start: f.TimeOf(t.first * t.width),
		Step:  time.Duration(min(t.width, 1<<62/uint64(f.Tick))) * f.Tick,
		Count: t.counts,
	}
}
