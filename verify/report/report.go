// Package report has the findings of packages verify and duplicates. It writes them for people,
// as text or an HTML page, and for machines, as JSON or JUnit's XML.
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
	Warn Status = "warn" // the format allows it, but it is probably a mistake
	Fail Status = "fail"
	Skip Status = "skip" // the check was not made; Detail says why
)

// A Report has the findings about one source.
type Report struct {
	Format string
	Source string // its name
	Status Status // Fail if any check failed, else Warn if any warns, else Pass

	Bytes, Lines, IDs uint64
	First, Last       time.Time // the earliest and the latest timestamp
	Facts             []Fact
	Checks            []Outcome
	Fields            []Field
	Timeline          Timeline
	Lead              []Lead // if timestamps were compared with this machine's clock
	Elapsed           time.Duration
}

// A Fact is something that the IDs tell about their generator.
type Fact struct{ Name, Value string }

// An Outcome is the outcome of one check.
type Outcome struct {
	Name     string // group and name, such as order.duplicate
	Title    string // what a sound source does
	Status   Status
	Count    uint64 // faults
	Detail   string
	Examples []Example // the first faults
}

// Group returns the first part of the name: input, form, order, rules, clock or random.
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

// A Field has the findings of the tests of randomness about a field.
type Field struct {
	Name   string
	Width  int    // in bits
	Values uint64 // how many were tested
	// Bias is the smallest distance of a bit's probability from one half that the tests find
	// in 99 of 100 cases. It is 0 if there are too few values.
	Bias float64
	Ones []float64 // the share of ones, from the highest bit to the lowest
	// P is the smallest p-value. Adjusted is P corrected for the number of tests in the
	// report.
	P, Adjusted float64
	Worst       string // what the test with P saw
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

// Failed returns the checks that failed.
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

// MaxExamples is how many faults of a kind a report shows.
const MaxExamples = 5

// A Unique is the outcome of a search for IDs that are on more than one line.
type Unique struct {
	Format     string
	Status     Status // Fail if there are duplicates or bad lines, else Warn if interrupted
	Sources    []Source
	IDs        uint64      // read
	Compared   uint64      // of the IDs read; fewer if interrupted
	Duplicates uint64      // IDs on more than one line
	Extra      uint64      // lines beyond the first of each ID
	First      []Duplicate // the first duplicates
	Clashes    []Clash     // of scru64
	Elapsed    time.Duration

	Interrupted bool // whether the search ended early
}

// A Source is an input of the search.
type Source struct {
	Name       string
	Lines, IDs uint64
	Copied     bool      // whether it was sorted on disk
	Bad        uint64    // lines that are no IDs
	Examples   []Example // of bad lines
	Node       string    // for scru64: the node ID, or the bits that it begins with
	Error      string    // why it could not be read to its end
}

// A Duplicate is an ID on several lines.
type Duplicate struct {
	Text   string
	Count  uint64  // how many lines
	Places []Place // the first thousand of them
}

// A Place is a line of a source.
type Place struct {
	Source string
	Line   uint64
}

// A Clash is two sources of scru64 IDs that share IDs.
type Clash struct {
	Sources    [2]string // the same name twice if one source has IDs twice
	Node       string    // the node ID, or the bits that it begins with
	Duplicates uint64
}
