// Package chance tests hypotheses about random fields: whether they look random.
//
// A [Set] has a source's random fields, which count their values in constant memory. [Set.Judge]
// corrects the p-values for the number of tests.
package chance

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"

	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/report"
)

// familyErrorRate is the probability that a report of correct fields has a failed test. The sum of
// familyErrorRate and findings.Improbable is below one in a million.
const familyErrorRate = 5e-7

type Set struct {
	fields  []*Field
	rawName string
	raw     *BitWriter
}

// WriteRaw makes the set write the named field's bits to w.
func (s *Set) WriteRaw(name string, w io.Writer) {
	s.rawName, s.raw = name, &BitWriter{w: w}
}

// Raw returns the writer for the named field's bits, or nil.
func (s *Set) Raw(name string) *BitWriter {
	if s.raw == nil || name != s.rawName {
		return nil
	}
	return s.raw
}

func (s *Set) Flush() error {
	if s.raw == nil {
		return nil
	}
	if err := s.raw.Flush(); err != nil {
		return fmt.Errorf("cannot write the bits of %s: %w", s.rawName, err)
	}
	return nil
}

func (s *Set) Add(name string, width int) *Field {
	f := newField(name, width)
	f.raw = s.Raw(name)
	s.fields = append(s.fields, f)
	return f
}

// Judge tests all fields. It adds a check for each field and kind of test.
func (s *Set) Judge(found *findings.List) (fields []report.Field) {
	results := make([][]result, len(s.fields))
	var ps []float64
	for i, f := range s.fields {
		if f.SameOnly || f.untestable() { // judgeSame judges these fields
			continue
		}
		results[i] = f.results()
		for _, r := range results[i] {
			ps = append(ps, r.p)
		}
	}
	adjusted := findings.Holm(ps) // one for each result
	for i, f := range s.fields {
		if entry, ok := f.judge(found, results[i], adjusted, len(ps)); ok {
			fields = append(fields, entry)
		}
		adjusted = adjusted[len(results[i]):]
	}
	return fields
}

// judge adds the checks of a field, and reports whether it was tested for more than sameness. The
// parameter adjusted begins with the field's adjusted p-values, and tests is the number of all tests.
func (f *Field) judge(found *findings.List, results []result, adjusted []float64, tests int) (
	entry report.Field, tested bool) {
	entry = report.Field{Name: f.name, Width: f.width, Values: f.n, P: 1, Adjusted: 1,
		Ones: []float64{}}
	check := func(k kind) *findings.Check {
		return found.Check("random."+f.name+"."+k.name, f.name+": "+k.title, f.name+": "+k.wrong)
	}
	same, possible := testSame, kinds
	if f.digits != nil {
		same, possible = testConstant, digitKinds
		entry.Width, entry.Digits = 0, f.digits.tested
	}
	f.judgeSame(check(same))
	if f.SameOnly {
		return entry, false
	}
	checks, worst := map[kind]*findings.Check{}, map[kind]float64{}
	for _, k := range possible {
		checks[k], worst[k] = check(k), math.Inf(1)
	}
	for i, r := range results {
		c := checks[r.kind]
		entry.Tests++
		if r.p < entry.P {
			entry.P, entry.Adjusted, entry.Worst = r.p, adjusted[i], r.note
		}
		if r.p < worst[r.kind] {
			worst[r.kind] = r.p
			c.Detail = r.note + ", p " + words.Probability(r.p)
		}
		if adjusted[i] < familyErrorRate {
			c.Count++
		}
	}
	enough := f.n > 1 && findings.Coin(0, f.n)*float64(tests) < familyErrorRate
	for k, c := range checks {
		if f.untestable() || f.guarded() && c.Detail == "" {
			c.Skip("bits or digits of %s are always the same", f.name)
		} else if f.Unordered && (k.name == testRuns.name || k == testSerial) {
			c.Skip("the values are not in the order of generation")
		} else if c.Detail == "" || !enough {
			c.Skip("too few values: %s", words.Count(f.n))
		}
	}
	for bit := f.width - 1; bit >= 0 && f.n > 0 && f.digits == nil; bit-- {
		entry.Ones = append(entry.Ones, float64(f.ones(bit))/float64(f.n))
	}
	if enough && entry.Tests > 0 {
		entry.Bias = f.detectableBias(tests)
	}
	return entry, true
}

const (
	// In fewValues random values, no bit is constant by chance.
	fewValues = 64
	// In guardValues random values, the highest bit is constant in fewer than one in a million cases.
	guardValues = 24
)

// fixedBits returns the bits that never change, or none if there are too few values.
func (f *Field) fixedBits() (mask uint64) {
	if f.Len() < guardValues {
		return 0
	}
	for bit := range f.width {
		if f.Toggled(bit) == 0 {
			mask |= 1 << bit
		}
	}
	if f.Len() < fewValues && f.tolerated(mask) == "" {
		return 0
	}
	return mask
}

// guarded reports whether only the highest bit never changes, and may be 0.
func (f *Field) guarded() bool {
	if f.digits != nil {
		return f.digits.halved()
	}
	top := uint64(1) << (f.width - 1)
	return f.Half != "" && f.fixedBits() == top && f.buffer[0]&top == 0
}

// untestable reports whether bits or digits never change, so that other tests say nothing new.
func (f *Field) untestable() bool {
	if f.digits != nil {
		return f.digits.constant() != ""
	}
	return f.fixedBits() != 0 && !f.guarded()
}

// tolerated says what the constant bits may be, if generators may do that.
func (f *Field) tolerated(mask uint64) string {
	top := uint64(1) << (f.width - 1)
	switch {
	case f.Half != "" && mask == top && f.buffer[0]&top == 0:
		return fmt.Sprintf("bit %d is always 0; %s", f.width-1, f.Half)
	case f.Prefix > 0 && mask&(1<<(f.width-f.Prefix)-1) == 0:
		return f.describe(mask) + "; a counter may include that"
	}
	return ""
}

func (f *Field) judgeSame(c *findings.Check) {
	if f.Skip != "" {
		c.Skip("%s", f.Skip)
		return
	}
	if f.digits != nil {
		f.digits.judgeSame(c, f.Half)
		return
	}
	mask := f.fixedBits()
	if f.Len() < fewValues && mask == 0 {
		c.Skip("too few values: %s", words.Count(f.n))
		return
	}
	if mask == 0 {
		return
	}
	c.Count = f.n
	if why := f.tolerated(mask); why != "" {
		c.Severity = report.Warn
		c.Detail = why
		return
	}
	c.Detail = f.describe(mask)
}

// describe names constant bits and their values.
func (f *Field) describe(mask uint64) string {
	value := f.buffer[0]
	if bits.OnesCount64(mask) == f.width {
		return fmt.Sprintf("the value is always 0x%0*x", (f.width+3)/4, value)
	}
	var parts []string
	for high := f.width - 1; high >= 0; high-- {
		if mask>>high&1 == 0 {
			continue
		}
		low := high
		for low > 0 && mask>>(low-1)&1 == 1 {
			low--
		}
		if n := high - low + 1; n == 1 {
			parts = append(parts, fmt.Sprintf("bit %d is always %d", high, value>>high&1))
		} else {
			parts = append(parts, fmt.Sprintf("bits %d to %d are always 0x%0*x", high, low,
				(n+3)/4, value>>low&(1<<n-1)))
		}
		high = low
	}
	return strings.Join(parts, ", ")
}

func (f *Field) detectableBias(tests int) float64 {
	if f.digits != nil {
		return f.digits.detectableBias(tests)
	}
	return detectableBias(f.n, tests)
}

func detectableBias(n uint64, tests int) float64 {
	q := findings.Quantile(familyErrorRate/float64(tests)/2) + findings.Quantile(0.01)
	b := q / 2 / math.Sqrt(float64(n))
	return min(b, 0.5)
}
