package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fatih/color"
	"github.com/sortid/sortid/scheme"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/report"
	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify SCHEME [FILE...|-] | verify --unique [SCHEME] FILE...",
		Short: "test a generator by its IDs, or look for duplicates",
		Long: `verify reads the IDs of a generator, one in a line, in the order in which they were
made, and checks all that the format promises: the form of each line, the order,
the counters, the clock, and whether what should be random looks random. Each FILE
is a source of its own. Without one, standard input is.

With --unique it looks for IDs that are on more than one line of all the FILEs
together, however many and large they are.

The exit code is 0 if all is well (there may be warnings), 1 if a check failed.`,
		Example: `  sortid new scru128 -n 1000000 | sortid verify scru128
  my-generator | sortid verify scru64 --node 42/8 --live
  sortid verify --unique -o json node1.txt node2.txt node3.txt
  sortid verify euid ids.txt -o html > report.html
  sortid verify scru128 ids.txt --raw entropy | RNG_test stdin32`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return scheme.Names(), cobra.ShellCompDirectiveDefault
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
	f.IntVar(&v.nodeBits, "node-bits", 0, "the size in `BITS` of the node ID in random16 of scru160")
	f.IntVar(&v.workerBits, "worker-bits", 0, "the size in `BITS` of the worker ID in random of uid60")
	f.StringVar(&v.o.Raw, "raw", "", "write the bits of a random `FIELD` to standard output, for other tests of randomness, and the report to standard error")
	f.IntVar(&v.uo.NodeIDSize, "node-size", 0, "with --unique: the size of scru64's node IDs in `BITS`, to name those that clash")
	f.StringVar(&v.uo.Dir, "tmp", "", "with --unique: the `FOLDER` for files that are not sorted, meanwhile")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		v.o.Usage = usage.value
		for _, name := range []string{"node-size", "tmp"} {
			if cmd.Flags().Changed(name) && !v.unique {
				return usagef("--%s goes with --unique", name)
			}
		}
		var err error
		if v.unique {
			err = v.runUnique(cmd, args)
		} else {
			err = v.run(args)
		}
		if errors.Is(err, verify.ErrOption) {
			return usagef("%s", strings.TrimPrefix(err.Error(), verify.ErrOption.Error()+": "))
		}
		return err
	}
	return cmd
}

// A verification is a run of the verify command.
type verification struct {
	*app
	output     *choice
	unique     bool
	o          verify.Options
	uo         verify.UniqueOptions
	from, to   string
	start      string
	extension  string
	nodeBits   int
	workerBits int
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
	if v.nodeBits != 0 && v.workerBits != 0 {
		return usagef("--node-bits is for scru160, --worker-bits for uid60")
	}
	v.o.NodeBits = max(v.nodeBits, v.workerBits)
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

// style is that of a report on out.
func (v *verification) style() report.Style {
	tones := map[report.Tone]*color.Color{
		report.Strong: strong, report.Faint: faint, report.Caution: alarm,
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

// running shows how far the reading is, on standard error.
func (v *verification) running() (show func(verify.Progress), end func()) {
	if !v.errTerminal || v.inTerminal {
		return nil, func() {}
	}
	now := time.Now()
	p := &progress{app: v.app, what: "IDs", start: now, next: now.Add(time.Second)}
	return func(at verify.Progress) { p.show(at.IDs) }, p.end
}

// run verifies each source by itself.
func (v *verification) run(args []string) error {
	if len(args) == 0 {
		return usagef("verify wants a scheme: %s", strings.Join(scheme.Names(), ", "))
	}
	s, err := scheme.Lookup(args[0])
	if err != nil {
		return usageError{err}
	}
	if err := v.options(); err != nil {
		return err
	}
	if v.output.value == "list" {
		return usagef("-o list goes with --unique")
	}
	files := args[1:]
	if len(files) == 0 {
		files = []string{"-"}
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
	out := bufio.NewWriter(to)
	var reports []*verify.Report
	bad := false
	ctx := until()
	for i, name := range files {
		r, err := v.one(ctx, s.Name, name)
		if err != nil {
			if errors.Is(err, verify.ErrOption) {
				return err
			}
			fmt.Fprintf(v.err, "sortid: %v\n", err)
			bad = true
			continue
		}
		bad = bad || r.Status == verify.Fail
		reports = append(reports, r)
		switch v.output.value {
		case "report":
			if i > 0 {
				fmt.Fprintln(out)
			}
			err = report.Text(out, r, v.style())
		case "json":
			err = report.JSON(out, r)
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return err
		}
	}
	switch v.output.value {
	case "junit":
		err = report.JUnit(out, reports)
	case "html":
		err = report.HTML(out, reports)
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil && bad {
		return errReported
	}
	return err
}

// one verifies one source.
func (v *verification) one(ctx context.Context, scheme, name string) (*verify.Report, error) {
	o := v.o
	in := v.in
	if name == "-" {
		if v.inTerminal {
			fmt.Fprintln(v.err, "sortid: reading IDs from the terminal, one in a line; Ctrl-D ends")
		}
		if f, ok := in.(*os.File); ok { // a pipe is the same from either end
			widen(f)
		}
	} else {
		f, err := verify.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		o.Source, in = name, f
	}
	show, end := v.running()
	defer end()
	o.Progress = show
	return verify.Check(ctx, scheme, in, o)
}

// notUnique are the flags that say nothing about duplicates.
var notUnique = []string{
	"unordered", "stateless", "live", "from", "to", "node", "counter-start", "usage",
	"extension", "node-bits", "worker-bits", "raw",
}

// runUnique looks for duplicates in all sources together.
func (v *verification) runUnique(cmd *cobra.Command, args []string) error {
	for _, name := range notUnique {
		if cmd.Flags().Changed(name) {
			return usagef("--%s does not go with --unique", name)
		}
	}
	name := ""
	if len(args) > 0 && slices.Contains(verify.Schemes(), args[0]) {
		name, args = args[0], args[1:]
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	var sources []verify.Source
	stdin := bufio.NewReaderSize(v.in, head)
	for _, arg := range args {
		if arg != "-" {
			sources = append(sources, verify.FileSource(arg))
			continue
		}
		if slices.ContainsFunc(sources, func(s verify.Source) bool { return s.Name == "standard input" }) {
			return usagef("standard input can be read only once")
		}
		sources = append(sources, verify.Source{
			Name: "standard input", Once: true,
			Open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil },
		})
	}
	if name == "" {
		var err error
		if name, err = v.detect(sources, stdin); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(v.out, 64<<10)
	var failed error
	switch v.output.value {
	case "html":
		return usagef("--unique has no -o html")
	case "json":
		v.uo.Each = func(d verify.Duplicate) { failed = errors.Join(failed, report.DuplicateJSON(out, d)) }
	case "list":
		v.uo.Each = func(d verify.Duplicate) { failed = errors.Join(failed, report.DuplicateText(out, d)) }
	}
	show, end := v.running()
	v.uo.Progress = show
	r, err := verify.Unique(until(), name, sources, v.uo)
	end()
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case err != nil:
		return err
	}
	switch v.output.value {
	case "report":
		err = report.UniqueText(out, r, v.style())
	case "json":
		err = report.UniqueJSON(out, r)
	case "junit":
		err = report.UniqueJUnit(out, r)
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil && r.Status == verify.Fail {
		if v.output.value == "list" {
			err = report.UniqueText(v.err, r, report.Style{})
		}
		return errors.Join(errReported, err)
	}
	return err
}

// head is how much of a source may be needed to tell its format.
const head = 64 << 10

// detect finds out the format of the first source that tells it.
func (v *verification) detect(sources []verify.Source, stdin *bufio.Reader) (string, error) {
	for _, s := range sources {
		var start []byte
		if s.Once && s.Name == "standard input" {
			start, _ = stdin.Peek(head)
		} else if s.Once {
			continue // what is read of a pipe is gone
		} else {
			in, err := s.Open()
			if err != nil {
				return "", err
			}
			start, err = io.ReadAll(io.LimitReader(in, head))
			in.Close()
			if err != nil {
				return "", err
			}
		}
		if name, ok := verify.Detect(start); ok {
			return name, nil
		}
	}
	return "", usagef("the sources do not tell their format; name it: verify --unique SCHEME FILE..., of %s", strings.Join(scheme.Names(), ", "))
}
