// Package report holds what package verify and package duplicates find, and writes it:
// for people as text or as a page of HTML, for machines as JSON or as JUnit's XML.
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
	Warn Status = "warn" // allowed, but hardly meant
	Fail Status = "fail"
	Skip Status = "skip" // the check was not made; Detail says why
)

// A Report is what was found in one source.
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

// A Fact is something that the IDs tell of their generator.
type Fact struct{ Name, Value string }

// An Outcome is one question about the source and its answer.
type Outcome struct {
	Name     string // group and name, such as order.duplicate
	Title    string // what is right
	Status   Status
	Count    uint64 // faults
	Detail   string
	Examples []Example // the first faults
}

// Group returns the first part of the check's name: input, form, order, rules, clock or
// random.
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

// A Field is what the tests of randomness found in a field.
type Field struct {
	Name   string
	Width  int    // in bits
	Values uint64 // that were tested
	// Bias is how far from one half the probability of a bit can be and almost
	// certainly (in 99 of 100 cases) be found out, with as many values; 0 if no bias
	// would be.
	Bias float64
	Ones []float64 // the share of ones, from the highest bit to the lowest
	// P is the smallest of the p-values, and Adjusted that times the number of tests
	// in the whole report that it competes with.
	P, Adjusted float64
	Worst       string // what that smallest one is about
	Tests       int
}

// A Timeline is how many IDs there are of each time.
type Timeline struct {
	Start time.Time
	Step  time.Duration
	Count []uint64
}

// A Lead is how far the newest ID was ahead of the clock of this machine.
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

// Check returns the check of a name, or nil.
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
	Status     Status // Fail if there are duplicates, or lines that are no IDs; else Warn if interrupted
	Sources    []Source
	IDs        uint64      // that were read
	Compared   uint64      // of these, those that were compared; fewer than IDs if interrupted
	Duplicates uint64      // IDs on more than one line
	Extra      uint64      // lines beyond the first of each ID
	First      []Duplicate // the first duplicates
	Clashes    []Clash     // of scru64
	Elapsed    time.Duration

	Interrupted bool // whether the search was ended before its time
}

// A Source is one of the inputs that were searched.
type Source struct {
	Name       string
	Lines, IDs uint64
	Copied     bool      // whether it was sorted on disk, as its IDs are not in order
	Bad        uint64    // lines that are no IDs
	Examples   []Example // of these
	Node       string    // for scru64: the bits that all its IDs have in front of the counter
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

// A Clash is two sources of scru64 IDs with the same node ID and some of the same IDs.
type Clash struct {
	Sources    [2]string // twice the same name for IDs that one source has twice
	Node       string    // the node ID, or the bits that it begins with
	Duplicates uint64
}
