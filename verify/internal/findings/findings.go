// Package findings collects the outcomes of checks, and decides by p-values which of them chance
// does not explain.
package findings

import (
	"fmt"
	"slices"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/report"
)

// Improbable is a probability. A less probable event is a fault, not chance.
const Improbable = 1e-8

// A List is one source's findings. The zero value is empty.
type List struct {
	Show func(integer.Words) string // returns the text of an ID, for examples

	checks  []*Check
	chances []*Chance
	facts   []report.Fact
}

// Check adds a check. Its title says what is true for a correct source, and wrong says what is true
// if the check finds a fault. If the check finds a fault, its status is its Severity, by default Fail.
func (l *List) Check(name, title, wrong string) *Check {
	c := &Check{Outcome: report.Outcome{Name: name, Title: title}, Severity: report.Fail,
		wrong: wrong, list: l}
	l.checks = append(l.checks, c)
	return c
}

// Chance adds a check for an event that correct generators also cause. In each try, such as a "tick",
// they cause the event with the given probability.
func (l *List) Chance(name, title, wrong, try string, probability float64) *Chance {
	c := &Chance{Check: l.Check(name, title, wrong), Try: try, Probability: probability}
	l.chances = append(l.chances, c)
	return c
}

func (l *List) Fact(name, format string, args ...any) {
	l.facts = append(l.facts, report.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
}

func (l *List) Facts() []report.Fact { return l.facts }

// JudgeChances finds the events that are too frequent to be chance.
func (l *List) JudgeChances() {
	for _, c := range l.chances {
		tries := words.Plural(c.Tries, c.Try)
		switch explained := float64(c.Tries) * c.Probability; {
		case c.Tries == 0:
			c.Skip("the input has too few ticks, or too few IDs in a tick")
		case c.Certain():
			c.Detail = fmt.Sprintf("expected by chance: only %.2g in %s", explained, tries)
		case c.Count > 0 && c.Warns:
			c.Severity = report.Warn
			c.Detail = fmt.Sprintf("expected by chance: %.2g in %s", explained, tries)
		case c.Count > 0:
			c.Detail = fmt.Sprintf("%s in %s; this can be chance", words.Times(c.Count), tries)
			c.Clear()
		}
	}
}

// SkipAll skips all checks that have found no fault, except the checks of the named groups.
func (l *List) SkipAll(reason string, except ...string) {
	for _, c := range l.checks {
		if !slices.Contains(except, c.Group()) {
			c.Skip("%s", reason)
		}
	}
}

// Yield skips the faults of the named groups' other checks, because the named check explains them.
func (l *List) Yield(name string, groups ...string) {
	for _, c := range l.checks {
		if c.Name != name && c.Count > 0 && slices.Contains(groups, c.Group()) {
			c.Clear()
			c.Skip("see %s", name)
		}
	}
}

func (l *List) Outcomes() (all []report.Outcome) {
	for _, c := range l.checks {
		switch {
		case c.Count > 0:
			c.Status, c.Finding = c.Severity, c.wrong
		case c.Status == "":
			c.Status = report.Pass
		}
		all = append(all, c.Outcome)
	}
	return all
}

// A Check counts faults of one kind.
type Check struct {
	report.Outcome
	Severity report.Status
	wrong    string
	list     *List
}

// Full reports whether the check keeps no more examples.
func (c *Check) Full() bool { return len(c.Examples) == report.MaxExamples }

// Found counts a fault on a line with this text.
func (c *Check) Found(line uint64, text, format string, args ...any) {
	c.Count++
	if !c.Full() {
		c.Examples = append(c.Examples, report.Example{Line: line, Text: text,
			Note: fmt.Sprintf(format, args...)})
	}
}

func (c *Check) FoundID(line uint64, id *integer.Words, format string, args ...any) {
	text := ""
	if !c.Full() {
		text = c.list.Show(*id)
	}
	c.Found(line, text, format, args...)
}

// Join adds the faults of another check. It adds the parameter line to their line numbers.
func (c *Check) Join(other *Check, line uint64) {
	c.Count += other.Count
	for _, e := range other.Examples {
		if !c.Full() {
			e.Line += line
			c.Examples = append(c.Examples, e)
		}
	}
}

func (c *Check) Clear() { c.Count, c.Examples = 0, nil }

// Skip records why the check was not made. It does nothing if the check has found a fault.
func (c *Check) Skip(format string, args ...any) {
	if c.Count == 0 {
		c.Status, c.Detail = report.Skip, fmt.Sprintf(format, args...)
	}
}

// A Chance is a check for an event that correct generators also cause, but rarely.
type Chance struct {
	*Check
	Try         string // what a try is, in the singular
	Tries       uint64
	Probability float64 // of the event in one try
	Warns       bool    // warn of the event even if chance explains it
}

// Certain reports whether there are more faults than chance explains.
func (c *Chance) Certain() bool {
	return AtLeast(c.Count, float64(c.Tries)*c.Probability) < Improbable
}
