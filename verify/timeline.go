package verify

import "time"

// A timeline counts the IDs of each stretch of time, in as many stretches as fit a
// picture. When the time is longer than that it makes the stretches longer.
type timeline struct {
	width  uint64 // timestamps in a stretch
	first  uint64 // number of the first stretch, counted from timestamp 0
	counts []uint64
}

const maxStretches = 240

func (t *timeline) add(timestamp, n uint64) {
	if t.counts == nil {
		t.width, t.first, t.counts = 1, timestamp, make([]uint64, 1, maxStretches)
	}
	for {
		at := timestamp / t.width
		first, last := min(at, t.first), max(at, t.first+uint64(len(t.counts))-1)
		if last-first < maxStretches {
			t.extend(first, last)
			t.counts[at-first] += n
			return
		}
		t.fold()
	}
}

// extend makes the stretches those from first to last.
func (t *timeline) extend(first, last uint64) {
	if gap := t.first - first; gap > 0 {
		t.counts = append(make([]uint64, gap, maxStretches), t.counts...)
		t.first = first
	}
	for uint64(len(t.counts)) <= last-first {
		t.counts = append(t.counts, 0)
	}
}

// fold makes one stretch of two.
func (t *timeline) fold() {
	folded := make([]uint64, 0, maxStretches)
	for i, n := range t.counts {
		if i == 0 || (t.first+uint64(i))%2 == 0 {
			folded = append(folded, 0)
		}
		folded[len(folded)-1] += n
	}
	t.width, t.first, t.counts = t.width*2, t.first/2, folded
}

func (t *timeline) result(f *format) Timeline {
	return Timeline{
		Start: f.time(t.first * t.width),
		Step:  time.Duration(min(t.width, 1<<62/uint64(f.unit))) * f.unit,
		Count: t.counts,
	}
}
