package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/words"
)

// A Group is a group of checks. Its name is the first part of the checks' names.
type Group struct{ Name, Title string }

// Groups returns the groups in the order of a report.
func Groups() []Group {
	return []Group{
		{"input", "the input"},
		{"form", "the form of each line"},
		{"order", "the order of the IDs"},
		{"rules", "the format's own rules"},
		{"clock", "the clock"},
		{"random", "randomness"},
	}
}

// checksIn returns the checks of a group, or all checks if group is empty.
func checksIn(r *Report, group string) (cs []Outcome) {
	for _, c := range r.Checks {
		if group == "" || c.Group() == group {
			cs = append(cs, c)
		}
	}
	return cs
}

func tally(r *Report, group string) map[Status]uint64 {
	n := map[Status]uint64{}
	for _, c := range checksIn(r, group) {
		n[c.Status]++
	}
	return n
}

func verdict(r *Report) string {
	n := tally(r, "")
	all := n[Pass] + n[Warn] + n[Fail]
	switch r.Status {
	case Fail:
		return fmt.Sprintf("%d of %s failed", n[Fail], words.Plural(all, "check"))
	case Warn:
		return fmt.Sprintf("%s passed, %s", words.Plural(all-n[Warn], "check"),
			words.Plural(n[Warn], "warning"))
	}
	return words.Plural(all, "check") + " passed"
}

func source(r *Report) string { return cmp.Or(r.Source, "standard input") }

func volume(r *Report) string {
	return fmt.Sprintf("%s, %s in %s", r.Format, words.Plural(r.IDs, "ID"),
		words.Plural(r.Lines, "line")) + speed(r.Lines, r.Elapsed)
}

func speed(n uint64, elapsed time.Duration) string {
	seconds := elapsed.Seconds()
	if seconds <= 0.1 {
		return ""
	}
	return fmt.Sprintf(", %.1f s, %s a second", seconds, words.Count(uint64(float64(n)/seconds)))
}

// faults says why IDs of a source can be missing. For example, kind is "scru64 ID".
func (s *Source) faults(kind string) (all []string) {
	if s.Error != "" {
		all = append(all, "cannot be read to its end: "+s.Error)
	}
	if s.Bad > 0 {
		all = append(all, words.Plural(s.Bad, "line")+" without any "+kind)
	}
	return all
}

func found(c Outcome) string {
	var parts []string
	if c.Count > 0 && c.Group() != "random" && c.Group() != "input" {
		parts = append(parts, words.Times(c.Count))
	}
	if c.Detail != "" {
		parts = append(parts, c.Detail)
	}
	return strings.Join(parts, "; ")
}

func example(e Example) string {
	var parts []string
	if e.Line > 0 {
		parts = append(parts, "line "+words.Count(e.Line))
	}
	if e.Text != "" {
		parts = append(parts, strconv.Quote(e.Text))
	}
	if e.Note != "" {
		parts = append(parts, e.Note)
	}
	return strings.Join(parts, ": ")
}

func smallest(f Field) string {
	return fmt.Sprintf("smallest p %s, corrected for all tests p %s", words.Probability(f.P),
		words.Probability(f.Adjusted))
}

// tested says how much was tested.
func tested(f Field) string {
	size := fmt.Sprintf("%7s", words.Plural(uint64(f.Width), "bit"))
	if f.Digits > 0 {
		size = words.Plural(uint64(f.Digits), "digit")
	}
	return size + ", " + words.Plural(f.Values, "value") + ", " +
		words.Plural(uint64(f.Tests), "test")
}

func bias(f Field) string {
	switch {
	case f.Tests == 0 && f.Values > 1 && f.Digits > 0:
		return "no other tests, because some digits are always the same"
	case f.Tests == 0 && f.Values > 1:
		return "no other tests, because some bits are always the same"
	case f.Bias == 0:
		return "too few values to find a bias"
	case f.Digits > 0:
		return fmt.Sprintf("these tests find a symbol of a digit that is too frequent by %.2f%% of the "+
			"values", 100*f.Bias)
	}
	return fmt.Sprintf("these tests find a bit that is 1 in at least %.2f%% of the values",
		100*(0.5+f.Bias))
}
