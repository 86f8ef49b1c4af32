package verify

import (
	"fmt"
	"strings"
	"time"
)

// A Status is the outcome of a check.
type Status string

const (
	Pass Status = "pass"
	Warn Status = "warn" // allowed, but hardly meant
	Fail Status = "fail"
	Skip Status = "skip" // nothing to judge by; Detail says why
)

// A Report is what [Check] has to say of one source.
type Report struct {
	Scheme string
	Source string // its name
	Status Status // Fail if any check failed, else Warn if any warns, else Pass

	Bytes, Lines, IDs uint64
	First, Last       time.Time // the earliest and the latest timestamp
	Facts             []Fact
	Checks            []Outcome
	Fields            []Field
	Timeline          Timeline
	Lead              []Lead // with Options.Live
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

// maxExamples is how many faults of a kind a report shows.
const maxExamples = 5

// A tally counts the faults that one check finds.
type tally struct {
	Outcome
	severity Status
	largest  uint64 // of some measure of the faults
}

// hit counts a fault and reports whether it is one to show.
func (t *tally) hit() bool {
	t.Count++
	return len(t.Examples) < maxExamples
}

func (t *tally) example(line uint64, text, format string, args ...any) {
	t.Examples = append(t.Examples, Example{line, text, fmt.Sprintf(format, args...)})
}

// skip says that the check could not be made, unless it found something nevertheless.
func (t *tally) skip(format string, args ...any) {
	if t.Count == 0 {
		t.Status, t.Detail = Skip, fmt.Sprintf(format, args...)
	}
}

// judge sets the status from the count.
func (t *tally) judge() {
	switch {
	case t.Count > 0:
		t.Status = t.severity
	case t.Status == "":
		t.Status = Pass
	}
}
