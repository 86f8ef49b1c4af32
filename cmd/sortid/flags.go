package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

// A choice is a flag with few values.
type choice struct {
	value string
	of    []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "CHOICE" }
func (c *choice) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return &format.UnknownError{What: "value", Name: s, Known: c.of}
	}
	c.value = s
	return nil
}

// choose adds a choice to a command's flags.
func choose(cmd *cobra.Command, name, short, usage, value string, of ...string) *choice {
	c := &choice{value: value, of: of}
	last := len(of) - 1
	cmd.Flags().VarP(c, name, short, usage+": "+strings.Join(of[:last], ", ")+" or "+of[last])
	cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// A formatFlag is a flag that names a format.
type formatFlag struct{ *format.Format }

func (f *formatFlag) Type() string { return "FORMAT" }
func (f *formatFlag) String() string {
	if f.Format == nil {
		return ""
	}
	return f.Name
}

func (f *formatFlag) Set(name string) (err error) {
	f.Format, err = format.Lookup(name)
	return err
}

func chooseFormat(cmd *cobra.Command, usage string) *formatFlag {
	f := &formatFlag{}
	cmd.Flags().Var(f, "format", usage)
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(format.Names(), cobra.ShellCompDirectiveNoFileComp))
	return f
}

// oneFormat checks the argument of a command that wants a format and nothing else.
func oneFormat(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return fmt.Errorf("%s wants a format: %s", cmd.Name(), strings.Join(format.Names(), ", "))
	case 1:
		_, err := format.Lookup(args[0])
		return err
	}
	return fmt.Errorf("%s wants one format, and nothing else; unexpected argument %q", cmd.Name(), args[1])
}

func completeFormat(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return format.Names(), cobra.ShellCompDirectiveNoFileComp
}

// A count is a number of things, at least one.
type count uint64

func (c *count) String() string { return strconv.FormatUint(uint64(*c), 10) }
func (c *count) Type() string   { return "N" }
func (c *count) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("too many; the most is %d, and --forever has no end", uint64(math.MaxUint64))
	case err != nil || n == 0:
		return errors.New("want a whole number from 1 on")
	}
	*c = count(n)
	return nil
}

// A rate is a number of things a second; 0 means no limit.
type rate float64

func (r *rate) String() string { return strconv.FormatFloat(float64(*r), 'g', -1, 64) }
func (r *rate) Type() string   { return "N" }
func (r *rate) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return errors.New("want a number of IDs a second above 0, such as 100 or 0.5")
	}
	*r = rate(v)
	return nil
}

// fieldFlags names the flag of each field of the formats' options, whose names the formats'
// errors have.
var fieldFlags = strings.NewReplacer("CounterExtension", "--counter-ext", "CounterWidth", "--counter-width",
	"ExtensionLength", "the length in --ext", "Extension", "--ext", "NodeBits", "the size in --node", "NodeID", "--node",
	"NodeSpec", "--node", "OverflowGuard", "--guard", "RollbackPolicy", "--rollback", "RollbackReset", "--rollback reset",
	"RollbackAllowance", "--allowance", "WorkerIDSize", "the size in --worker", "WorkerID", "--worker", "Lease", "--lease")

// optionError words an error of a generator's options by the flags that gave them.
func optionError(err error) error {
	var option *format.OptionError
	if errors.As(err, &option) {
		err = fmt.Errorf("--%s %q: %w", option.Option, option.Value, option.Err)
	}
	return usageError{errors.New(strings.Replace(fieldFlags.Replace(err.Error()), "invalid option: ", "", 1))}
}
