package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/duplicates"
	"github.com/sortid/sortid/verify/report"
)

func verifyCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [FORMAT] [FILE...|-]",
		Short: "test a generator by its IDs, or look for duplicates",
		Long: `verify reads the IDs of a generator, one in a line, in the order in which they were made, and checks all that the format promises: the form of each line, the order, the counters, the clock, and whether what should be random looks random. Each FILE is a source of its own. Without one, standard input is. The first lines of a source tell its format, if FORMAT does not.

The IDs may be in any encoding: the format's text, a UUID, an integer, or hexadecimal digits with or without \x or 0x in front. Files may be compressed with gzip or zstd.

With --unique it looks for IDs that are on more than one line of all the FILEs together, however many and large they are.

With --exec it starts a generator, several at once with --processes, checks what each prints, looks for duplicates over all of them, and ends them.

The exit code is 0 if all is well (there may be warnings), 1 if a check failed.`,
		Example: `  sortid new scru128 -n 1000000 | sortid verify
  my-generator | sortid verify scru64 --node 42/8 --live
  sortid verify scru128 --exec 'python3 gen.py' --processes 8 --for 10s
  cut -d, -f3 orders.csv | sortid verify
  sortid verify --unique -o json node1.txt node2.txt node3.txt
  sortid verify euid ids.txt -o html > report.html
  sortid verify scru128 ids.txt --raw entropy | RNG_test stdin32`,
		ValidArgsFunction: func(_ *cobra.Command, args []string,
			_ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return timedNames(), cobra.ShellCompDirectiveDefault
		},
	}
	v := &verification{Console: c}
	f := cmd.Flags()
	v.output = flags.Choose(cmd, "output", "o", "what to print", "report", "report", "json",
		"junit", "html", "list")
	f.BoolVar(&v.unique, "unique", false, "look for IDs on more than one line of all FILEs")
	f.BoolVar(&v.o.Unordered, "unordered", false,
		"the IDs are of several generators, or not in order: tell how far they are out of it")
	f.BoolVar(&v.o.Stateless, "stateless", false,
		"a generator of scru128 that has no counters, or one of euid that does not count")
	f.BoolVar(&v.o.Live, "live", false, "compare timestamps with the time at which IDs come")
	f.StringVar(&v.from, "from", "",
		"the earliest `TIME` that IDs may be of (default 2010, or the second month of the format)")
	f.StringVar(&v.to, "to", "", "the latest `TIME` that IDs may be of (default one day from now)")
	f.StringArrayVar(&v.o.Nodes, "node", nil,
		"the node `SPEC` of scru64, such as 42/8, or several with --unordered (default: found out)")
	f.StringVar(&v.start, "counter-start", "",
		"how many `BITS` the counter of scru64 or scru160 starts at random with, 0 for a start at zero (default: found out)")
	usage := flags.Choose(cmd, "usage", "",
		"what scru160 uses its counter for, instead of finding out", "", verify.UsageDefault,
		verify.UsageMicroseconds)
	f.StringVar(&v.extension, "extension", "",
		"how many `BITS` of random16 extend the counter of scru160 (default: found out)")
	f.IntVar(&v.o.NodeBits, "node-bits", 0,
		"the size in `BITS` of the node ID of scru160, uid60 or a snowflake; with --unique or --exec also of scru64, to name the node IDs that clash")
	f.StringVar(&v.o.Raw, "raw", "",
		"write the bits of a random `FIELD` to standard output, for other tests of randomness, and the report to standard error")
	f.StringVar(&v.uo.Dir, "tmp", "", "with --unique or --exec: the `FOLDER` for temporary files")
	f.StringVar(&v.exec.command, "exec", "",
		"start this `COMMAND` of the shell and check the IDs that it prints")
	f.IntVar(&v.exec.processes, "processes", 1,
		"with --exec: how many processes of it, `N`, at the same time")
	f.DurationVar(&v.exec.length, "for", 10*time.Second,
		"with --exec: the `TIME` after which they are ended")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		v.o.Usage = usage.Value
		if err := v.checkFlags(cmd); err != nil {
			return err
		}
		var err error
		switch {
		case v.unique:
			err = v.runUnique(args)
		case v.exec.command != "":
			err = v.runExec(args)
		default:
			err = v.run(args)
		}
		for _, option := range []error{verify.ErrOption, duplicates.ErrOption} {
			if errors.Is(err, option) {
				return exit.Usagef("%s", strings.TrimPrefix(err.Error(), option.Error()+": "))
			}
		}
		return err
	}
	return cmd
}

// A verification is a run of the verify command.
type verification struct {
	*console.Console
	output    *flags.Choice
	unique    bool
	o         verify.Options
	uo        duplicates.Options
	from, to  string
	start     string
	extension string
	exec      execution
}

// checkFlags refuses flags that would have no effect together.
func (v *verification) checkFlags(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	executes := v.exec.command != ""
	if changed("tmp") && !v.unique && !executes {
		return exit.Usagef("--tmp goes with --unique or --exec")
	}
	for _, name := range []string{"processes", "for"} {
		if changed(name) && !executes {
			return exit.Usagef("--%s goes with --exec", name)
		}
	}
	for _, name := range []string{
		"unordered", "stateless", "live", "from", "to", "node", "counter-start", "usage",
		"extension", "raw", "exec",
	} {
		if changed(name) && v.unique {
			return exit.Usagef("--%s does not go with --unique", name)
		}
	}
	switch {
	case executes && v.o.Raw != "":
		return exit.Usagef("--raw does not go with --exec")
	case v.output.Value == "list" && !v.unique:
		return exit.Usagef("-o list goes with --unique")
	case v.output.Value == "html" && (v.unique || executes):
		return exit.Usagef("--unique and --exec have no -o html")
	case executes && (v.exec.processes < 1 || v.exec.processes > maxProcesses):
		return exit.Usagef("--processes %d: want 1 to %d", v.exec.processes, maxProcesses)
	case executes && v.exec.length <= 0:
		return exit.Usagef("--for %v: want a time above zero, such as 10s", v.exec.length)
	}
	return nil
}

// options reads the flags whose values need parsing.
func (v *verification) options() (err error) {
	now := time.Now()
	if v.from != "" {
		if v.o.From, err = flags.TimeOf("from", v.from, now); err != nil {
			return err
		}
	}
	if v.to != "" {
		if v.o.To, err = flags.TimeOf("to", v.to, now); err != nil {
			return err
		}
	}
	if v.o.CounterStart, err = width("counter-start", v.start); err != nil {
		return err
	}
	if v.o.Extension, err = width("extension", v.extension); err != nil {
		return err
	}
	return nil
}

// width reads a number of bits that may be zero, or not be given.
func width(name, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n < 0:
		return 0, exit.Usagef("--%s: %q, want a number of bits", name, text)
	case n == 0:
		return verify.Zero, nil
	}
	return n, nil
}

// until returns a context that the first signal ends, to report on what has come. The
// second one ends the program.
func until() context.Context {
	ctx, _ := exit.UntilSignal()
	return ctx
}

// style says how the report is shown on out.
func (v *verification) style() report.Style {
	tones := map[report.Tone]*color.Color{
		report.Strong: console.Strong, report.Faint: console.Faint, report.Caution: console.Caution,
		report.Good: color.New(color.FgGreen), report.Bad: color.New(color.FgRed, color.Bold),
	}
	width := 0
	if v.OutTerminal {
		width = v.Width
	}
	if v.o.Raw != "" { // the report goes to standard error
		return report.Style{Width: v.ErrWidth}
	}
	return report.Style{
		Width: width,
		Bars:  v.OutTerminal,
		Paint: func(t report.Tone, s string) string { return v.Paint(tones[t], s) },
	}
}

// splitFormat takes the format off the arguments, if it is there.
func splitFormat(args []string) (name string, files []string, err error) {
	if len(args) == 0 {
		return "", []string{"-"}, nil
	}
	s, err := format.LookupAny(args[0])
	if err == nil {
		if len(args) == 1 {
			return s.Name, []string{"-"}, nil
		}
		return s.Name, args[1:], nil
	}
	if _, statErr := os.Stat(args[0]); statErr != nil && args[0] != "-" &&
		!strings.ContainsAny(args[0], `./\`) {
		return "", nil, exit.Usagef("there is no file %q; %w", args[0], err)
	}
	return "", args, nil
}

// run verifies each source by itself.
func (v *verification) run(args []string) error {
	name, files, err := splitFormat(args)
	if err != nil {
		return err
	}
	if err := v.options(); err != nil {
		return err
	}
	to := v.Out
	if v.o.Raw != "" {
		switch {
		case v.OutTerminal:
			return exit.Usagef(
				"--raw writes bits that are not for a terminal; redirect standard output")
		case len(files) > 1:
			return exit.Usagef("--raw takes one source, not %d", len(files))
		}
		v.o.RawTo, to = &patient{w: v.Out}, v.Err
	}
	p := &printer{verification: v, out: bufio.NewWriter(to)}
	ctx := until()
	for _, file := range files {
		r, err := v.one(ctx, name, v.source(file))
		if r != nil && r.Bytes == 0 && file == "-" && v.output.Value == "report" &&
			ctx.Err() == nil {
			return exit.Usagef("%s", noIDs(v.source(file)))
		}
		switch {
		case errors.Is(err, verify.ErrOption) || exit.IsUsage(err) || err != nil &&
			ctx.Err() != nil:
			return err
		case err != nil:
			v.Complain("%v", err)
			p.bad = true
			continue
		}
		if err := p.report(r); err != nil {
			return err
		}
	}
	return p.end(nil)
}

// one verifies one source, of the format of a name if that is known.
func (v *verification) one(ctx context.Context, name string, s *source) (*report.Report, error) {
	if s.name == "-" && v.InTerminal {
		fmt.Fprintln(v.Err, "sortid: reading IDs from the terminal, one in a line; Ctrl-D ends")
	}
	if name == "" {
		var ok bool
		var err error
		if name, ok, err = s.guessUntil(ctx); err != nil {
			return nil, err
		} else if !ok {
			s.close()
			return nil, exit.Usagef("%s", untold(s))
		}
	}
	in, err := s.read()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	o := v.o
	if s.name != "-" {
		o.Source = s.name
	}
	if !v.InTerminal {
		if s.size > 0 {
			p := v.NewProgress("bytes", s.size)
			defer p.End()
			o.Progress = func(verify.Progress) { p.Show(uint64(in.Position())) }
		} else {
			p := v.NewProgress("IDs", -1)
			defer p.End()
			o.Progress = func(at verify.Progress) { p.Show(at.IDs) }
		}
	}
	return verify.Check(ctx, name, in, o)
}

// A patient writes until its reader has gone, and then drops what is written: whoever reads the
// bits of a field takes as many as it needs.
type patient struct {
	w    io.Writer
	gone bool
}

func (p *patient) Write(b []byte) (int, error) {
	if p.gone {
		return len(b), nil
	}
	n, err := p.w.Write(b)
	if exit.ClosedPipe(err) {
		p.gone = true
		return len(b), nil
	}
	return n, err
}

// timedNames returns the names of the formats that can be verified.
func timedNames() (names []string) {
	for _, f := range format.All() {
		if f.Timed() != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// A printer prints reports.
type printer struct {
	*verification
	out     *bufio.Writer
	reports []*report.Report
	bad     bool // whether a check failed
}

// report prints the report of a source, unless that is for the end.
func (p *printer) report(r *report.Report) (err error) {
	p.bad = p.bad || r.Status == report.Fail
	p.reports = append(p.reports, r)
	switch p.output.Value {
	case "report":
		if len(p.reports) > 1 {
			fmt.Fprintln(p.out)
		}
		err = report.Text(p.out, r, p.style())
	case "json":
		err = report.JSON(p.out, r)
	}
	if err != nil {
		return err
	}
	return p.out.Flush()
}

// end prints the part of the report for the end, and returns the command's result. Duplicates
// may be nil.
func (p *printer) end(duplicates *report.Unique) (err error) {
	switch p.output.Value {
	case "report":
		if duplicates != nil {
			fmt.Fprintln(p.out)
			err = report.UniqueText(p.out, duplicates, p.style())
		}
	case "json":
		if duplicates != nil {
			err = report.UniqueJSON(p.out, duplicates)
		}
	case "junit":
		err = report.JUnit(p.out, p.reports, duplicates)
	case "html":
		err = report.HTML(p.out, p.reports)
	}
	if err == nil {
		err = p.out.Flush()
	}
	if err == nil && (p.bad || duplicates != nil && duplicates.Status == report.Fail) {
		return exit.ErrReported
	}
	return err
}

// runUnique looks for duplicates in all sources together.
func (v *verification) runUnique(args []string) error {
	name, files, err := splitFormat(args)
	if err != nil {
		return err
	}
	var all []*source
	for _, file := range files {
		if file == "-" && slices.ContainsFunc(all, func(s *source) bool { return s.name == "-" }) {
			return exit.Usagef("standard input can be read only once")
		}
		all = append(all, v.source(file))
	}
	if name == "" {
		if name, err = formatOf(all...); err != nil {
			return err
		}
	}
	var sources []duplicates.Source
	for _, s := range all {
		sources = append(sources, s.duplicatesSource())
	}
	v.uo.NodeBits = v.o.NodeBits
	out := bufio.NewWriterSize(v.Out, 64<<10)
	ctx := until()
	r, err := v.find(ctx, name, sources, out)
	if err != nil {
		return err
	}
	switch v.output.Value {
	case "report":
		err = report.UniqueText(out, r, v.style())
	case "json":
		err = report.UniqueJSON(out, r)
	case "junit":
		err = report.JUnit(out, nil, r)
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil && v.output.Value == "list" && r.Status != report.Pass {
		err = report.UniqueText(v.Err, r, report.Style{})
	}
	switch {
	case err != nil:
		return err
	case r.Interrupted:
		return exit.Cause(ctx, exit.ErrInterrupted)
	case r.Status == report.Fail:
		return exit.ErrReported
	}
	return nil
}

// find looks for duplicates and lists them on out, if they are wanted one by one. It shows
// how far it has come.
func (v *verification) find(ctx context.Context, name string, sources []duplicates.Source,
	out io.Writer) (*report.Unique, error) {
	var failed error
	switch v.output.Value {
	case "json":
		v.uo.Each = func(d report.Duplicate) {
			failed = cmp.Or(
				failed, report.DuplicateJSON(out, d))
		}
	case "list":
		v.uo.Each = func(d report.Duplicate) {
			failed = cmp.Or(
				failed, report.DuplicateText(out, d))
		}
	}
	if !v.InTerminal || !slices.ContainsFunc(
		sources, func(s duplicates.Source) bool { return s.Name == "standard input" }) {
		var bar *console.Progress
		var last duplicates.Progress
		v.uo.Progress = func(p duplicates.Progress) {
			if bar == nil || p.Stage != last.Stage || p.Total != last.Total {
				bar.End()
				total := p.Total
				if total == 0 {
					total = -1
				}
				bar = v.NewProgress("bytes", total)
				bar.Describe(string(p.Stage))
			}
			last = p
			bar.Show(uint64(p.Done))
		}
		defer func() { bar.End() }()
	}
	r, err := duplicates.Find(ctx, name, sources, v.uo)
	if failed != nil {
		return nil, failed
	}
	return r, err
}
