package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/tester"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify"
)

func verifyCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [FORMAT] [FILE...|-]",
		Short: "test a generator by its IDs, or look for duplicates",
		ValidArgsFunction: func(_ *cobra.Command, args []string,
			_ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return tester.Names(), cobra.ShellCompDirectiveDefault
		},
	}
	v := &verification{tester: &tester.Tester{Console: c}}
	v.addFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		v.tester.Output, v.tester.Options.Usage = v.output.Value, v.usage.Value
		if err := v.checkFlags(cmd); err != nil {
			return err
		}
		return flags.OptionError(v.run(args))
	}
	return cmd
}

type verification struct {
	tester                     *tester.Tester
	output, usage              *flags.Choice
	layout                     *flags.Layout
	unique                     bool
	from, to, start, extension string
}

func (v *verification) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	v.output = flags.Choose(cmd, "output", "o", "what to print", "report", "report", "json",
		"junit", "html", "list")
	f.BoolVar(&v.unique, "unique", false,
		"look for IDs that are on more than one line, in one FILE or in several")
	f.BoolVar(&v.tester.Options.Unordered, "unordered", false,
		"the IDs come from several generators, or are not in order: "+
			"report how far out of order they are")
	f.BoolVar(&v.tester.Options.Stateless, "stateless", false,
		"the IDs are of a scru128 generator without counters, "+
			"or of a euid generator that does not count")
	f.BoolVar(&v.tester.Options.Live, "live", false,
		"compare timestamps with the time at which IDs arrive")
	f.StringVar(&v.from, "from", "",
		"the earliest `TIME` that IDs may have "+
			"(default 2010, or one month after the format's epoch)")
	f.StringVar(&v.to, "to", "", "the latest `TIME` that IDs may have (default one day from now)")
	f.StringArrayVar(&v.tester.Options.Nodes, "node", nil,
		"the node `SPEC` of scru64, such as 42/8, or several with --unordered (default: detected)")
	f.StringVar(&v.start, "counter-start", "",
		"how many `BITS` of the counter of scru64 or scru160 start at random; "+
			"0 if it starts at zero (default: detected)")
	v.layout = flags.ChooseLayout(cmd)
	v.usage = flags.Choose(cmd, "usage", "",
		"what scru160 uses its counter for (default: detected)", "", verify.UsageDefault,
		verify.UsageMicroseconds)
	f.StringVar(&v.extension, "extension", "",
		"how many `BITS` of random16 extend the counter of scru160 (default: detected)")
	f.IntVar(&v.tester.Options.NodeBits, "node-bits", 0,
		"the size in `BITS` of the node ID of scru160, uid60 or a snowflake; "+
			"with --unique or --exec also of scru64, to name the node IDs that clash")
	f.StringVar(&v.tester.Options.Raw, "raw", "",
		"write the bits of a random `FIELD` to standard output, for other tests of randomness, "+
			"and the report to standard error")
	f.StringVar(&v.tester.Duplicates.Dir, "tmp", "",
		"with --unique or --exec: the `FOLDER` for temporary files")
	f.StringVar(&v.tester.Exec.Command, "exec", "",
		"start this `COMMAND` of the shell and check the IDs that it prints")
	f.IntVar(&v.tester.Exec.Processes, "processes", 1,
		"with --exec: how many processes, `N`, run at the same time")
	f.DurationVar(&v.tester.Exec.Length, "for", 10*time.Second,
		"with --exec: the `TIME` after which verify ends the processes")
	for _, name := range []string{"unordered", "stateless", "live", "from", "to", "node",
		"counter-start", "usage", "extension", "raw", "exec"} {
		cmd.MarkFlagsMutuallyExclusive(name, "unique")
	}
	cmd.MarkFlagsMutuallyExclusive("raw", "exec")
}

func (v *verification) checkFlags(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	executes := v.tester.Exec.Command != ""
	if changed("tmp") && !v.unique && !executes {
		return console.UsageErrorf("--tmp needs --unique or --exec")
	}
	for _, name := range []string{"processes", "for"} {
		if changed(name) && !executes {
			return console.UsageErrorf("--%s needs --exec", name)
		}
	}
	switch {
	case v.output.Value == "list" && !v.unique:
		return console.UsageErrorf("-o list needs --unique")
	case executes && (v.tester.Exec.Processes < 1 || v.tester.Exec.Processes > tester.MaxProcesses):
		return console.UsageErrorf("--processes %d: want 1 to %d", v.tester.Exec.Processes,
			tester.MaxProcesses)
	case executes && v.tester.Exec.Length <= 0:
		return console.UsageErrorf(
			"--for %v: want a time above zero, such as 10s", v.tester.Exec.Length)
	}
	return nil
}

func (v *verification) run(args []string) error {
	name, files, err := tester.SplitFormat(args)
	if err != nil {
		return err
	}
	if name, err = v.variant(name); err != nil {
		return err
	}
	if v.unique {
		return v.tester.Unique(name, files)
	}
	if err := v.options(); err != nil {
		return err
	}
	if v.tester.Exec.Command == "" {
		return v.tester.Run(name, files)
	}
	if len(args) > 1 || len(args) == 1 && name == "" {
		return console.UsageErrorf("--exec reads no files: unexpected argument %q", files[0])
	}
	return v.tester.RunProcesses(name)
}

// variant sets the format that --epoch, --unit and --layout make of the named one. It returns its name.
func (v *verification) variant(name string) (string, error) {
	if !v.layout.Given() {
		return name, nil
	}
	var named []*format.Format
	if f, err := format.Lookup(name); err == nil {
		named = append(named, f)
	}
	own, err := v.layout.Apply(named)
	if err != nil {
		return "", err
	}
	v.tester.Options.Variant, v.tester.Duplicates.Variant = own[0], own[0]
	return own[0].Name(), nil
}

func (v *verification) options() (err error) {
	now := time.Now()
	if v.tester.Options.From, err = flags.TimeOf("from", v.from, now); err != nil {
		return err
	}
	if v.tester.Options.To, err = flags.TimeOf("to", v.to, now); err != nil {
		return err
	}
	if v.tester.Options.CounterStart, err = width("counter-start", v.start); err != nil {
		return err
	}
	v.tester.Options.Extension, err = width("extension", v.extension)
	return err
}

// width reads a number of bits. For "" it returns 0, and for "0" it returns [verify.None].
func width(name, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n < 0:
		return 0, console.UsageErrorf("--%s: %q, want a number of bits", name, text)
	case n == 0:
		return verify.None, nil
	}
	return n, nil
}
