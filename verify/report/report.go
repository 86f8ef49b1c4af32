// Package report has the findings of packages verify and duplicates. It writes them as text or HTML
// for people, and as JSON or JUnit XML for machines.
package report

import (
	"strings"
	"time"
)

// A Status is the outcome of a check.
type Status string

// The outcomes of a check.
const (
	Pass Status = "pass"
	Warn Status = "warn" // allowed, but probably a mistake
	Fail Status = "fail"
	Skip Status = "skip" // not made; Detail says why
)

// A Report has one source's findings.
type Report struct {
	Format string
	Source string // its name
	Status Status // Fail if a check failed, else Warn if one warns, else Pass

	Bytes, Lines, IDs uint64
	First, Last       time.Time // earliest and latest timestamp
	Facts             []Fact
	Checks            []Outcome
	Fields            []Field
	Timeline          Timeline
	Lead              []Lead // if timestamps were compared with the clock
	Elapsed           time.Duration
}

// A Fact is what IDs tell about their generator.
type Fact struct{ Name, Value string }

// An Outcome is one check's.
type Outcome struct {
	Name     string // group and name, as order.duplicate
	Title    string // what a sound source does
	Status   Status
	Count    uint64 // faults
	Detail   string
	Examples []Example // the first faults
}

// Group returns the name's first part: input, form, order, rules, clock or random.
func (o Outcome) Group() string {
	group, _, _ := strings.Cut(o.Name, ".")
	return group
}

// An Example is a line with a fault.
type Example struct {
	Line uint64 // from 1
	Text string
	Note string // what is wrong
}

// A Field has a field's findings of randomness.
type Field struct {
	Name   string
	Width  int    // in bits
	Values uint64 // how many were tested
	// Bias is the smallest distance of a bit's probability from one half that tests find in 99 of
	// 100 cases. It is 0 with too few values.
	Bias float64
	Ones []float64 // the share of ones, highest bit first
	// P is the smallest p-value. Adjusted is P corrected for the report's number of tests.
	P, Adjusted float64
	Worst       string // what P's test saw
	Tests       int
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
	Ahead time.Duration // negative: behind
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
	for i := range r.Checks {
		if r.Checks[i].Name == name {
			return &r.Checks[i]
		}
	}
	return nil
}

// MaxExamples is how many faults of a kind are shown.
const MaxExamples = 5

// A Unique is the outcome of a search for duplicates.
type Unique struct {
	Format     string
	Status     Status // Fail for duplicates or bad lines, else Warn if interrupted
	Sources    []Source
	IDs        uint64      // read
	Compared   uint64      // of these; fewer if interrupted
	Duplicates uint64      // IDs on more than one line
	Extra      uint64      // lines beyond the first of each ID
	First      []Duplicate // the first duplicates
	Clashes    []Clash     // of scru64
	Elapsed    time.Duration

	Interrupted bool // whether it ended early
}

// A Source is an input of the search.
type Source struct {
	Name       string
	Lines, IDs uint64
	Copied     bool      // whether it was sorted on disk
	Bad        uint64    // lines without an ID
	Examples   []Example // of bad lines
	Node       string    // scru64's node ID, or its first bits
	Error      string    // why it ended early
}

// A Duplicate is an ID on several lines.
type Duplicate struct {
	Text   string
	Count  uint64  // how many lines
	Places []Place // the first thousand
}

// A Place is a line of a source.
type Place struct {
	Source string
	Line   uint64
}

// A Clash is two scru64 sources that share IDs.
type Clash struct {
	Sources    [2]string // one name twice for a source with duplicates
	Node       string    // the node ID, or its first bits
	Duplicates uint64
}
