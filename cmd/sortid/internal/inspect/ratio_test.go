package inspect

import (
	"math/rand/v2"
	"testing"
)

// A Ratio seldom accepts hashes that have plausible times by chance.
func TestRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	accepted := 0
	for range 1000 {
		var r Ratio
		for range 200 {
			if r.Accept(rng.IntN(700) == 0) {
				accepted++
			}
		}
	}
	if accepted > 20 { // most of them are the first number of a Ratio
		t.Errorf("%d of 200000 accepted", accepted)
	}
	// After many hashes, a few dozen IDs are enough.
	var r Ratio
	for range 1000 {
		r.Accept(false)
	}
	n := 0
	for !r.Accept(true) {
		n++
	}
	if n > 200 {
		t.Errorf("%d IDs were refused before one was accepted", n)
	}
}
