package exact

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/verify/internal/sample"
)

// Options describe a generator. Package verify documents the fields.
type Options struct {
	Unordered, Stateless bool

	Nodes        []string
	CounterStart int
	Usage        string
	Extension    int
	NodeBits     int
}

// None in an option means no bits. The value 0 means an unknown number of bits.
const None = -1

func (o *Options) layouts(f *sample.Format) (usages []spec.Usage, err error) {
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
func (o *Options) Validate(f *sample.Format) error {
	switch {
	case !sample.Verifiable(f.Format):
		return fmt.Errorf("%s IDs are all the same, so there is nothing to verify", f.Name)
	case o.Stateless && !f.Habits.Stateless:
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

func startsNarrow(f spec.Field) bool {
	return f.Kind == spec.KindCounter && (f.Start == spec.StartHalf ||
		f.Start == spec.StartGuard)
}

// CheckRaw returns an error if the format has no random field with this name.
func (o *Options) CheckRaw(f *sample.Format, name string) error {
	usages, err := o.layouts(f)
	if err != nil {
		return err
	}
	var names []string
	for _, d := range f.Habits.Digits {
		names = append(names, d.Name)
	}
	for _, u := range usages {
		if f.Tick == 0 && len(names) > 0 {
			break // only the digits are tested
		}
		for _, field := range slices.Backward(u.Layout) {
			random := field.Kind == spec.KindRandom || field.PartBits != "" ||
				field.Kind == spec.KindCounter && field.Start != spec.StartNever
			if random && !slices.Contains(names, field.Name) {
				names = append(names, field.Name)
			}
		}
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("%s has no random field %q, only %s", f.Name, name,
			strings.Join(names, ", "))
	}
	return nil
}
