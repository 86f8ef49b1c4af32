package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/verify/internal/pvalue"
	"github.com/sortid/sortid/verify/internal/words"
)

// A checker gathers what is found in one source. It is given the blocks in their order.
type checker struct {
	f      *format
	o      Options
	report Report

	tallies  []*tally
	chances  []*chance
	fields   []*field
	raw      *bitWriter // of Options.Raw; nil: none
	form     [formChecks]*tally
	reserved *tally
	text     *tally
	input    *tally

	order     *order    // nil with Options.Unordered
	late      *lateness // nil without
	clock     *clock
	rules     rules
	last      id
	textLen   int    // of the last ID
	next      uint64 // the line after that
	lastShown time.Time
}

func newChecker(f *format, o Options) (*checker, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Stateless {
		if f != &formatSCRU128 && f != &formatEUID {
			return nil, fmt.Errorf("%w: %s has no stateless generators", ErrOption, f.name)
		}
		o.Unordered = true
	}
	if err := o.check(f); err != nil {
		return nil, err
	}
	c := &checker{f: f, o: o, report: Report{Scheme: f.name, Source: o.Source}}
	if o.Raw != "" {
		c.raw = &bitWriter{w: o.RawTo}
	}
	c.input = c.tally("input.read", "the input can be read to its end", Fail)
	for i, title := range [formChecks]string{
		formLength:      "each line is as long as an ID",
		formSymbol:      "each character is a digit of the encoding",
		formRange:       "the digits denote no larger number than an ID may be",
		formCheckSymbol: "the check symbols are those of the ID",
		formOther:       "no line is an ID of another format",
		formRoundTrip:   "each text is the one that its ID is written as",
		formCase:        "letters are in the case that the format prefers",
		formLineEnd:     "lines end with LF alone",
		formBlank:       "no line is empty",
	} {
		severity := Fail
		if i >= formCase {
			severity = Warn
		}
		if i == formRange && !f.has("range") || i == formCheckSymbol && !f.has("check") {
			c.form[i] = new(tally) // never hit
			continue
		}
		c.form[i] = c.tally("form."+formNames[i], title, severity)
	}
	if f.reserved {
		c.reserved = c.tally("form.reserved", "no ID has a reserved timestamp", Fail)
	}
	if f.sorts {
		c.text = c.tally("order.text", "texts sort as their IDs do", Fail)
	}
	if o.Unordered {
		c.late = newLateness(f)
	} else {
		c.order = newOrder(c)
	}
	c.rules = f.newRules(c)
	c.clock = newClock(c)
	return c, nil
}

// check refuses options that do not fit the format.
func (o *Options) check(f *format) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...)
	}
	switch {
	case len(o.Nodes) > 0 && f != &formatSCRU64:
		return wrong("%s has no node specs", f.name)
	case o.badNode() != nil:
		return wrong("%w", o.badNode())
	case len(o.Nodes) > 1 && !o.Unordered:
		return wrong("several node specs are for unordered sources")
	case o.CounterStart != 0 && f != &formatSCRU64 && f != &formatSCRU160:
		return wrong("%s has no counter whose start has a width of its own", f.name)
	case o.CounterStart < Zero || o.CounterStart > 31:
		return wrong("a counter start of %d bits", o.CounterStart)
	case o.Usage != "" && f != &formatSCRU160, o.Extension != 0 && f != &formatSCRU160:
		return wrong("%s has one usage of its counter only", f.name)
	case o.Usage != "" && o.Usage != UsageDefault && o.Usage != UsageMicroseconds:
		return wrong("usage %q, want %q or %q", o.Usage, UsageDefault, UsageMicroseconds)
	case o.Extension < Zero || o.Extension > 16:
		return wrong("an extension of %d bits, want at most 16", o.Extension)
	case o.Usage == UsageMicroseconds && o.Extension > 0:
		return wrong("the microseconds' counter has no extension")
	case o.NodeBits != 0 && f != &formatSCRU160 && f != &formatUID60:
		return wrong("%s has no node ID of its own", f.name)
	case o.NodeBits < 0 || o.NodeBits+max(o.Extension, 0) > 16 || f == &formatUID60 && o.NodeBits > 9:
		return wrong("a node ID of %d bits", o.NodeBits)
	case !o.From.IsZero() && !o.To.IsZero() && o.To.Before(o.From):
		return wrong("the latest possible time is before the earliest")
	case o.Raw != "" && !slices.Contains(f.fields, o.Raw):
		return wrong("no random field %q in %s; there is %s", o.Raw, f.name, strings.Join(f.fields, ", "))
	case o.Raw != "" && o.RawTo == nil:
		return wrong("nowhere to write the bits of %s", o.Raw)
	}
	return nil
}

func (o *Options) badNode() error {
	for _, s := range o.Nodes {
		if _, err := scru64.ParseNodeSpec(s); err != nil {
			return err
		}
	}
	return nil
}

func (f *format) has(check string) bool {
	return slices.ContainsFunc(f.reasons, func(r reason) bool { return r.check == check })
}

// tally makes a check, in the order of the report.
func (c *checker) tally(name, title string, severity Status) *tally {
	t := &tally{Outcome: Outcome{Name: name, Title: title}, severity: severity}
	c.tallies = append(c.tallies, t)
	return t
}

// A chance is a check of something that a sound generator does now and then by chance.
type chance struct {
	*tally
	tries       uint64
	probability float64 // of a hit in one try
}

// improbable is how improbable an event must be to be no chance.
const improbable = 1e-8

func (c *checker) chance(name, title string, probability float64) *chance {
	t := &chance{c.tally(name, title, Fail), 0, probability}
	c.chances = append(c.chances, t)
	return t
}

// certain reports whether there were more hits than chance explains.
func (t *chance) certain() bool {
	return pvalue.AtLeast(t.Count, float64(t.tries)*t.probability) < improbable
}

func (t *chance) judge() {
	if t.tries == 0 {
		t.skip("nothing in the stream calls for it")
		return
	}
	expected := float64(t.tries) * t.probability
	if !t.certain() {
		if t.Count > 0 {
			t.Detail = fmt.Sprintf("%s in %s cases, as chance may have it", words.Times(t.Count), words.Count(t.tries))
		}
		t.Count, t.Examples = 0, nil
		return
	}
	t.Detail = fmt.Sprintf("of %s cases; chance explains %.2g", words.Count(t.tries), expected)
}

// field makes a field to be tested for randomness.
func (c *checker) field(name string, width int) *field {
	f := newField(name, width)
	if name == c.o.Raw {
		f.raw = c.raw
	}
	c.fields = append(c.fields, f)
	return f
}

func (c *checker) fact(name, format string, args ...any) {
	c.report.Facts = append(c.report.Facts, Fact{name, fmt.Sprintf(format, args...)})
}

// show returns an ID's text for an example.
func (c *checker) show(v id) string { return c.f.text(v, c.textLen) }

func (c *checker) readFailed(err error) {
	c.input.hit()
	c.input.Detail = err.Error()
}

// block takes the next block of the input.
func (c *checker) block(b *block) {
	line := c.report.Lines + 1
	c.report.Bytes += uint64(len(b.text))
	c.report.Lines += b.lines
	c.report.IDs += uint64(len(b.ids))
	for i, n := range b.forms.count {
		t := c.form[i]
		t.Count += n
		for _, e := range b.forms.examples[i] {
			if len(t.Examples) < maxExamples {
				e.Line += line
				t.Examples = append(t.Examples, e)
			}
		}
	}
	for i, s := range b.segments {
		s.line += line
		c.segment(b.of(i), s)
	}
	c.clock.received(b)
	if c.o.Progress != nil && b.at.Sub(c.lastShown) > 200*time.Millisecond {
		c.lastShown = b.at
		c.o.Progress(Progress{c.report.Bytes, c.report.Lines, c.report.IDs})
	}
}

// segment takes the IDs of a segment, whose line is that of the input.
func (c *checker) segment(ids []id, s segment) {
	line, length := s.line, s.length
	if c.textLen == 0 {
		c.textLen, c.next = length, line
	}
	if line != c.next && c.order != nil {
		c.order.gap()
	}
	c.next = line + uint64(len(ids))
	if length != c.textLen && c.f.sorts {
		if c.text.hit() {
			c.text.example(line, c.f.text(ids[0], length), "%d characters, in another encoding than the %d of the lines before", length, c.textLen)
		}
		c.textLen = length
	}
	if c.reserved != nil {
		c.findReserved(ids, line, s.rises)
	}
	c.each(ids, line, s.rises)
	if c.order == nil {
		c.late.run(ids, line)
		c.clock.run(ids, line, s.rises)
		return
	}
	c.order.feed(ids, line, s.rises)
}

// each gives the rules all IDs but those that are the same as the one before: a line
// written twice says nothing of the random bits.
func (c *checker) each(ids []id, line uint64, rising bool) {
	if rising && ids[0] != c.last {
		c.rules.each(ids, line)
		c.last = ids[len(ids)-1]
		return
	}
	start, last := 0, c.last
	for i, v := range ids {
		if v == last {
			c.rules.each(ids[start:i], line+uint64(start))
			start = i + 1
		}
		last = v
	}
	c.rules.each(ids[start:], line+uint64(start))
	c.last = last
}

func (c *checker) findReserved(ids []id, line uint64, rising bool) {
	last, shift := c.f.last, c.f.shift
	if rising && ids[0].hi>>shift != 0 && ids[len(ids)-1].hi>>shift != last {
		return
	}
	for i := range ids {
		if ts := ids[i].hi >> shift; (ts == 0 || ts == last) && c.reserved.hit() {
			c.reserved.example(line+uint64(i), c.show(ids[i]), "timestamp %d", ts)
		}
	}
}

// accept takes IDs that are, for all that order tells, where they belong. They increase.
func (c *checker) accept(ids []id, line uint64) {
	c.clock.run(ids, line, true)
	c.rules.run(ids, line)
}

// finish draws the conclusions.
func (c *checker) finish() *Report {
	if c.order != nil {
		c.order.finish()
	}
	c.rules.finish()
	c.clock.finish()
	if c.late != nil {
		c.late.report(c)
	}
	empty := c.tally("input.ids", "there are IDs in the input", Fail)
	if c.report.IDs == 0 {
		empty.hit()
		switch c.report.Lines {
		case 0:
			empty.Detail = "the input is empty"
		default:
			empty.Detail = fmt.Sprintf("none of %s is a %s ID", words.Plural(c.report.Lines, "line"), c.f.name)
		}
	}
	for _, t := range c.chances {
		t.judge()
	}
	c.random()
	if err := c.raw.flush(); err != nil {
		c.readFailed(fmt.Errorf("cannot write the bits of %s: %w", c.o.Raw, err))
	}

	r := &c.report
	r.Status = Pass
	for _, t := range c.tallies {
		t.judge()
		if t.Status == Fail || t.Status == Warn && r.Status == Pass {
			r.Status = t.Status
		}
		r.Checks = append(r.Checks, t.Outcome)
	}
	groups := []string{"input", "form", "order", "rules", "clock", "random"}
	slices.SortStableFunc(r.Checks, func(a, b Outcome) int {
		return slices.Index(groups, a.Group()) - slices.Index(groups, b.Group())
	})
	return r
}
