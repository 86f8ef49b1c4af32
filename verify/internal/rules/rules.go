// Package rules checks what each format promises beyond the order of its IDs: counters,
// node IDs, headers, sequences.
package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/ids"
	"github.com/sortid/sortid/verify/internal/order"
	"github.com/sortid/sortid/verify/internal/randomness"
)

// Options say what is known of a generator. See the options of package verify.
type Options struct {
	Unordered, Stateless bool

	Nodes        []string
	CounterStart int
	Usage        string
	Extension    int
	NodeBits     int
}

// Zero is the value of an option that means none, where 0 means unknown.
const Zero = -1

// The usages of scru160's counter.
const (
	UsageDefault      = "default"
	UsageMicroseconds = "microseconds"
)

// Rules check what a format promises beyond order.
type Rules interface {
	// Each takes all IDs, in the order of their lines, the first being the one on the
	// given line.
	Each(list []ids.ID, line uint64)
	// Run takes IDs that strictly increase, the first being the one on the given line
	// and each the successor of the one before. It is called after Each.
	Run(list []ids.ID, line uint64)
	// Back, Gap and Restart are those of an order.Sink.
	Back(before, v ids.ID, line uint64) order.Step
	Gap()
	Restart()
	// Finish draws the conclusions at the end.
	Finish()
}

// A Context is what the rules of all formats work with.
type Context struct {
	*findings.List
	Options
	Fields *randomness.Set
	Show   func(ids.ID) string // the text of an ID for an example
}

// New returns the rules of a format. The options must be valid.
func New(f *ids.Format, c *Context) Rules {
	switch f.Format {
	case format.SCRU64:
		return newSCRU64(c)
	case format.SCRU128:
		return newSCRU128(c)
	case format.SCRU160:
		return newSCRU160(c)
	case format.EUID:
		return newEUID(c)
	}
	return newUID60(c)
}

// randomFields are the fields of each format whose bits are tested for randomness.
var randomFields = map[*format.Format][]string{
	format.SCRU64:  {"counter"},
	format.SCRU128: {"entropy", "counter_lo", "counter_hi"},
	format.SCRU160: {"random80", "random16", "counter"},
	format.EUID:    {"random_low", "random_high", "header"},
	format.UID60:   {"random"},
}

// CheckRaw returns an error if the format has no random field of the name.
func CheckRaw(f *ids.Format, name string) error {
	if fields := randomFields[f.Format]; !slices.Contains(fields, name) {
		return fmt.Errorf("no random field %q in %s; there is %s", name, f.Name, strings.Join(fields, ", "))
	}
	return nil
}

// Validate returns an error if the options do not fit the format.
func (o *Options) Validate(f *ids.Format) error {
	is := func(formats ...*format.Format) bool { return slices.Contains(formats, f.Format) }
	switch {
	case o.Stateless && !is(format.SCRU128, format.EUID):
		return fmt.Errorf("%s has no stateless generators", f.Name)
	case len(o.Nodes) > 0 && !is(format.SCRU64):
		return fmt.Errorf("%s has no node specs", f.Name)
	case len(o.Nodes) > 1 && !o.Unordered:
		return errors.New("several node specs are for unordered sources")
	case o.CounterStart != 0 && !is(format.SCRU64, format.SCRU160):
		return fmt.Errorf("%s has no counter whose start has a width of its own", f.Name)
	case o.CounterStart < Zero || o.CounterStart > 31:
		return fmt.Errorf("a counter start of %d bits", o.CounterStart)
	case (o.Usage != "" || o.Extension != 0) && !is(format.SCRU160):
		return fmt.Errorf("%s has one usage of its counter only", f.Name)
	case o.Usage != "" && o.Usage != UsageDefault && o.Usage != UsageMicroseconds:
		return fmt.Errorf("usage %q, want %q or %q", o.Usage, UsageDefault, UsageMicroseconds)
	case o.Extension < Zero || o.Extension > 16:
		return fmt.Errorf("an extension of %d bits, want at most 16", o.Extension)
	case o.Usage == UsageMicroseconds && o.Extension > 0:
		return errors.New("the microseconds' counter has no extension")
	case o.NodeBits != 0 && !is(format.SCRU160, format.UID60):
		return fmt.Errorf("the bits of the node ID are for scru160 and uid60, not %s", f.Name)
	case o.NodeBits < 0 || o.NodeBits+max(o.Extension, 0) > 16 || is(format.UID60) && o.NodeBits > 9:
		return fmt.Errorf("a node ID of %d bits", o.NodeBits)
	}
	for _, s := range o.Nodes {
		if _, err := scru64.ParseNodeSpec(s); err != nil {
			return err
		}
	}
	return nil
}
