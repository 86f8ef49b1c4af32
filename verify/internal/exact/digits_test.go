package exact

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The probabilities agree with the digits of random numbers.
func TestLeading(t *testing.T) {
	const n, base, size = 200_000, 36, 512
	r := rand.New(rand.NewPCG(8, 1))
	var counts [3][base]float64
	var equal [3]float64
	for range n {
		var b []byte
		for range size / 64 {
			b = binary.BigEndian.AppendUint64(b, r.Uint64())
		}
		text := new(big.Int).SetBytes(b).Text(base)
		for skip := range counts {
			digit, _ := new(big.Int).SetString(text[skip:skip+1], base)
			counts[skip][digit.Int64()]++
			if text[skip] == text[skip+1] {
				equal[skip]++
			}
		}
	}
	near := func(what string, skip int, count, share float64) {
		if d := math.Abs(count-n*share) / math.Sqrt(n*share+1); d > 5 {
			t.Errorf("after %d digits, %s: %g times, want %g", skip, what, count, n*share)
		}
	}
	l := newLeading(size, base)
	for skip := range counts {
		total := 0.0
		for digit, share := range l.shares[skip] {
			near("digit "+string("0123456789abcdefghijklmnopqrstuvwxyz"[digit]), skip,
				counts[skip][digit], share)
			total += share
		}
		near("equal", skip, equal[skip], l.equal[skip])
		if math.Abs(total-1) > 1e-6 {
			t.Errorf("after %d digits: the shares add up to %g", skip, total)
		}
	}
}
