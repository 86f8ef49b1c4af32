package exact

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sortid/sortid/internal/integer"
)

// The type pairs counts the pairs of consecutive IDs that increase or decrease, by the highest bit
// in which the two IDs differ.
type pairs struct {
	up, down [192]int
}

func (p *pairs) add(last, v *integer.Words) {
	if *v == *last {
		return
	}
	bit := highestBit(*v, *last)
	if v.Less(last) {
		p.down[bit]++
		return
	}
	p.up[bit]++
}

// total adds the pairs that differ first in a bit from low to high.
func (p *pairs) total(low, high int) (up, down int) {
	for bit := low; bit <= high; bit++ {
		up += p.up[bit]
		down += p.down[bit]
	}
	return up, down
}

func (p *pairs) count() int {
	up, down := p.total(0, len(p.up)-1)
	return up + down
}

// lowest returns the lowest bit that orders an increasing pair.
func (p *pairs) lowest() int {
	return max(0, slices.IndexFunc(p.up[:], func(n int) bool { return n > 0 }))
}

// mayRise permits a few pairs in the wrong order, which are faults.
func (p *pairs) mayRise() bool { return mayRise(p.total(0, len(p.up)-1)) }

func mayRise(up, down int) bool { return down <= up/20 }

func (p *pairs) rises() bool { return p.mayRise() && p.count() >= fewPairs }

// startsAtRandom reports whether the highest bit that varies is in random order.
func (p *pairs) startsAtRandom(varying integer.Words) bool {
	bit := highestBit(varying, integer.Words{})
	return p.down[bit] >= 3 && p.down[bit] > p.up[bit]/5
}

// free returns the lowest of the bits that are in order, if the bits below are in random order. It
// compares how probable the pairs are for each possible bit. In bits that are in order, pairs
// differ with any probability, and increase. Bits that never vary show nothing. The result ok says
// that chance does not explain the order.
func (p *pairs) free(varying integer.Words) (bit int, ok bool) {
	const faulty, leastGain = 0.01, 15
	gain, best, left := 0.0, 0.0, float64(p.count())
	for i := len(p.up) - 1; i >= 0 && left > 0; i-- {
		up, down := float64(p.up[i]), float64(p.down[i])
		if varying.And(integer.Ones(1).Shift(i)) != (integer.Words{}) {
			gain += logProbability(up+down, left) + left*math.Ln2 - math.Log(left+1)/2 +
				up*math.Log(2-2*faulty) + down*math.Log(2*faulty)
		}
		if left -= up + down; gain > best {
			bit, best = i, gain
		}
	}
	return bit, best >= leastGain
}

// logProbability returns the logarithm of the probability that n tries have these hits, in this
// order, if a try is a hit with the best probability.
func logProbability(hits, n float64) float64 {
	if hits == 0 || hits == n {
		return 0
	}
	return hits*math.Log(hits/n) + (n-hits)*math.Log(1-hits/n)
}

// below returns how many pairs differ first below a bit.
func (p *pairs) below(bit int) int {
	up, down := p.total(0, bit-1)
	return up + down
}

func highestBit(a, b integer.Words) int {
	switch {
	case a.High != b.High:
		return 127 + bits.Len64(a.High^b.High)
	case a.Mid != b.Mid:
		return 63 + bits.Len64(a.Mid^b.Mid)
	}
	return max(bits.Len64(a.Low^b.Low)-1, 0)
}
