package verify

import (
	"math"

	"github.com/sortid/sortid/verify/internal/pvalue"
	"github.com/sortid/sortid/verify/internal/words"
)

// alarm is the probability that sound fields fail one of all the tests of a report. The
// chances (see improbable) come on top, and together they stay below one in a million.
const alarm = 5e-7

var testTitles = map[string]string{
	testBalance:    "each bit is 1 in half of the values",
	testBytes:      "all values are equally frequent",
	testRuns:       "each bit changes from one value to the next in half of the cases",
	testSerial:     "a value tells nothing of the next",
	testNeighbours: "neighbouring bits differ in half of the values",
	testRepeats:    "values come again as often as chance has it",
}

// random judges the fields that ought to be random, all of their tests together.
func (c *checker) random() {
	type named struct {
		field *field
		result
	}
	var all []named
	var ps []float64
	for _, f := range c.fields {
		for _, r := range f.results() {
			all = append(all, named{f, r})
			ps = append(ps, r.p)
		}
	}
	adjusted := pvalue.Holm(ps)
	for _, f := range c.fields {
		entry := Field{Name: f.name, Width: f.width, Values: f.n, P: 1, Adjusted: 1}
		checks := map[string]*tally{}
		for _, test := range testNames {
			checks[test] = c.tally("random."+f.name+"."+test, f.name+": "+testTitles[test], Fail)
		}
		worst := map[string]float64{}
		for i, r := range all {
			if r.field != f {
				continue
			}
			t := checks[r.test]
			entry.Tests++
			if r.p < entry.P {
				entry.P, entry.Adjusted, entry.Worst = r.p, adjusted[i], r.note
			}
			if p, seen := worst[r.test]; !seen || r.p < p {
				worst[r.test] = r.p
				t.Status, t.Detail = Pass, r.note+", p "+words.Probability(r.p)
			}
			if adjusted[i] < alarm {
				t.Count++
			}
		}
		telling := f.n > 1 && pvalue.Coin(0, f.n)*float64(len(ps)) < alarm
		for _, test := range testNames {
			if _, ran := worst[test]; !ran || !telling {
				checks[test].skip("%s is too little to tell", words.Plural(f.n, "value"))
			}
		}
		for bit := f.width - 1; bit >= 0 && f.n > 0; bit-- {
			entry.Ones = append(entry.Ones, float64(f.ones(bit))/float64(f.n))
		}
		if telling {
			entry.Bias = bias(f.n, len(ps))
		}
		c.report.Fields = append(c.report.Fields, entry)
	}
}

// bias returns how far from one half the probability of a bit must be to be found out in
// 99 of 100 cases, among n values and as many tests.
func bias(n uint64, tests int) float64 {
	b := (pvalue.Quantile(alarm/float64(tests)/2) + pvalue.Quantile(0.01)) / 2 / math.Sqrt(float64(n))
	return min(b, 0.5)
}
