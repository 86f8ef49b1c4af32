package exact

import (
	"math"
	"testing"
)

func TestHistogram(t *testing.T) {
	var s histogram
	for v := range uint64(100_000) {
		s.add(v)
	}
	for _, q := range []float64{0, 0.001, 0.5, 0.99, 1} {
		want := q * 100_000
		if got := float64(s.quantile(q)); got < want-1 || got > want*1.126+1 {
			t.Errorf("quantile %g: %g, want %g", q, got, want)
		}
	}
	var one histogram
	one.add(math.MaxUint64)
	one.add(math.MaxUint64)
	if one.quantile(0.5) != math.MaxUint64 || one.most != math.MaxUint64 {
		t.Errorf("the largest number: %d", one.quantile(0.5))
	}
}
