// Package randomness tests whether the fields of IDs that ought to be random look so.
//
// A [Set] holds the fields of one source. Each [Field] counts, in constant memory, what
// the tests need; [Set.Judge] runs the tests and corrects their p-values for the number
// of tests.
package randomness

import (
	"fmt"
	"io"
	"math"

	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/pvalue"
	"github.com/sortid/sortid/verify/internal/words"
	"github.com/sortid/sortid/verify/report"
)

// familyErrorRate is the probability that sound fields fail one of all the tests of a
// report. Chances (see findings.Improbable) add to it; together they stay below one in
// a million.
const familyErrorRate = 5e-7

var testTitles = map[string]string{
	testBalance:    "each bit is 1 in half of the values",
	testBytes:      "all values are equally frequent",
	testRuns:       "each bit changes from one value to the next in half of the cases",
	testSerial:     "a value tells nothing of the next",
	testNeighbours: "neighbouring bits differ in half of the values",
	testRepeats:    "values come again as often as chance has it",
}

// A Set is the random fields of one source. The zero value is empty.
type Set struct {
	fields  []*Field
	rawName string
	raw     *BitWriter
}

// WriteRaw makes the set write the bits of the field of a name to w, one value after the
// other, high bit first.
func (s *Set) WriteRaw(name string, w io.Writer) {
	s.rawName, s.raw = name, NewBitWriter(w)
}

// Raw returns the writer for the bits of the field of a name, or nil.
func (s *Set) Raw(name string) *BitWriter {
	if s.raw == nil || name != s.rawName {
		return nil
	}
	return s.raw
}

// Flush writes the bits that are held back and returns the first error of all writes.
func (s *Set) Flush() error {
	if s.raw == nil {
		return nil
	}
	if err := s.raw.Flush(); err != nil {
		return fmt.Errorf("cannot write the bits of %s: %w", s.rawName, err)
	}
	return nil
}

// Add adds a field of a width in bits.
func (s *Set) Add(name string, width int) *Field {
	f := newField(name, width)
	f.raw = s.Raw(name)
	s.fields = append(s.fields, f)
	return f
}

// Judge runs the tests of all fields, adds a check for each kind of test and field to the
// findings, and returns what was found in each field.
func (s *Set) Judge(found *findings.List) (fields []report.Field) {
	type fieldResult struct {
		field *Field
		result
	}
	var all []fieldResult
	var ps []float64
	for _, f := range s.fields {
		for _, r := range f.results() {
			all = append(all, fieldResult{f, r})
			ps = append(ps, r.p)
		}
	}
	adjusted := pvalue.Holm(ps)
	for _, f := range s.fields {
		entry := report.Field{Name: f.name, Width: f.width, Values: f.n, P: 1, Adjusted: 1}
		checks := map[string]*findings.Check{}
		for _, test := range testNames {
			checks[test] = found.Check("random."+f.name+"."+test, f.name+": "+testTitles[test], report.Fail)
		}
		worst := map[string]float64{}
		for i, r := range all {
			if r.field != f {
				continue
			}
			c := checks[r.test]
			entry.Tests++
			if r.p < entry.P {
				entry.P, entry.Adjusted, entry.Worst = r.p, adjusted[i], r.note
			}
			if p, seen := worst[r.test]; !seen || r.p < p {
				worst[r.test] = r.p
				c.Status, c.Detail = report.Pass, r.note+", p "+words.Probability(r.p)
			}
			if adjusted[i] < familyErrorRate {
				c.Count++
			}
		}
		enough := f.n > 1 && pvalue.Coin(0, f.n)*float64(len(ps)) < familyErrorRate
		for _, test := range testNames {
			if _, ran := worst[test]; !ran || !enough {
				checks[test].Skip("%s is too little to tell", words.Plural(f.n, "value"))
			}
		}
		for bit := f.width - 1; bit >= 0 && f.n > 0; bit-- {
			entry.Ones = append(entry.Ones, float64(f.ones(bit))/float64(f.n))
		}
		if enough {
			entry.Bias = detectableBias(f.n, len(ps))
		}
		fields = append(fields, entry)
	}
	return fields
}

// detectableBias returns how far from one half the probability of a bit must be to be
// found out in 99 of 100 cases, among n values and as many tests.
func detectableBias(n uint64, tests int) float64 {
	b := (pvalue.Quantile(familyErrorRate/float64(tests)/2) + pvalue.Quantile(0.01)) / 2 / math.Sqrt(float64(n))
	return min(b, 0.5)
}
