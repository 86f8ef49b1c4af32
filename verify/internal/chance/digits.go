package chance

import (
	"fmt"
	"math"
	"strings"

	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/report"
)

// A Place is the place of a digit in a text.
type Place struct {
	Name string
	// Shares are sets of the probabilities of the alphabet's symbols. In a correct source, the digit
	// has one of these sets.
	Shares [][]float64
	// Equal has, for each set, the probability that the digit equals the next one. It is 0 if the two
	// digits are independent.
	Equal []float64
	// Halved says that the digit may always be in the lower half of the alphabet.
	Halved bool
}

// The type digits tests each digit of a base that is no power of two.
type digits struct {
	alphabet string
	places   []place
	// tested is how many places are tested. A place after them shows whether it repeats the last one.
	tested int
	n      uint64
}

// A place counts the symbols of a digit.
type place struct {
	Place
	counts []uint64 // of symbols
	last   uint8    // the previous value's symbol
	runs   uint64   // how often the symbol equals last
	next   uint64   // how often the next digit's symbol equals this one
}

// AddDigits adds a field of digits. The first tested places are the field. For each value, the caller
// adds the symbols with AddSymbols, and the digits' number with Add: the 32 highest bits of the
// number's share of the largest number.
func (s *Set) AddDigits(name, alphabet string, places []Place, tested int) *Field {
	f := s.Add(name, 32)
	f.digits = &digits{alphabet: alphabet, tested: tested}
	for _, p := range places {
		f.digits.places = append(f.digits.places,
			place{Place: p, counts: make([]uint64, len(alphabet)), last: math.MaxUint8})
	}
	return f
}

// AddSymbols adds the digits of a value, as indexes of the alphabet.
func (f *Field) AddSymbols(symbols []uint8) {
	places := f.digits.places[:len(symbols)]
	f.digits.n++
	before := uint8(math.MaxUint8)
	for i, symbol := range symbols {
		p := &places[i]
		p.counts[symbol]++
		if symbol == p.last {
			p.runs++
		}
		if symbol == before {
			places[i-1].next++
		}
		p.last, before = symbol, symbol
	}
}

var (
	testConstant = kind{"same", "no digit is always the same", "digits are always the same"}
	testShares   = kind{"balance", "in each digit, all symbols are equally frequent",
		"in a digit, some symbols are too frequent or too rare, or all are too equally frequent"}
	testSameDigit = kind{"runs", "each digit equals the previous value's digit as often as by chance",
		"a digit equals the previous value's digit too often or too rarely"}
	testEqualDigits = kind{"neighbours", "neighbouring digits are equal as often as by chance",
		"neighbouring digits are equal too often or too rarely"}

	digitKinds = []kind{testShares, testSameDigit, testEqualDigits, testSerial, testRepeats}
)

// results tests each digit. The probabilities of equal digits follow from the symbols' counts, so a
// biased digit makes only one test fail.
func (d *digits) results(unordered bool) (rs []result) {
	add := func(k kind, p float64, format string, args ...any) {
		rs = append(rs, result{k, p, fmt.Sprintf(format, args...)})
	}
	n, half := float64(d.n), d.halved()
	for i := range d.places[:d.tested] {
		a := &d.places[i]
		p, set, note := a.balance(d.alphabet, n, half)
		add(testShares, p, "%s: %s", a.Name, note)
		equal := 0.0
		for _, c := range a.counts {
			equal += float64(c) * (float64(c) - 1) / n
		}
		if !unordered {
			add(testSameDigit, findings.Poisson(a.runs, equal),
				"%s equals the previous value's digit in %s of the cases", a.Name,
				words.Percent(a.runs, d.n-1))
		}
		if i+1 == len(d.places) {
			break
		}
		b := &d.places[i+1]
		equal = 0
		for symbol, c := range a.counts {
			equal += float64(c) * float64(b.counts[symbol]) / n
		}
		if a.Equal[set] > 0 {
			equal = n * a.Equal[set]
		}
		add(testEqualDigits, findings.Poisson(a.next, equal), "%s and %s are equal in %s of the values",
			a.Name, b.Name, words.Percent(a.next, d.n))
	}
	return rs
}

// balance tests the counts of the symbols. If several sets of probabilities are possible, it takes
// the one that fits best.
func (p *place) balance(alphabet string, n float64, half bool) (best float64, set int, note string) {
	sets := p.Shares
	if half && p.Halved {
		sets = [][]float64{halve(p.Shares[0])}
	}
	for i, shares := range sets {
		tail, symbol := p.worst(shares, n)
		value := min(1, 2*tail)
		if chi, ok := chi2(p.counts, shares, n); ok {
			value = min(1, 2*min(tail, chi))
		}
		if i == 0 || value > best {
			best, set = value, i
			note = fmt.Sprintf("%q is in %s of the values", alphabet[symbol],
				words.Percent(p.counts[symbol], uint64(n)))
		}
	}
	return best, set, note
}

// worst returns the symbol whose count differs most from what the shares expect. The p-value is
// corrected for the number of symbols.
func (p *place) worst(shares []float64, n float64) (tail float64, symbol int) {
	most, symbols := -1.0, 0.0
	for i, share := range shares {
		if share == 0 {
			continue
		}
		symbols++
		if d := math.Abs(float64(p.counts[i])-n*share) / math.Sqrt(n*share); d > most {
			most, symbol = d, i
		}
	}
	return min(1, symbols*findings.Poisson(p.counts[symbol], n*shares[symbol])), symbol
}

// chi2 returns the p-value of the counts. It joins neighbouring symbols until each mean count is
// large enough.
func chi2(counts []uint64, shares []float64, n float64) (p float64, ok bool) {
	x, cells := 0.0, 0
	count, mean, rest := 0.0, 0.0, n
	for i, share := range shares {
		count += float64(counts[i])
		mean += share * n
		rest -= share * n
		if mean < minCell || rest > 0.5 && rest < minCell {
			continue
		}
		x += (count - mean) * (count - mean) / mean
		count, mean = 0, 0
		cells++
	}
	if cells < 2 {
		return 0, false
	}
	return findings.Chi2(x, cells-1), true
}

// halve returns the probabilities of symbols that are only in the lower half.
func halve(shares []float64) []float64 {
	half := make([]float64, len(shares))
	for i := range half[:len(half)/2] {
		half[i] = 2 * shares[i]
	}
	return half
}

// halved reports whether the digits that may always be in the lower half are there. One value in a
// billion may be larger, because libraries round.
func (d *digits) halved() bool {
	may := false
	for _, p := range d.places[:d.tested] {
		upper := uint64(0)
		for _, c := range p.counts[len(p.counts)/2:] {
			upper += c
		}
		if may = may || p.Halved; p.Halved && upper > 2+d.n>>20 {
			return false
		}
	}
	return may && d.n >= guardValues
}

// constant describes the digits that never change, or is empty.
func (d *digits) constant() string {
	var parts []string
	for _, p := range d.places[:d.tested] {
		if d.n >= fewValues && p.runs == d.n-1 {
			parts = append(parts, fmt.Sprintf("%s is always %q", p.Name, d.alphabet[p.last]))
		}
	}
	return strings.Join(parts, ", ")
}

func (d *digits) judgeSame(c *findings.Check, half string) {
	switch constant := d.constant(); {
	case constant != "":
		c.Count, c.Detail = d.n, constant
	case d.halved():
		c.Count, c.Severity, c.Detail = d.n, report.Warn, "all numbers are below one half; "+half
	case d.n < fewValues:
		c.Skip("too few values: %s", words.Count(d.n))
	}
}

// detectableBias returns how far above its probability a symbol's probability would be found.
func (d *digits) detectableBias(tests int) float64 {
	share := 1 / float64(len(d.alphabet))
	tests *= len(d.alphabet) // the test of a digit includes a test of each symbol
	return min(1-share, 2*math.Sqrt(share*(1-share))*detectableBias(d.n, tests))
}
