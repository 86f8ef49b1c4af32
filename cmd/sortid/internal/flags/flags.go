// Package flags has the flags that commands share.
package flags

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

// A Choice is a flag that accepts the values of a list.
type Choice struct {
	Value string
	of    []string
}

func (c *Choice) String() string { return c.Value }
func (c *Choice) Type() string   { return "CHOICE" }
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return Unknown("value", s, c.of)
	}
	c.Value = s
	return nil
}

func Choose(cmd *cobra.Command, name, short, usage, value string, of ...string) *Choice {
	c := &Choice{Value: value, of: of}
	last := len(of) - 1
	cmd.Flags().VarP(c, name, short, usage+": "+strings.Join(of[:last], ", ")+" or "+of[last])
	cmd.RegisterFlagCompletionFunc(
		name, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// Formats is a flag for a format, or for several with commas between them.
type Formats struct {
	List []*format.Format
	find func(name string) (*format.Format, error)
	kind string
}

// One returns the format, or nil if none or several were named.
func (f *Formats) One() *format.Format {
	if len(f.List) != 1 {
		return nil
	}
	return f.List[0]
}

func (f *Formats) String() string { return strings.Join(catalog.Names(f.List), ",") }
func (f *Formats) Type() string   { return f.kind }
func (f *Formats) Set(text string) error {
	names := strings.Split(text, ",")
	if f.kind == "FORMAT" { // the last one counts
		names, f.List = []string{text}, nil
	}
	for _, name := range names {
		found, err := f.find(strings.TrimSpace(name))
		if err != nil {
			return err
		}
		if !slices.Contains(f.List, found) {
			f.List = append(f.List, found)
		}
	}
	return nil
}

// ChooseFormats adds a flag whose value is of the kind "FORMAT" or "FORMAT,...".
func ChooseFormats(cmd *cobra.Command, name, kind, usage string, of []*format.Format) *Formats {
	return chooseFormats(cmd, name, kind, usage, of, func(name string) (*format.Format, error) {
		i := slices.IndexFunc(of,
			func(known *format.Format) bool { return strings.EqualFold(known.Name(), name) })
		if i < 0 {
			return nil, Unknown("format", name, catalog.Names(of))
		}
		return of[i], nil
	})
}

// ChooseFormat adds a flag for one of the formats, which the function find finds.
func ChooseFormat(cmd *cobra.Command, name, usage string, of []*format.Format,
	find func(name string) (*format.Format, error)) *Formats {
	return chooseFormats(cmd, name, "FORMAT", usage, of, find)
}

func chooseFormats(cmd *cobra.Command, name, kind, usage string, of []*format.Format,
	find func(name string) (*format.Format, error)) *Formats {
	f := &Formats{find: find, kind: kind}
	cmd.Flags().Var(f, name, usage)
	cmd.RegisterFlagCompletionFunc(name,
		cobra.FixedCompletions(catalog.Names(of), cobra.ShellCompDirectiveNoFileComp))
	return f
}

// A Count is at least one.
type Count uint64

func (c *Count) String() string { return strconv.FormatUint(uint64(*c), 10) }
func (c *Count) Type() string   { return "N" }
func (c *Count) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("too many; the most is %d, and --forever has no end",
			uint64(math.MaxUint64))
	case err != nil || n == 0:
		return errors.New("want a whole number of at least 1")
	}
	*c = Count(n)
	return nil
}

// A Rate is a number a second; 0 means no limit.
type Rate float64

func (r *Rate) String() string { return strconv.FormatFloat(float64(*r), 'g', -1, 64) }
func (r *Rate) Type() string   { return "N" }
func (r *Rate) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return errors.New("want a number of IDs a second above 0, such as 100 or 0.5")
	}
	*r = Rate(v)
	return nil
}
