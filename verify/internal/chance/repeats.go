package chance

import (
	"math"

	"github.com/sortid/sortid/verify/internal/findings"
)

// The type repeats counts repeated values in the whole stream in constant memory. It watches all
// values whose hashes are below a limit. If there are too many such values, it halves the limit.
type repeats struct {
	width    int
	halvings int
	last     uint64 // the largest watched hash
	draws    uint64 // watched values, with repeats
	distinct int
	slots    []slot
}

// A slot with count 0 is empty.
type slot struct {
	hash  uint64
	count uint32
}

const (
	minSlots = 1 << 10
	maxSlots = 1 << 16

	// In fields narrower than minRepeatWidth, the counts of values already show repeats.
	minRepeatWidth = 20
)

func newRepeats(width int) *repeats {
	return &repeats{width: width, last: math.MaxUint64, slots: make([]slot, minSlots)}
}

func (r *repeats) add(words []uint64) {
	last, shift := r.last, 64-r.width
	for _, w := range words {
		// An odd factor permutes the values, so exactly the expected share of them is watched.
		if hash := w * 0x9e3779b97f4a7c15 << shift; hash <= last {
			r.keep(hash, 1)
			last = r.last
		}
	}
}

func (r *repeats) keep(hash uint64, count uint32) {
	mask := uint64(len(r.slots) - 1)
	// Skip the high bits that are 0 in all watched hashes. The next bits are the slot's number.
	i := hash << r.halvings >> 32 * (mask + 1) >> 32
	for ; ; i = (i + 1) & mask {
		s := &r.slots[i]
		if s.count == 0 {
			s.hash = hash
			r.distinct++
		}
		if s.hash == hash {
			if s.count <= math.MaxUint32-count {
				s.count += count
				r.draws += uint64(count)
			}
			break
		}
	}
	if r.distinct > len(r.slots)/2 {
		r.makeRoom()
	}
}

// makeRoom doubles the number of slots, up to maxSlots. If there are already maxSlots slots, it
// halves the limit of the hashes instead.
func (r *repeats) makeRoom() {
	old, n := r.slots, 2*len(r.slots)
	if n > maxSlots {
		n = maxSlots
		r.halvings++
		r.last >>= 1
	}
	r.draws, r.distinct, r.slots = 0, 0, make([]slot, n)
	for _, s := range old {
		if s.count > 0 && s.hash <= r.last {
			r.keep(s.hash, s.count)
		}
	}
}

// result returns the number of repeats, the number that chance explains, and the p-value.
func (r *repeats) result() (seen uint64, expected, p float64) {
	cells := math.Ldexp(1, r.width-r.halvings)
	k := float64(r.draws)
	seen = r.draws - uint64(r.distinct)
	load := k / cells
	if load < 1e-4 {
		expected = k * (k - 1) / 2 / cells
	} else {
		expected = k + cells*math.Expm1(k*math.Log1p(-1/cells))
	}
	empty := cells - float64(r.distinct)
	expectedEmpty := cells - (k - expected)
	switch {
	case load < 0.3: // rare and nearly independent repeats
		return seen, expected, findings.Poisson(seen, expected)
	case expectedEmpty < 1000: // nearly all values have occurred
		return seen, expected, findings.Poisson(uint64(empty), expectedEmpty)
	}
	variance := cells * (math.Exp(-load) - (1+load)*math.Exp(-2*load))
	return seen, expected, findings.Normal((float64(seen) - expected) / math.Sqrt(variance))
}
