package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/chance"
	"github.com/sortid/sortid/verify/internal/exact"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

type checker struct {
	f      *sample.Format
	timed  *sample.Format // has the time: f, or the format of the IDs inside. Nil if not yet known.
	o      Options
	report report.Report

	found    findings.List
	fields   chance.Set
	forms    [sample.FaultCount]*findings.Check
	reserved *findings.Check // nil if the format reserves no timestamp
	text     *findings.Check // nil if the format's texts do not sort like its IDs
	input    *findings.Check

	held   []held             // the first IDs, until the sample is full
	sample *exact.HabitSample // infers how the generator uses the format

	repeats *exact.Repeats // Nil while IDs are held, or if IDs are only times.

	// One of these fields is set if IDs have a time.
	order    *exact.Order    // If all IDs must increase.
	times    *exact.Times    // If only times must be in order.
	disorder *exact.Disorder // If Options.Unordered is set.

	rollback    *findings.Check // Nil if Options.Unordered is set, or if IDs have no time.
	clock       *exact.Clock    // Nil if IDs have no time.
	rules       *exact.Rules    // Nil while IDs are held.
	previous    integer.Words
	encoding    spec.Encoding // of the previous ID; empty before the first ID
	intEncoding bool
	gap         bool // a line without an ID follows the previous ID
	lastShown   time.Time
}

func newChecker(f *spec.Format, o Options) (*checker, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	timed := usualTimed(f)
	if err := o.validate(timed); err != nil {
		return nil, &sortid.OptionError{Format: "verify", Err: err}
	}
	if timed.Tick == 0 && (o.Live || !o.From.IsZero() || !o.To.IsZero()) {
		return nil, &sortid.OptionError{Format: "verify", Err: fmt.Errorf(
			"%s IDs have no time that a clock or a limit could be compared with", f.Name)}
	}
	o.Unordered = o.Unordered || o.Stateless
	c := &checker{f: sample.FormatOf(f), o: o,
		report: report.Report{Format: f.Name, Source: o.Source}}
	if o.Raw != "" {
		c.fields.WriteRaw(o.Raw, o.RawTo)
	}
	c.found.Show = c.show
	c.input = c.found.Check("input.read", "the input can be read to its end",
		"the input could not be read to its end")
	for i := range c.forms {
		fault := sample.Fault(i)
		if !fault.Possible(f) {
			c.forms[i] = new(findings.Check) // impossible, and never reported
			continue
		}
		c.forms[i] = c.found.Check(fault.Check())
		if fault.Tolerable() {
			c.forms[i].Severity = report.Warn
		}
	}
	if f.Reserved {
		c.reserved = c.found.Check("form.reserved", "no ID has a reserved timestamp",
			"IDs have a reserved timestamp")
	}
	if f.Text.Sorts {
		c.text = c.found.Check("order.text", "texts sort in the order of their IDs",
			"texts do not sort in the order of their IDs")
	}
	if !sample.Boxed(f) || o.Raw != "" || o.Live || !o.From.IsZero() || !o.To.IsZero() {
		c.start(timed) // otherwise, the first IDs show the format inside
	}
	return c, nil
}

// usualTimed returns the format whose fields have the time, as most generators use the format.
func usualTimed(f *spec.Format) *sample.Format {
	return sample.FormatOf(cmp.Or(sample.Timed(f), f))
}

// look learns the format of the IDs inside from the first IDs.
func (c *checker) look(first []integer.Words) {
	first = first[:min(len(first), maxFirst)]
	inner := usualTimed(c.f.Format)
	counts := map[*spec.Format]int{}
	swapped := 0
	for i := range first {
		f := c.f.Inner(&first[i])
		if counts[f]++; f != nil && counts[f] > counts[inner.Format] {
			inner = sample.FormatOf(f)
		}
		if w, err := c.f.ParseAs(spec.Text, swapCase(c.f.In(first[i], spec.Text))); err == nil &&
			c.f.Inner(&w) != nil {
			swapped++
		}
	}
	c.found.Fact("inside", "%s", inner.Title)
	if swapped > 2*counts[inner.Format] && 10*swapped >= 9*len(first) {
		c.found.Fact("hint", "small letters seem to come before capitals in the alphabet, "+
			"but not in this format's")
	}
	c.start(inner)
}

func swapCase(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r ^ 0x20
		}
		return r
	}, text)
}

const maxFirst = 64

// start adds the checks of the format that has the time.
func (c *checker) start(timed *sample.Format) {
	c.timed = timed
	o := &c.o
	if timed.Tick == 0 {
		c.begin(exact.Habits{})
		return
	}
	if !o.Unordered {
		c.rollback = c.found.Check("clock.rollback", "timestamps do not go back",
			"timestamps go back")
	}
	c.clock = exact.NewClock(timed, &c.found, exact.ClockOptions{
		Now: o.Now, From: o.From, To: o.To, Unordered: o.Unordered, Live: o.Live,
	})
	if r := o.rules(); r.Open(timed) {
		c.sample = exact.NewHabitSample(timed, &r)
	} else {
		c.begin(exact.Habits{})
	}
}

type held struct {
	list    []integer.Words
	segment sample.Segment
}

// observe infers how the generator works, and then checks the held IDs.
func (c *checker) observe() {
	o := c.o.rules()
	c.begin(c.sample.Habits(&o))
	all := c.held
	c.held = nil
	for _, h := range all {
		c.checkSegment(h.list, h.segment)
	}
}

func (c *checker) begin(h exact.Habits) {
	f, o := c.timed, c.o.rules()
	o.NodeBits = cmp.Or(o.NodeBits, h.NodeBits)
	c.rules = exact.New(&exact.Context{Found: &c.found, Options: o, Format: f,
		Habits: h, Fields: &c.fields})
	c.repeats = exact.NewRepeats(c.rules)
	switch {
	case f.Tick == 0:
	case c.o.Unordered:
		c.disorder = exact.NewDisorder(f)
	case f.Generates || h.Rising:
		c.order = exact.NewOrder(f, sink{c.rules, c.clock}, &c.found, c.rollback)
	default:
		c.times = exact.NewTimes(f, c.rollback)
	}
}

func (c *checker) show(v integer.Words) string {
	return c.f.InEncoding(v, cmp.Or(c.encoding, c.f.Encodings[0]))
}

func (c *checker) readFailed(err error) {
	c.input.Count++
	c.input.Detail = err.Error()
}

func (c *checker) block(b *sample.Block) {
	line := c.report.Lines + 1
	c.report.Bytes += uint64(b.Bytes)
	c.report.Lines += b.Lines
	c.report.IDs += uint64(len(b.IDs))
	for i := range b.Faults {
		c.forms[i].Join(&b.Faults[i], line)
	}
	if c.timed == nil && len(b.IDs) > 0 {
		c.look(b.IDs)
	}
	for i, s := range b.Segments {
		s.Line += line
		c.checkSegment(b.Segment(i), s)
	}
	c.gap = b.EndsBad || c.gap && len(b.Segments) == 0
	if len(b.IDs) > 0 && c.clock != nil {
		c.clock.Received(b.IDs[len(b.IDs)-1], b.At, c.report.Lines)
	}
	if c.o.Progress != nil && b.At.Sub(c.lastShown) > 200*time.Millisecond {
		c.lastShown = b.At
		c.o.Progress(Progress{c.report.Bytes, c.report.Lines, c.report.IDs})
	}
}

// checkSegment checks IDs. s.Line is the line of the first ID, counted from the start of the input.
func (c *checker) checkSegment(list []integer.Words, s sample.Segment) {
	s.Gap = s.Gap || c.gap
	c.gap = false
	if c.rules == nil {
		c.held = append(c.held, held{slices.Clone(list), s})
		if c.sample.Add(list, s); c.sample.Full() {
			c.observe()
		}
		return
	}
	if s.Gap && c.encoding != "" && c.order != nil {
		c.order.Gap()
	}
	c.encoding = cmp.Or(c.encoding, s.Encoding)
	c.intEncoding = c.intEncoding || s.Encoding == spec.Int
	if s.Encoding != c.encoding {
		if c.text != nil {
			c.text.Found(s.Line, c.f.InEncoding(list[0], s.Encoding),
				"has the encoding %s, but the lines before have the encoding %s", s.Encoding,
				c.encoding)
		}
		c.encoding = s.Encoding
	}
	if c.reserved != nil {
		c.findReserved(list, s.Line, s.Rising)
	}
	c.passOn(list, s.Line, s.Rising)
	if c.repeats != nil {
		c.repeats.Feed(list, s.Line, s.Rising)
	}
	switch {
	case c.disorder != nil:
		c.disorder.Feed(list, s.Line)
		c.clock.Feed(list, s.Line, s.Rising)
	case c.times != nil:
		c.times.Feed(list, s.Line)
		c.clock.Feed(list, s.Line, s.Rising)
		c.rules.Run(list, s.Line)
	case c.order != nil:
		c.order.Feed(list, s.Line, s.Rising)
	}
}

// passOn passes IDs to the rules. It omits an ID that equals the previous ID, because a copy has no
// new random bits.
func (c *checker) passOn(list []integer.Words, line uint64, rising bool) {
	if rising && list[0] != c.previous {
		c.rules.CheckAny(list, line)
		c.previous = list[len(list)-1]
		return
	}
	start, previous := 0, c.previous
	for i, v := range list {
		if v == previous {
			c.rules.CheckAny(list[start:i], line+uint64(start))
			start = i + 1
		}
		previous = v
	}
	c.rules.CheckAny(list[start:], line+uint64(start))
	c.previous = previous
}

func (c *checker) findReserved(list []integer.Words, line uint64, rising bool) {
	f, last := c.f, c.f.LastTimestamp()
	if rising && f.Timestamp(&list[0]) != 0 && f.Timestamp(&list[len(list)-1]) != last {
		return
	}
	for i := range list {
		if ts := f.Timestamp(&list[i]); ts == 0 || ts == last {
			c.reserved.FoundID(line+uint64(i), &list[i], "timestamp %d", ts)
		}
	}
}

type sink struct {
	*exact.Rules
	clock *exact.Clock
}

func (s sink) Accept(list []integer.Words, line uint64) {
	s.clock.Feed(list, line, true)
	s.Run(list, line)
}

func (c *checker) finish() *report.Report {
	r := &c.report
	if c.timed == nil {
		c.start(usualTimed(c.f.Format))
	}
	if c.rules == nil {
		c.observe()
	}
	falls := uint64(0)
	if c.order != nil {
		falls = c.order.Finish()
	}
	if c.repeats != nil {
		c.repeats.Finish()
	}
	c.rules.Finish(falls)
	if c.clock != nil {
		c.clock.Finish(r)
	}
	if c.disorder != nil {
		c.disorder.Report(&c.found)
	}
	if c.text != nil && c.intEncoding {
		c.text.Skip("decimal integers do not sort as texts")
	}
	c.found.JudgeChances()
	r.Fields = c.fields.Judge(&c.found)
	if c.o.Sources != nil {
		c.o.Sources.compare(c, cmp.Or(c.o.Source, "standard input"))
	}
	if err := c.fields.Flush(); err != nil {
		c.readFailed(err)
	}
	if c.clock != nil && c.clock.Misread() != "" {
		c.found.Yield(c.clock.Misread(), "order", "rules", "clock", "random")
	}
	none := c.found.Check("input.ids", "there are IDs in the input",
		"there are no IDs in the input")
	switch {
	case r.Lines == 0:
		none.Count++
		none.Detail = "the input is empty"
		c.found.SkipAll("the input is empty")
	case r.IDs == 0:
		none.Count++
		none.Detail = fmt.Sprintf("none of %s is a %s ID", words.Plural(r.Lines, "line"), c.f.Name)
		c.found.SkipAll("there are no IDs", "input", "form")
	}
	r.Facts = c.found.Facts()
	r.Checks = c.found.Outcomes()
	r.Status = report.Pass
	for _, o := range r.Checks {
		if o.Status == report.Fail || o.Status == report.Warn && r.Status == report.Pass {
			r.Status = o.Status
		}
	}
	slices.SortStableFunc(r.Checks, func(a, b report.Outcome) int {
		return groupIndex(a) - groupIndex(b)
	})
	return r
}

func groupIndex(o report.Outcome) int {
	return slices.IndexFunc(report.Groups(),
		func(g report.Group) bool { return g.Name == o.Group() })
}
