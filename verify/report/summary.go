package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sortid/sortid/internal/words"
)

// Groups are the groups of checks, in a report's order.
var Groups = []struct{ Name, Title string }{
	{"input", "the input"},
	{"form", "the form of each line"},
	{"order", "the order of the IDs"},
	{"rules", "the format's own rules"},
	{"clock", "the clock"},
	{"random", "randomness"},
}

// tally counts a group's checks by status, or all if group is empty.
func tally(r *Report, group string) map[Status]uint64 {
	n := map[Status]uint64{}
	for _, c := range r.Checks {
		if group == "" || c.Group() == group {
			n[c.Status]++
		}
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

func source(r *Report) string {
	if r.Source == "" {
		return "standard input"
	}
	return r.Source
}

func volume(r *Report) string {
	s := fmt.Sprintf("%s, %s in %s", r.Format, words.Plural(r.IDs, "ID"),
		words.Plural(r.Lines, "line"))
	if seconds := r.Elapsed.Seconds(); seconds > 0.1 {
		s += fmt.Sprintf(", %.1f s, %s a second", seconds,
			words.Count(uint64(float64(r.Lines)/seconds)))
	}
	return s
}

func found(c Outcome) string {
	var parts []string
	if c.Count > 0 && c.Group() != "random" && c.Group() != "input" {
		if c.Count == 1 {
			parts = append(parts, "once")
		} else {
			parts = append(parts, words.Count(c.Count)+" times")
		}
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

// bias words the smallest bias that tests can see.
func bias(f Field) string {
	switch {
	case f.Tests == 0 && f.Values > 1:
		return "no other tests, because bits are always the same"
	case f.Bias == 0:
		return "too few values to find a bias"
	}
	return fmt.Sprintf("a bit that is 1 in %.2f%% of the values, or more, would have been seen",
		100*(0.5+f.Bias))
}
