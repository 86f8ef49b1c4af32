// Package rules checks what a format promises besides order: counters, node IDs, fixed bits,
// sequences. The rules follow from the table of formats.
package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/randomness"
	"github.com/sortid/sortid/verify/report"
)

// Options describe a generator; see package verify.
type Options struct {
	Unordered, Stateless bool

	Nodes        []string
	CounterStart int
	Usage        string
	Extension    int
	NodeBits     int
}

// None means no bits; 0 means unknown.
const None = -1

// A Context has the rules' inputs and outputs.
type Context struct {
	*findings.List
	Options
	Format *format.Format
	Habits Habits // for other projects' formats
	Fields *randomness.Set
}

// Rules check what a format promises besides order.
type Rules struct {
	*Context
	nodes []scru64.NodeSpec // from the options

	candidates []format.Usage // the usages that the options allow
	pending    []lineID       // the first IDs, kept until the usage is inferred from them
	fixed      []*watched
	waiting    []format.Words // IDs whose random fields are not read yet
	usage      *usage         // nil until known
	common     *usage         // the first candidate

	step, repeat, overflow, carry *findings.Check // nil if not checked
	header, start, node           *findings.Check
	constant                      map[string]*findings.Check // by field
	counterKept                   *findings.Chance
	starts                        *starts
	renewal                       *renewal   // nil without an upper counter
	taken                         *taken     // nil without a partly random field
	sequences                     *sequences // nil if each tick restarts the counter

	sampled map[uint64]bool // if unordered, the ticks whose random fields were read

	known                            bool
	before                           head
	tickStart                        uint64 // counter at the tick's first ID
	changedBits                      uint64 // changed within a tick
	carries, overflows, guardCarries uint64
}

// Line 0 means a gap: Rules checks no step over it.
type lineID struct {
	id   format.Words
	line uint64
}

func (o *Options) layouts(f *format.Format) (usages []format.Usage, err error) {
	size := o.NodeBits
	if f.NodeCounter > 0 {
		if size != 0 {
			return nil, fmt.Errorf("a node spec of %s includes the size of the node ID: "+
				"do not set the size separately", f.Name)
		}
		if len(o.Nodes) == 1 {
			spec, err := scru64.ParseNodeSpec(o.Nodes[0])
			if err != nil {
				return nil, err
			}
			size = spec.NodeIDSize()
		}
	}
	all, err := f.Usages(size)
	for _, u := range all {
		if (o.Usage == "" || u.Name == o.Usage) &&
			(o.Extension == 0 || u.Extension == max(o.Extension, 0)) {
			usages = append(usages, u)
		}
	}
	if err == nil && len(usages) == 0 {
		err = fmt.Errorf("%s has no usage %q with an extension of %d bits", f.Name, o.Usage,
			max(o.Extension, 0))
	}
	return usages, err
}

// Validate returns an error if the options do not fit the format.
func (o *Options) Validate(f *format.Format) error {
	switch {
	case !f.HasTime():
		return fmt.Errorf("%s IDs carry no time, and only formats with a time can be verified",
			f.Name)
	case o.Stateless && !f.Stateless:
		return fmt.Errorf("%s has no stateless generators", f.Name)
	case len(o.Nodes) > 0 && f.NodeCounter == 0:
		return fmt.Errorf("%s has no node specs", f.Name)
	case len(o.Nodes) > 1 && !o.Unordered:
		return errors.New("only an unordered source can have several node specs")
	case o.CounterStart < None || o.CounterStart > 31:
		return fmt.Errorf("a counter cannot start with %d random bits", o.CounterStart)
	}
	for _, s := range o.Nodes {
		if _, err := scru64.ParseNodeSpec(s); err != nil {
			return err
		}
	}
	usages, err := o.layouts(f)
	switch {
	case err != nil:
		return err
	case o.CounterStart != 0 && !slices.ContainsFunc(usages[0].Layout, startsNarrow):
		return fmt.Errorf("in %s, the number of random bits in a new counter is fixed", f.Name)
	case (o.Usage != "" || o.Extension != 0) && usages[0].Name == "":
		return fmt.Errorf("%s has only one usage of its counter", f.Name)
	}
	return nil
}

func startsNarrow(f format.Field) bool {
	return f.Kind == format.KindCounter && (f.Start == format.StartHalf ||
		f.Start == format.StartGuard)
}

// CheckRaw returns an error if the format has no such random field.
func (o *Options) CheckRaw(f *format.Format, name string) error {
	usages, err := o.layouts(f)
	if err != nil {
		return err
	}
	var names []string
	for _, u := range usages {
		for _, field := range slices.Backward(u.Layout) {
			random := field.Kind == format.KindRandom || field.PartBits != "" ||
				field.Kind == format.KindCounter && field.Start != format.StartNever
			if random && !slices.Contains(names, field.Name) {
				names = append(names, field.Name)
			}
		}
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("%s has no random field %q; it has %s", f.Name, name,
			strings.Join(names, ", "))
	}
	return nil
}

// New returns a format's rules. [Options.Validate] must accept the options.
func New(c *Context) *Rules {
	r := &Rules{Context: c}
	for _, s := range c.Nodes {
		spec, _ := scru64.ParseNodeSpec(s)
		r.nodes = append(r.nodes, spec)
	}
	var err error
	if r.candidates, err = c.layouts(c.Format); err != nil {
		panic(err)
	}
	r.common = newUsage(r.Format, r.candidates[0])
	r.addFixed()
	if r.Format.NodeCounter > 0 && (len(r.nodes) > 0 || !r.Unordered) {
		r.node = r.check("node", "each ID has the right node ID")
	}
	if len(r.nodes) > 1 {
		r.checkPrefixes()
	}
	switch {
	case !r.Format.Generates():
		if !r.Unordered {
			r.addConstant()
		}
		r.observe(c.Habits)
		return r
	case !r.Unordered:
		r.addConstant()
		r.addCounter()
	}
	if len(r.candidates) == 1 || r.Unordered {
		r.use(r.candidates[0])
	}
	return r
}

func (r *Rules) addFixed() {
	for _, f := range r.candidates[0].Layout {
		if f.Kind == format.KindFixed && f.Name != "" {
			r.fixed = append(r.fixed, &watched{Field: f, place: f.Place(),
				check: r.check(f.Name, "the bits of the %s are %0*b", f.Name, f.Bits, f.Value)})
		}
	}
}

func (r *Rules) checkFixed(list []format.Words, line uint64) {
	for _, f := range r.fixed {
		for i := range list {
			if v := f.place.Of(&list[i]); v != f.Value {
				f.check.FoundID(line+uint64(i), &list[i], "the bits of the %s are %0*b", f.Name,
					f.Bits, v)
			}
		}
	}
}

// addConstant adds a check for each field that must stay the same or has a limit.
func (r *Rules) addConstant() {
	r.constant = map[string]*findings.Check{}
	for _, u := range r.candidates {
		for _, f := range u.Layout {
			switch {
			case r.constant[f.Name] != nil:
			case f.Kind == format.KindNode && r.Format.NodeCounter == 0:
				r.constant[f.Name] = r.check(f.Name, "the %s ID stays the same", f.Name)
			case f.Most > 0:
				r.constant[f.Name] = r.check(f.Name, "%s is at most %d", f.Name, f.Most)
			}
		}
	}
}

func (r *Rules) addCounter() {
	u := r.candidates[0] // all usages have the same kind of counter
	var names []string
	var counter format.Field
	for _, f := range u.Layout {
		switch {
		case f.Kind == format.KindCounter:
			names = append(names, f.Name)
			counter = f
		case f.PartBits != "":
			r.header = r.check("header", "the header stays the same within a tick")
		}
	}
	name, most := counter.Name, uint64(1)<<counter.Bits-1
	all := strings.Join(names, " and ")
	switch {
	case name == "":
		return
	case counter.Start == format.StartNever:
		r.step = r.check("step", "the %s goes up by one, or from %d to 0", name, most)
		r.overflow = r.check("overflow",
			"within a tick the %s does not go from %d back to 0", name, most)
		r.overflow.Severity = report.Warn
		r.sequences = &sequences{check: r.check(name, "no %s comes twice in a tick", name)}
		return
	}
	r.step = r.check("step", "%s goes up by one within a tick", all)
	r.repeat = r.check("repeat", "no two IDs have the same timestamp and %s", all)
	kept := "counter"
	if len(names) > 1 {
		kept = name
		r.carry = r.check("carry", "%s goes up when %s is full", names[0], name)
	} else {
		r.overflow = r.check("overflow",
			"a full %s does not start again within its tick, or change other fields", name)
	}
	r.counterKept = r.Chance("rules."+kept, name+" is renewed when the timestamp moves on", 1)
	if startsNarrow(counter) {
		r.start = r.check("start", "the %s starts with random bits, and not with too many", name)
	}
}

func (r *Rules) check(name, title string, args ...any) *findings.Check {
	return r.Check("rules."+name, fmt.Sprintf(title, args...))
}

// Each takes all IDs, on consecutive lines from line.
func (r *Rules) Each(list []format.Words, line uint64) {
	if r.usage == nil {
		r.waiting = append(r.waiting, list...)
	} else {
		r.usage.each(r, list)
		if r.Unordered && !r.Format.Generates() {
			r.usage.firsts(r, list)
		}
	}
	r.checkFixed(list, line)
	if len(r.nodes) > 0 {
		r.checkSpecs(list, line)
	}
	if r.sequences != nil {
		r.sequences.add(r, list, line)
	}
}

// Gap implements order.Sink.
func (r *Rules) Gap() {
	r.known = false
	if r.usage == nil {
		r.pending = append(r.pending, lineID{})
	}
}

// Restart implements order.Sink.
func (r *Rules) Restart() {
	r.Gap()
	if r.renewal != nil {
		r.renewal.forget()
	}
}
