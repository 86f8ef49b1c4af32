package textcodec

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestBase36Put(t *testing.T) {
	twelve := func(v uint64) {
		var got, want [12]byte
		put12(&got, v)
		for i, n := len(want)-1, v; i >= 0; i, n = i-1, n/36 {
			want[i] = digits36[n%36]
		}
		if got != want {
			t.Fatalf("%d: %s, want %s", v, got, want)
		}
	}
	try := func(v uint64) {
		twelve(v)
		twelve(v * pow6)
		twelve(v*pow6 + pow6 - 1)
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

// The quotient is exact, and the fraction is too large by less than 1.
func TestBase36Divide(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	limit := big.NewInt(Base36Limit)
	try := func(quotient, remainder uint64) {
		n := new(big.Int).SetUint64(quotient)
		n.Mul(n, limit).Add(n, new(big.Int).SetUint64(remainder))
		hi, lo, _ := split(n)
		q, f := divide(hi, lo)
		scaled := new(big.Int).Mul(new(big.Int).SetUint64(f), limit)
		before, _, _ := split(scaled)
		if q != quotient || before != remainder {
			t.Fatalf("%v: quotient %d, want %d; remainder %d, want %d", n, q, quotient, before,
				remainder)
		}
	}
	edges := []uint64{0, 1, 2, pow6 - 1, pow6, Base36Limit/2 - 1, Base36Limit / 2, Base36Limit - 2,
		Base36Limit - 1}
	for _, q := range edges {
		for _, rem := range edges {
			try(q, rem)
		}
	}
	n := 100_000
	if testing.Short() {
		n /= 10
	}
	for range n {
		q, rem := r.Uint64N(Base36Limit)>>r.IntN(62), r.Uint64N(Base36Limit)>>r.IntN(62)
		try(q, rem)
		for _, edge := range edges {
			try(q, edge)
			try(edge, rem)
		}
	}
}
