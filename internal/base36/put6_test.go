package base36

import "testing"

// Every pair of digits at every place, beside the smallest and the largest others: where
// a fraction that is off would show.
func TestPut6(t *testing.T) {
	try := func(v uint64) {
		var got, want [6]byte
		put6(&got, v)
		for i, n := len(want)-1, v; i >= 0; i, n = i-1, n/36 {
			want[i] = digits[n%36]
		}
		if got != want {
			t.Fatalf("%d: %s, want %s", v, got, want)
		}
	}
	for pair := range uint64(pow2) {
		for _, high := range []uint64{0, 1, pow2 - 1} {
			for _, low := range []uint64{0, 1, pow2 - 1} {
				try(pair*pow4 + high*pow2 + low)
				try(high*pow4 + pair*pow2 + low)
				try(high*pow4 + low*pow2 + pair)
			}
		}
	}
	for v := uint64(0); v < pow6; v += 99991 {
		try(v)
		try(pow6 - 1 - v)
	}
}
