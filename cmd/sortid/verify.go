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
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/duplicates"
	"github.com/sortid/sortid/verify/report"
	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
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
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return format.Names(), cobra.ShellCompDirectiveDefault
		},
	}
	v := &verification{app: a}
	f := cmd.Flags()
	v.output = choose(cmd, "output", "o", "what to print", "report", "report", "json", "junit", "html", "list")
	f.BoolVar(&v.unique, "unique", false, "look for IDs on more than one line of all FILEs")
	f.BoolVar(&v.o.Unordered, "unordered", false, "the IDs are of several generators, or not in order: tell how far they are out of it")
	f.BoolVar(&v.o.Stateless, "stateless", false, "a generator of scru128 that has no counters, or one of euid that does not count")
	f.BoolVar(&v.o.Live, "live", false, "compare timestamps with the time at which IDs come")
	f.StringVar(&v.from, "from", "", "the earliest `TIME` that IDs may be of (default 2000, or the format's first months)")
	f.StringVar(&v.to, "to", "", "the latest `TIME` that IDs may be of (default one day from now)")
	f.StringArrayVar(&v.o.Nodes, "node", nil, "the node `SPEC` of scru64, such as 42/8, or several with --unordered (default: found out)")
	f.StringVar(&v.start, "counter-start", "", "how many `BITS` the counter of scru64 or scru160 starts at random with, 0 for a start at zero (default: found out)")
	usage := choose(cmd, "usage", "", "what scru160 uses its counter for, instead of finding out", "", verify.UsageDefault, verify.UsageMicroseconds)
	f.StringVar(&v.extension, "extension", "", "how many `BITS` of random16 extend the counter of scru160 (default: found out)")
	f.IntVar(&v.o.NodeBits, "node-bits", 0, "the size in `BITS` of the node ID of scru160 or uid60; with --unique or --exec also of scru64, to name the node IDs that clash")
	f.StringVar(&v.o.Raw, "raw", "", "write the bits of a random `FIELD` to standard output, for other tests of randomness, and the report to standard error")
	f.StringVar(&v.uo.Dir, "tmp", "", "with --unique or --exec: the `FOLDER` for temporary files")
	f.StringVar(&v.exec.command, "exec", "", "start this `COMMAND` of the shell and check the IDs that it prints")
	f.IntVar(&v.exec.processes, "processes", 1, "with --exec: how many processes of it, at the same time")
	f.DurationVar(&v.exec.length, "for", 10*time.Second, "with --exec: the `TIME` after which they are ended")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		v.o.Usage = usage.value
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
				return usagef("%s", strings.TrimPrefix(err.Error(), option.Error()+": "))
			}
		}
		return err
	}
	return cmd
}

// A verification is a run of the verify command.
type verification struct {
	*app
	output    *choice
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
		return usagef("--tmp goes with --unique or --exec")
	}
	for _, name := range []string{"processes", "for"} {
		if changed(name) && !executes {
			return usagef("--%s goes with --exec", name)
		}
	}
	for _, name := range []string{
		"unordered", "stateless", "live", "from", "to", "node", "counter-start", "usage",
		"extension", "raw", "exec",
	} {
		if changed(name) && v.unique {
			return usagef("--%s does not go with --unique", name)
		}
	}
	switch {
	case executes && v.o.Raw != "":
		return usagef("--raw does not go with --exec")
	case v.output.value == "list" && !v.unique:
		return usagef("-o list goes with --unique")
	case v.output.value == "html" && (v.unique || executes):
		return usagef("--unique and --exec have no -o html")
	case executes && (v.exec.processes < 1 || v.exec.processes > maxProcesses):
		return usagef("--processes %d: want 1 to %d", v.exec.processes, maxProcesses)
	case executes && v.exec.length <= 0:
		return usagef("--for %v: want a time above zero, such as 10s", v.exec.length)
	}
	return nil
}

// options reads the flags that need to be read.
func (v *verification) options() (err error) {
	now := time.Now()
	if v.from != "" {
		if v.o.From, err = timeOf("from", v.from, now); err != nil {
			return err
		}
	}
	if v.to != "" {
		if v.o.To, err = timeOf("to", v.to, now); err != nil {
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
		return 0, usagef("--%s: %q, want a number of bits", name, text)
	case n == 0:
		return verify.Zero, nil
	}
	return n, nil
}

// until returns a context that the first signal ends, to report on what has come. The
// second one ends the program.
func until() context.Context {
	ctx, _ := untilSignal()
	return ctx
}

// style is that of a report on out.
func (v *verification) style() report.Style {
	tones := map[report.Tone]*color.Color{
		report.Strong: strong, report.Faint: faint, report.Caution: caution,
		report.Good: color.New(color.FgGreen), report.Bad: color.New(color.FgRed, color.Bold),
	}
	if v.o.Raw != "" { // the report goes to standard error
		return report.Style{}
	}
	return report.Style{
		Bars:  v.outTerminal,
		Paint: func(t report.Tone, s string) string { return v.paint(tones[t], s) },
	}
}

// splitFormat takes the format off the arguments, if it is there.
func splitFormat(args []string) (name string, files []string, err error) {
	if len(args) == 0 {
		return "", []string{"-"}, nil
	}
	s, err := format.Lookup(args[0])
	if err == nil {
		if len(args) == 1 {
			return s.Name, []string{"-"}, nil
		}
		return s.Name, args[1:], nil
	}
	if _, statErr := os.Stat(args[0]); statErr != nil && args[0] != "-" && !strings.ContainsAny(args[0], `./\`) {
		return "", nil, usagef("there is no file %q; %w", args[0], err)
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
	to := v.out
	if v.o.Raw != "" {
		switch {
		case v.outTerminal:
			return usagef("--raw writes bits that are not for a terminal; redirect standard output")
		case len(files) > 1:
			return usagef("--raw takes one source, not %d", len(files))
		}
		v.o.RawTo, to = v.out, v.err
	}
	p := &printer{verification: v, out: bufio.NewWriter(to)}
	ctx := until()
	for _, file := range files {
		r, err := v.one(ctx, name, v.source(file))
		var usage usageError
		switch {
		case errors.Is(err, verify.ErrOption) || errors.As(err, &usage):
			return err
		case err != nil:
			v.complain("%v", err)
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
	if s.name == "-" && v.inTerminal {
		fmt.Fprintln(v.err, "sortid: reading IDs from the terminal, one in a line; Ctrl-D ends")
	}
	if name == "" {
		var ok bool
		var err error
		if name, ok, err = s.guess(); err != nil {
			return nil, err
		} else if !ok {
			s.close()
			return nil, usagef("%s", untold(s))
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
	if !v.inTerminal {
		if s.size > 0 {
			p := v.newProgress("bytes", s.size)
			defer p.end()
			o.Progress = func(verify.Progress) { p.show(uint64(in.Position())) }
		} else {
			p := v.newProgress("IDs", -1)
			defer p.end()
			o.Progress = func(at verify.Progress) { p.show(at.IDs) }
		}
	}
	return verify.Check(ctx, name, in, o)
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
	switch p.output.value {
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

// end prints what is for the end, and returns what the command has to say of it all.
// Duplicates may be nil.
func (p *printer) end(duplicates *report.Unique) (err error) {
	switch p.output.value {
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
		return errReported
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
			return usagef("standard input can be read only once")
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
	out := bufio.NewWriterSize(v.out, 64<<10)
	ctx := until()
	r, err := v.find(ctx, name, sources, out)
	if err != nil {
		return err
	}
	switch v.output.value {
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
	if err == nil && v.output.value == "list" && r.Status != report.Pass {
		err = report.UniqueText(v.err, r, report.Style{})
	}
	switch {
	case err != nil:
		return err
	case r.Interrupted:
		return interrupted(ctx, errInterrupted)
	case r.Status == report.Fail:
		return errReported
	}
	return nil
}

// find looks for duplicates and lists them on out, if they are wanted one by one. It shows
// how far it has come.
func (v *verification) find(ctx context.Context, name string, sources []duplicates.Source, out io.Writer) (*report.Unique, error) {
	var failed error
	switch v.output.value {
	case "json":
		v.uo.Each = func(d report.Duplicate) { failed = cmp.Or(failed, report.DuplicateJSON(out, d)) }
	case "list":
		v.uo.Each = func(d report.Duplicate) { failed = cmp.Or(failed, report.DuplicateText(out, d)) }
	}
	if !v.inTerminal || !slices.ContainsFunc(sources, func(s duplicates.Source) bool { return s.Name == "standard input" }) {
		var bar *progress
		var last duplicates.Progress
		v.uo.Progress = func(p duplicates.Progress) {
			if bar == nil || p.Stage != last.Stage || p.Total != last.Total {
				bar.end()
				total := p.Total
				if total == 0 {
					total = -1
				}
				bar = v.newProgress("bytes", total)
				bar.describe(string(p.Stage))
			}
			last = p
			bar.show(uint64(p.Done))
		}
		defer func() { bar.end() }()
	}
	r, err := duplicates.Find(ctx, name, sources, v.uo)
	if failed != nil {
		return nil, failed
	}
	return r, err
}
