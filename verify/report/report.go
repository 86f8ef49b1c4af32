// Package report has the findings of packages verify and duplicates. It writes reports as text or
// HTML for people, and as JSON or JUnit XML for machines.
package report

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Status is the outcome of a check.
type Status string

const (
	Pass Status = "pass"
	Warn Status = "warn" // probably a mistake, but the format allows it
	Fail Status = "fail"
	Skip Status = "skip" // not checked; Outcome.Detail says why
)

// A Report has the findings about one source.
type Report struct {
	Format string
	Source string
	Status Status // the worst status of a check: Fail, Warn or Pass

	Bytes, Lines, IDs uint64
	First, Last       time.Time // the earliest and the latest timestamp
	Facts             []Fact
	Checks            []Outcome
	Fields            []Field
	Timeline          Timeline
	Lead              []Lead // if timestamps were compared with the clock
	Elapsed           time.Duration
}

// A Fact is what the IDs show about their generator.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Outcome is the outcome of one check.
type Outcome struct {
	Name     string    `json:"name"`              // group and name, such as order.duplicate
	Title    string    `json:"title"`             // what is true for a correct source
	Finding  string    `json:"finding,omitempty"` // what is true for this source, if it has faults
	Status   Status    `json:"status"`
	Count    uint64    `json:"count"` // number of faults
	Detail   string    `json:"detail,omitempty"`
	Examples []Example `json:"examples,omitempty"` // the first faults
}

// Group returns the name's first part: input, form, order, rules, clock or random.
func (o Outcome) Group() string {
	group, _, _ := strings.Cut(o.Name, ".")
	return group
}

// Headline returns the finding if there are faults, and otherwise the title.
func (o Outcome) Headline() string { return cmp.Or(o.Finding, o.Title) }

// An Example is a line with a fault.
type Example struct {
	Line uint64 `json:"line,omitempty"` // from 1
	Text string `json:"text,omitempty"`
	Note string `json:"note,omitempty"` // what is wrong
}

// A Field has the findings about one random field.
type Field struct {
	Name   string `json:"name"`
	Width  int    `json:"width"` // in bits; 0 if the field has digits
	Digits int    `json:"digits,omitempty"`
	Values uint64 `json:"values"` // how many were tested
	Tests  int    `json:"tests"`
	// P is the smallest p-value. Adjusted is P, corrected for the number of tests.
	P        float64 `json:"p"`
	Adjusted float64 `json:"p_adjusted"`
	Worst    string  `json:"worst,omitempty"` // the result of the test with the p-value P
	// If a bit's probability is Bias away from one half, the tests find this in 99 of 100 cases. Of
	// digits, it is the probability of a symbol. Bias is 0 if there are too few values.
	Bias float64   `json:"detectable_bias"`
	Ones []float64 `json:"ones"` // each bit's share of ones, highest bit first; empty for digits
}

// A Timeline counts IDs over time.
type Timeline struct {
	Start time.Time
	Step  time.Duration
	Count []uint64
}

// A Lead is how far the newest ID was ahead of this machine's clock.
type Lead struct {
	At    time.Time
	Ahead time.Duration // negative if it was behind
}

// Failed returns the failed checks.
func (r *Report) Failed() []Outcome { return r.with(Fail) }

// Warned returns the checks that warn.
func (r *Report) Warned() []Outcome { return r.with(Warn) }

func (r *Report) with(s Status) (cs []Outcome) {
	for _, c := range r.Checks {
		if c.Status == s {
			cs = append(cs, c)
		}
	}
	return cs
}

// Check returns the named check, or nil.
func (r *Report) Check(name string) *Outcome {
	i := slices.IndexFunc(r.Checks, func(c Outcome) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Checks[i]
}

// MaxExamples is how many faults of one check a report shows.
const MaxExamples = 5

// A Unique is the outcome of a search for duplicates. Status is Fail if there are duplicates, read
// errors, lines without an ID, or no IDs. If the search was interrupted, Status is Warn or Fail.
type Unique struct {
	Format     string
	Status     Status
	Sources    []Source
	IDs        uint64
	Compared   uint64
	Duplicates uint64 // IDs on more than one line
	Extra      uint64 // lines to remove so that each ID is on one line
	First      []Duplicate
	Clashes    []Clash // only for scru64
	Elapsed    time.Duration

	Interrupted bool
}

// A Source is an input of the search.
type Source struct {
	Name     string    `json:"name"`
	Lines    uint64    `json:"lines"`
	IDs      uint64    `json:"ids"`
	Bad      uint64    `json:"bad_lines"` // lines without an ID
	Copied   bool      `json:"sorted_on_disk"`
	Node     string    `json:"node,omitempty"`     // scru64's node ID, or its known bits
	Error    string    `json:"error,omitempty"`    // why reading ended early
	Examples []Example `json:"examples,omitempty"` // bad lines
}

// A Duplicate is an ID on several lines.
type Duplicate struct {
	Text   string  `json:"duplicate"`
	Count  uint64  `json:"count"`  // number of lines
	Places []Place `json:"places"` // the first thousand lines
}

// A Place is a line of a source.
type Place struct {
	Source string `json:"source"`
	Line   uint64 `json:"line"`
}

// A Clash is a pair of scru64 sources with duplicates.
type Clash struct {
	Sources    [2]string `json:"sources"` // the same name twice if the duplicates are in one source
	Node       string    `json:"node"`    // as in Source.Node
	Duplicates uint64    `json:"duplicates"`
}
