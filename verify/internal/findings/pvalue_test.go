package findings

import (
	"math"
	"math/big"
	"testing"
)

func close(a, b, relative float64) bool {
	return a == b || math.Abs(a-b) <= relative*math.Max(math.Abs(a), math.Abs(b))
}

func poissonTail(k int, mean float64) float64 {
	const prec = 300
	m := new(big.Float).SetPrec(prec).SetFloat64(mean)
	// The series of e^m converges fast, because m is small.
	e, term := big.NewFloat(1).SetPrec(prec), big.NewFloat(1).SetPrec(prec)
	for i := 1; i < 2000; i++ {
		term.Mul(term, m).Quo(term, new(big.Float).SetPrec(prec).SetInt64(int64(i)))
		e.Add(e, term)
	}
	term.Quo(big.NewFloat(1).SetPrec(prec), e)
	sum := new(big.Float).SetPrec(prec)
	for i := 0; i < k+2000; i++ {
		if i > 0 {
			term.Mul(term, m).Quo(term, new(big.Float).SetPrec(prec).SetInt64(int64(i)))
		}
		if i >= k {
			sum.Add(sum, term)
		}
	}
	f, _ := sum.Float64()
	return f
}

// For an integer a, P(a, x) and Q(a, x) are tails of the Poisson distribution.
func TestGammaAgainstSums(t *testing.T) {
	for _, mean := range []float64{1e-9, 0.001, 0.7, 1, 5, 50, 180.5, 300} {
		for _, k := range []int{1, 2, 3, 10, 40, 50, 51, 60, 200, 300, 500} {
			want := poissonTail(k, mean)
			if want < 1e-290 {
				continue
			}
			if got := AtLeast(uint64(k), mean); !close(got, want, 1e-9) {
				t.Errorf("AtLeast(%d, %g) = %g, want %g", k, mean, got, want)
			}
			want = min(1, 2*want, 2*(1-poissonTail(k+1, mean)))
			if got := Poisson(uint64(k), mean); want > 1e-4 && !close(got, want, 1e-9) {
				t.Errorf("Poisson(%d, %g) = %g, want %g", k, mean, got, want)
			}
		}
	}
}

// For 1, 2 and 4 degrees of freedom, the upper tail of the chi-square distribution is a simple
// formula.
func TestChi2ClosedForms(t *testing.T) {
	for _, x := range []float64{2, 3, 10, 40, 100, 700} {
		for _, c := range []struct {
			df   int
			want float64
		}{
			{1, math.Erfc(math.Sqrt(x / 2))},
			{2, math.Exp(-x / 2)},
			{4, (1 + x/2) * math.Exp(-x/2)},
		} {
			want := 2 * math.Min(c.want, 1-c.want)
			if got := Chi2(x, c.df); !close(got, want, 1e-10) {
				t.Errorf("Chi2(%g, %d) = %g, want %g", x, c.df, got, want)
			}
		}
	}
}

func TestTables(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"chi-square 255, 5%", Chi2(293.2478, 255) / 2, 0.05},
		{"chi-square 10, 1%", Chi2(23.20925, 10) / 2, 0.01},
		{"chi-square 100, 0.1%", Chi2(149.4493, 100) / 2, 0.001},
		{"chi-square 10, lower 5%", Chi2(3.940299, 10) / 2, 0.05},
		{"normal 1.96", Normal(1.959963985), 0.05},
		{"normal 6", Normal(6), 1.973175290e-9},
		{"quantile", Quantile(0.025), 1.959963985},
	} {
		if !close(c.got, c.want, 1e-5) {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
}

func TestCoin(t *testing.T) {
	for _, n := range []int64{1, 2, 7, 30, 200, 1999} {
		total := new(big.Float).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(n)))
		sum := new(big.Int)
		for k := int64(0); 2*k <= n; k++ {
			sum.Add(sum, new(big.Int).Binomial(n, k))
			f, _ := new(big.Float).Quo(new(big.Float).SetInt(sum), total).Float64()
			want := math.Min(1, 2*f)
			if got := Coin(uint64(k), uint64(n)); want > 1e-280 && !close(got, want, 1e-8) {
				t.Fatalf("Coin(%d, %d) = %g, want %g", k, n, got, want)
			}
			if Coin(uint64(k), uint64(n)) != Coin(uint64(n-k), uint64(n)) {
				t.Fatalf("Coin(%d, %d) differs from Coin(%d, %[2]d)", k, n, n-k)
			}
		}
	}
	// For many throws, Coin must be near the exact value, and never much below it.
	for _, n := range []int64{2001, 4000, 20000} {
		total := new(big.Float).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(n)))
		sum, term := new(big.Int), big.NewInt(1)
		for k := int64(0); 2*k < n; k++ {
			if k > 0 {
				term.Mul(term, big.NewInt(n-k+1)).Quo(term, big.NewInt(k))
			}
			sum.Add(sum, term)
			z := (float64(n)/2 - float64(k)) * 2 / math.Sqrt(float64(n))
			if z > 7 || k%7 != 0 {
				continue
			}
			f, _ := new(big.Float).Quo(new(big.Float).SetInt(sum), total).Float64()
			if got := Coin(uint64(k), uint64(n)); got < 2*f*0.98 || got > 2*f*1.3 {
				t.Fatalf("Coin(%d, %d) = %g, the exact value is %g", k, n, got, 2*f)
			}
		}
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.03, 0.01, 0.5, 0.04})
	want := []float64{0.09, 0.04, 0.5, 0.09}
	for i := range want {
		if !close(got[i], want[i], 1e-12) {
			t.Errorf("Holm = %v, want %v", got, want)
			break
		}
	}
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("Holm of nothing = %v", got)
	}
}
