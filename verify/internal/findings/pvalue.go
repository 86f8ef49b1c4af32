package findings

import (
	"cmp"
	"math"
	"slices"
)

// A p-value is the probability that chance causes an outcome at least as extreme as the given
// outcome. Even tiny p-values are precise, because verify compares them with very small limits.

// Normal returns the two-sided p-value of a standard normal deviate.
func Normal(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// Chi2 returns the two-sided p-value of a chi-square statistic with df degrees of freedom. The
// p-value is small if the counts are too uneven or too even.
func Chi2(x float64, df int) float64 {
	lower, upper := gamma(float64(df)/2, x/2)
	return twoSided(lower, upper)
}

// maxExact is the largest number of throws for which Coin adds binomial terms. For more throws, it
// uses the normal distribution. Then the p-values are nearly the same, or larger.
const maxExact = 2000

// Coin returns the two-sided p-value of k heads in n throws of a fair coin.
func Coin(k, n uint64) float64 {
	low := min(k, n-k)
	if n <= maxExact {
		// Add from the largest term, P(X = low), to the smallest.
		term := math.Exp(logChoose(n, low) - float64(n)*math.Ln2)
		sum := 0.0
		for i := low; term > 0; i-- {
			sum += term
			if i == 0 {
				break
			}
			term *= float64(i) / float64(n-i+1)
		}
		return min(1, 2*sum)
	}
	// 0.5 is the continuity correction.
	d := max(0, float64(n)/2-float64(low)-0.5)
	return Normal(2 * d / math.Sqrt(float64(n)))
}

func logChoose(n, k uint64) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}

// AtLeast returns the probability of k or more events in a Poisson distribution with this mean.
func AtLeast(k uint64, mean float64) float64 {
	if k == 0 {
		return 1
	}
	lower, _ := gamma(float64(k), mean)
	return lower
}

// Poisson returns the two-sided p-value of k events in a Poisson distribution with this mean.
func Poisson(k uint64, mean float64) float64 {
	_, atMost := gamma(float64(k)+1, mean)
	return twoSided(AtLeast(k, mean), atMost)
}

func twoSided(a, b float64) float64 { return min(1, 2*min(a, b)) }

// gamma returns the regularised incomplete gamma functions P(a, x) and Q(a, x) for a > 0, x >= 0.
func gamma(a, x float64) (lower, upper float64) {
	if x <= 0 {
		return 0, 1
	}
	lg, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lg)
	if x < a+1 {
		// P = front * sum of x^n / (a (a+1) ... (a+n))
		term := 1 / a
		sum := term
		for n := a + 1; term > sum*epsilon; n++ {
			term *= x / n
			sum += term
		}
		lower = front * sum
		return lower, 1 - lower
	}
	// Q = front / (x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...))), by Lentz's method.
	const tiny = 1e-300
	b := x + 1 - a
	d := 1 / b
	c, value := 1/tiny, d
	for n := 1.0; n < maxTerms; n++ {
		an := n * (a - n)
		b += 2
		d = 1 / away(b+an*d, tiny)
		c = away(b+an/c, tiny)
		value *= c * d
		if math.Abs(c*d-1) < epsilon {
			break
		}
	}
	upper = front * value
	return 1 - upper, upper
}

const (
	epsilon  = 1e-15
	maxTerms = 1e6
)

func away(v, tiny float64) float64 {
	if math.Abs(v) < tiny {
		return tiny
	}
	return v
}

// Holm corrects p-values for their number by Holm's method. The probability that chance puts any
// corrected p-value below a limit is at most this limit.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted := make([]float64, len(p))
	largest := 0.0
	for rank, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(p)-rank)))
		adjusted[i] = largest
	}
	return adjusted
}

// Quantile returns the value that a standard normal deviate exceeds with probability p.
func Quantile(p float64) float64 { return math.Sqrt2 * math.Erfcinv(2*p) }
