package judge

import (
	"math/rand/v2"
	"testing"
)

// A ratio seldom accepts hashes that have plausible times by chance.
func TestRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	accepted := 0
	for range 1000 {
		var r ratio
		for range 200 {
			if r.accept(rng.IntN(700) == 0) {
				accepted++
			}
		}
	}
	if accepted > 20 { // most of them are the first number of a ratio
		t.Errorf("%d of 200000 accepted", accepted)
	}
	// After many hashes, a few dozen IDs are enough.
	var r ratio
	for range 1000 {
		r.accept(false)
	}
	n := 0
	for !r.accept(true) {
		n++
	}
	if n > 200 {
		t.Errorf("%d IDs were refused before one was accepted", n)
	}
}

// Followers that judge the parts of an input give the answers that one Judge gives.
func TestFollow(t *testing.T) {
	kinds := []Kind{Standard, Other, Hash(32), Mixed(27)}
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var alone, all Judge
		var followers [3]Judge
		for i := range followers {
			followers[i].Follow(&all)
		}
		again := 0
		for part := range 100 {
			texts := make([]answer, rng.IntN(30))
			for i := range texts {
				kind := kinds[rng.IntN(len(kinds))]
				plausible := rng.IntN(100) < 40+int(seed)%20
				texts[i] = answer{kind, plausible, alone.Accept(kind, plausible)}
			}
			f := &followers[part%len(followers)]
			right := true
			judgeAll := func() {
				for _, text := range texts {
					right = f.Accept(text.kind, text.plausible) == text.isID && right
				}
			}
			judgeAll()
			if all.Confirm(f) != right {
				t.Fatalf("seed %d, part %d: Confirm says %v", seed, part, !right)
			}
			if !right {
				again, right = again+1, true
				f.Follow(&all)
				judgeAll()
				if !all.Confirm(f) || !right {
					t.Fatalf("seed %d, part %d: wrong again", seed, part)
				}
			}
			f.Follow(&all)
		}
		if again == 0 || all.LeftOut != alone.LeftOut {
			t.Errorf("seed %d: %d parts were judged again; %d texts were left out, want %d", seed, again,
				all.LeftOut, alone.LeftOut)
		}
	}
}
