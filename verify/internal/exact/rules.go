// Package exact tests what must hold without exception.
//
// [Repeats] looks for IDs that occur twice. [Order], [Times] and [Disorder] test the order of IDs,
// and [Clock] tests timestamps. [Rules] tests what else a format promises: counters, node IDs, fixed
// bits, sequences. Package format says which rules a format has. Chance can break a few rules, such
// as the renewal of a counter. For these, the test counts how often that happens.
package exact

import (
	"fmt"
	"slices"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/verify/internal/chance"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A Context has the arguments of [New]: what the rules check, and where they report findings.
type Context struct {
	Found   *findings.List
	Options Options
	Format  *sample.Format
	Habits  Habits
	Fields  *chance.Set
}

type Rules struct {
	*Context
	usage          spec.Usage
	nodes          []scru64.NodeSpec // From the options.
	node           *findings.Check   // Nil if node IDs are not checked.
	fixed          []watched
	watched        []watched
	randoms        []randomField
	mixed          *mixed          // Nil if no field has both data and random bits.
	counter        *counter        // Nil if the counter's steps are not checked.
	counterRepeats *counterRepeats // Nil if the counter restarts in each tick.
	firsts         firsts          // Used if counter is nil.
	digits         []*digitField   // Of a base that is no power of two.
	sequences      []sequence      // Of another project's format.
	byteOrders     []*byteOrder    // Of counters of whole bytes of another project's format.
}

// New returns the rules of c.Format. [Options.Validate] must accept c.Options.
func New(c *Context) *Rules {
	r := &Rules{Context: c, usage: c.Habits.Usage}
	for _, s := range c.Options.Nodes {
		spec, _ := scru64.ParseNodeSpec(s)
		r.nodes = append(r.nodes, spec)
	}
	usages, err := c.Options.layouts(c.Format)
	if err != nil {
		panic(err)
	}
	if r.usage.Layout == nil {
		r.usage = usages[0]
	}
	for _, f := range r.usage.Layout {
		if f.Kind == spec.KindFixed && f.Name != "" {
			r.fixed = append(r.fixed, watched{f, integer.PlaceOf(f.Low, f.Bits),
				r.check(f.Name, fmt.Sprintf("the bits of the %s are %0*b", f.Name, f.Bits, f.Value),
					fmt.Sprintf("the bits of the %s are not %0*b", f.Name, f.Bits, f.Value)), true})
		}
	}
	for _, d := range r.Format.Habits.Digits {
		r.digits = append(r.digits, newDigits(r, d))
	}
	if r.Format.Tick == 0 {
		if len(r.digits) == 0 {
			r.addRandoms()
		}
		return r
	}
	if r.Format.NodeCounter > 0 && (len(r.nodes) > 0 || !r.Options.Unordered) {
		r.node = r.check("node", "each ID has the right node ID", "IDs have a wrong node ID")
	}
	if len(r.nodes) > 1 {
		r.checkPrefixes()
	}
	if !r.Options.Unordered {
		r.watch(usages)
	}
	for _, f := range r.usage.Layout {
		if f.PartBits != "" {
			r.mixed = newMixed(r.Fields, f, r.usage.Layout)
		}
	}
	if r.Format.Generates {
		r.addRandoms()
	} else {
		r.addHabits()
		if !r.Options.Unordered {
			r.addSequences()
		}
	}
	if !r.Options.Unordered && r.Format.Generates {
		r.addCounter()
	}
	return r
}

func (c *Context) check(name, title, wrong string) *findings.Check {
	return c.Found.Check("rules."+name, title, wrong)
}

// watch adds a check for each field that must not change, or has a largest value, in one of the
// usages.
func (r *Rules) watch(usages []spec.Usage) {
	checks := map[string]*findings.Check{}
	for _, u := range usages {
		for _, f := range watchedIn(u.Layout) {
			switch {
			case checks[f.Name] != nil:
			case f.Most > 0:
				checks[f.Name] = r.check(f.Name, fmt.Sprintf("%s is at most %d", f.Name, f.Most),
					fmt.Sprintf("%s is more than %d", f.Name, f.Most))
			case r.Format.NodeCounter == 0:
				checks[f.Name] = r.check(f.Name, "the "+f.Name+" ID stays the same",
					"the "+f.Name+" ID changes")
			}
		}
	}
	for _, name := range r.Habits.Changing {
		checks[name].Skip("the field changes from ID to ID, and the format allows that")
	}
	for _, f := range watchedIn(r.usage.Layout) {
		f.check = checks[f.Name]
		if f.check != nil && !slices.Contains(r.Habits.Changing, f.Name) {
			r.watched = append(r.watched, f)
		}
	}
}

func (r *Rules) addRandoms() {
	for _, f := range r.usage.Layout {
		if f.Kind == spec.KindRandom {
			r.randoms = append(r.randoms, newRandom(r.Fields, f))
		}
	}
	for _, f := range r.randoms {
		for _, half := range f.fields {
			half.Unordered = r.Options.Unordered && r.Format.Tick == 0
		}
	}
	if !r.Options.Stateless {
		return
	}
	for _, f := range slices.Backward(r.usage.Layout) {
		if f.Kind == spec.KindCounter {
			r.randoms = append(r.randoms, newRandom(r.Fields, f))
		}
	}
}

// CheckAny checks what does not depend on order. The IDs are on consecutive lines.
func (r *Rules) CheckAny(list []integer.Words, line uint64) {
	for i := range r.randoms {
		r.randoms[i].add(list)
	}
	r.addDigits(list)
	if r.mixed != nil {
		r.mixed.count(list)
		if r.Options.Stateless {
			r.mixed.addAll(list)
		}
	}
	if r.Options.Unordered {
		r.firsts.add(list)
	}
	for i := range r.fixed {
		r.fixed[i].judge(list, line)
	}
	if len(r.nodes) > 0 {
		r.checkSpecs(list, line)
	}
	if r.counterRepeats != nil {
		r.counterRepeats.add(list, line)
	}
}

// Run checks IDs in order, on consecutive lines. The caller must first call CheckAny with these
// IDs.
func (r *Rules) Run(list []integer.Words, line uint64) {
	for i := range r.watched {
		r.watched[i].judge(list, line)
	}
	if r.counter != nil {
		r.counter.run(list, line)
	} else {
		r.firsts.add(list)
	}
	for i := range r.sequences {
		r.sequences[i].run(list, line)
	}
	for _, b := range r.byteOrders {
		b.run(list, line)
	}
}

func (r *Rules) Gap() {
	r.firsts.known = false
	for i := range r.sequences {
		r.sequences[i].known = false
	}
	for _, b := range r.byteOrders {
		b.known = false
	}
	if r.counter != nil {
		r.counter.known = false
	}
}

func (r *Rules) Restart() {
	r.Gap()
	if r.counter != nil && r.counter.renewal != nil {
		r.counter.renewal.since = never
	}
}

func (r *Rules) Back(before, v *integer.Words, line uint64) Step {
	if r.counter == nil {
		if r.Format.Timestamp(before) == r.Format.Timestamp(v) &&
			(r.Habits.Wraps.permits(before, v) || highestBit(*before, *v) < r.Habits.Free) {
			return Continue
		}
		return Unknown
	}
	return r.counter.back(before, v, line)
}

// Finish ends the checks. The parameter falls is how many IDs were not larger than the previous ID,
// if all IDs must increase.
func (r *Rules) Finish(falls uint64) {
	if r.Format.Tick != 0 && !r.Format.Generates && !r.Options.Unordered {
		r.Found.Fact("order", "%s", r.order(falls))
	}
	if r.usage.Title != "" && !r.Options.Unordered {
		r.Found.Fact("usage", "%s", r.usage.Title)
	}
	for _, w := range r.watched {
		if w.Most == 0 && w.known {
			r.Found.Fact(w.Name+" ID", "%d (%s)", w.Value, words.Plural(uint64(w.Bits), "bit"))
		}
	}
	if len(r.nodes) == 1 && !r.Options.Unordered {
		r.Found.Fact("node", "%d/%d", r.nodes[0].NodeID(), r.nodes[0].NodeIDSize())
	}
	if r.counter != nil && r.counter.starts != nil {
		r.counter.concludeStarts()
	}
	r.firsts.finish()
	for _, b := range r.byteOrders {
		b.finish()
	}
	if r.mixed != nil {
		r.mixed.report(r.Found)
	}
	if r.counter != nil {
		r.counter.countCarries()
	}
	if _, err := r.Format.Usages(1); err == nil && r.Format.Generates &&
		r.Format.NodeCounter == 0 && !r.Options.Unordered && r.Options.NodeBits == 0 {
		for _, f := range r.randoms {
			f.hintNode(r.Found)
		}
	}
}

func (r *Rules) checkPrefixes() {
	t := r.check("prefix", "no node ID is a prefix of another node ID",
		"node IDs are prefixes of other node IDs")
	for i, a := range r.nodes {
		for _, b := range r.nodes[:i] {
			size := min(a.NodeIDSize(), b.NodeIDSize())
			if a.NodeID()>>(a.NodeIDSize()-size) == b.NodeID()>>(b.NodeIDSize()-size) {
				t.Found(0, fmt.Sprintf("%d/%d", a.NodeID(), a.NodeIDSize()), "clashes with %d/%d",
					b.NodeID(), b.NodeIDSize())
			}
		}
	}
}

// checkSpecs needs node specs, because an ID does not show the size of its node ID.
func (r *Rules) checkSpecs(list []integer.Words, line uint64) {
	for i := range list {
		v := scru64.ID(list[i].Low)
		if !slices.ContainsFunc(r.nodes, func(s scru64.NodeSpec) bool {
			return v.NodeID(s.NodeIDSize()) == s.NodeID()
		}) {
			r.node.FoundID(line+uint64(i), &list[i],
				"its node ID is not among the given node specs")
		}
	}
}
