package conformance

import (
	"bytes"
	"errors"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/check"
)

// An atGen also makes IDs of given times.
type atGen[T any] interface {
	Gen[T]
	GenerateAt(time.Time) (T, error)
}

// testAt tests IDs of given times: their times, how many bits are random, and that they do not
// change the generator's other IDs.
func (g *Generator[T]) testAt(t *testing.T) {
	started, clock := g.start(t, Start, Setup{Entropy: Entropy(7)})
	gen, ok := started.(atGen[T])
	switch {
	case !ok && g.AtBits > 0:
		t.Fatal("the generator has no method GenerateAt")
	case !ok:
		return
	case g.AtBits == 0 || g.Leased:
		for range 2 {
			if id, err := gen.GenerateAt(Start); !errors.Is(err, sortid.ErrOption) ||
				!id.IsZero() {
				t.Fatalf("GenerateAt: %v, %v; want a refusal", id, err)
			}
		}
		return
	}
	var ids []T
	seen := map[T]bool{}
	for _, at := range []time.Time{Start.Add(-40 * 365 * 24 * time.Hour), Start,
		Start.Add(999 * time.Microsecond), Start.Add(40 * 365 * 24 * time.Hour), g.Range[0],
		g.Range[1]} {
		var all, same []byte
		for range 64 {
			clock.Add(g.Tick)
			before := check.Must(gen.Generate())(t)
			if !before.Time().Equal(clock.Now()) {
				t.Fatalf("after GenerateAt, %v has the time %v, want the clock's", before, before.Time())
			}
			id, err := gen.GenerateAt(at)
			if err != nil || !id.Time().Equal(g.tick(at)) {
				t.Fatalf("GenerateAt(%v): %v of %v, %v", at, id, id.Time(), err)
			}
			ids, seen[id] = append(ids, before), true
			raw, _ := id.MarshalBinary()
			if all == nil {
				all, same = slices.Clone(raw), slices.Clone(raw)
			}
			for i, b := range raw {
				all[i] |= b
				same[i] &= b
			}
		}
		random := 0
		for i := range all {
			random += bits.OnesCount8(all[i] ^ same[i])
		}
		if random != g.AtBits {
			t.Errorf("GenerateAt(%v): %d bits are random, want %d: %x, %x", at, random, g.AtBits, all,
				same)
		}
	}
	if len(seen) != 6*64 {
		t.Errorf("%d IDs of given times are distinct, want %d", len(seen), 6*64)
	}
	if !g.Unordered {
		Increasing(t, ids)
	}

	for _, at := range []time.Time{g.Range[0].Add(-g.Tick), g.Range[1].Add(g.Tick), {},
		time.Unix(1<<62, 0)} {
		if id, err := gen.GenerateAt(at); !errors.Is(err, sortid.ErrTimeRange) || !id.IsZero() {
			t.Errorf("GenerateAt(%v): %v, %v; want ErrTimeRange", at, id, err)
		}
	}
	clock.Add(time.Second)
	if n := testing.AllocsPerRun(100, func() { gen.GenerateAt(Start) }); n > 0 {
		t.Errorf("GenerateAt: %v allocations", n)
	}
	broken := errors.New("broken")
	for left := range 8 {
		gen, _ := g.start(t, Start, Setup{Entropy: &Limited{bytes.NewReader(make([]byte, 8)), left,
			broken}})
		if id, err := gen.(atGen[T]).GenerateAt(Start); !errors.Is(err, broken) ||
			!errors.Is(err, sortid.ErrEntropy) || !id.IsZero() {
			t.Errorf("with %d bytes of entropy: %v, %v; want ErrEntropy", left, id, err)
		}
	}
}
