package plan

import (
	"fmt"
	"math"
)

// Odds returns a probability in words, such as "one in 3 million".
func Odds(p float64) string {
	switch {
	case p == 0:
		return "none"
	case p > 0.99:
		return "certain"
	case p > 0.01:
		return fmt.Sprintf("%.0f %%", p*100)
	}
	return "one in " + Count(1/p)
}

// Count returns a number in words, with two digits, such as "3.2 billion".
func Count(n float64) string {
	words := []string{"", " thousand", " million", " billion", " trillion", " quadrillion"}
	if n < 1e4 {
		return fmt.Sprintf("%.0f", n)
	}
	i := int(math.Log10(n)) / 3
	if n/math.Pow(1000, float64(i)) >= 999.5 { // printed as 1000
		i++
	}
	if i >= len(words) {
		return fmt.Sprintf("10^%.0f", math.Log10(n))
	}
	scaled := n / math.Pow(1000, float64(i))
	if scaled < 9.95 {
		return fmt.Sprintf("%.2g%s", scaled, words[i])
	}
	return fmt.Sprintf("%.0f%s", scaled, words[i])
}

func Seconds(s float64) string {
	switch {
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 120:
		return fmt.Sprintf("%.1f s", s)
	case s < 7200:
		return fmt.Sprintf("%.0f min", s/60)
	}
	return fmt.Sprintf("%.0f h", s/3600)
}
