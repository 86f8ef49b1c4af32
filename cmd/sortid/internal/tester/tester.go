// Package tester does the work of "sortid verify". It opens sources, guesses their formats, starts
// generators, and prints reports.
package tester

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/input"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/duplicates"
	"github.com/sortid/sortid/verify/report"
)

type Tester struct {
	Console    *console.Console
	Output     string // report, json, junit, html or list
	Options    verify.Options
	Duplicates duplicates.Options
	Exec       Execution
}

// untilSignal returns a context. The first signal ends this context, so that verify reports on
// what it has read. The second signal ends the program.
func untilSignal() context.Context {
	ctx, _ := console.UntilSignal()
	return ctx
}

func (v *Tester) style() report.Style {
	if v.Options.Raw != "" { // the report goes to standard error
		return report.Style{Width: v.Console.ErrWidth}
	}
	tones := map[report.Tone]*color.Color{
		report.Strong: console.Strong, report.Faint: console.Faint, report.Caution: console.Caution,
		report.Good: color.New(color.FgGreen), report.Bad: color.New(color.FgRed, color.Bold),
	}
	style := report.Style{Bars: v.Console.OutTerminal,
		Paint: func(t report.Tone, s string) string { return v.Console.Paint(tones[t], s) }}
	if v.Console.OutTerminal {
		style.Width = v.Console.Width
	}
	return style
}

// SplitFormat returns the format, if the first argument names one, and the files.
func SplitFormat(args []string) (name string, files []string, err error) {
	if len(args) > 0 {
		f, err := format.Lookup(args[0])
		if err == nil {
			name, args = f.Name(), args[1:]
		} else if _, statErr := os.Stat(args[0]); statErr != nil && args[0] != "-" &&
			!strings.ContainsAny(args[0], `./\`) {
			return "", nil, console.UsageErrorf("there is no file %q; %w", args[0], err)
		}
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	return name, args, nil
}

// Run verifies each source by itself. If name is "", it guesses each source's format.
func (v *Tester) Run(name string, files []string) error {
	to := v.Console.Out
	if v.Options.Raw != "" {
		switch {
		case v.Console.OutTerminal:
			return console.UsageErrorf(
				"--raw writes bits that are not for a terminal; redirect standard output")
		case len(files) > 1:
			return console.UsageErrorf("--raw takes one source, not %d", len(files))
		}
		v.Options.RawTo, to = &patient{w: v.Console.Out}, v.Console.Err
	}
	p := &printer{tester: v, out: bufio.NewWriter(to)}
	ctx := untilSignal()
	v.Options.Sources = new(verify.Sources)
	sources, err := v.sources(files)
	if err != nil {
		return err
	}
	for _, s := range sources {
		r, err := v.one(ctx, name, s)
		if r != nil && r.Bytes == 0 && s.stdin && ctx.Err() == nil {
			if v.Output == "report" {
				return noIDs(s)
			}
			v.Console.Say("%v", noIDs(s))
		}
		switch {
		case errors.Is(err, sortid.ErrOption) || console.IsUsageError(err) || err != nil &&
			ctx.Err() != nil:
			return err
		case err != nil:
			v.Console.Say("%v", err)
			p.bad = true
			continue
		}
		if err := p.report(r); err != nil {
			return err
		}
	}
	return p.end(nil)
}

func (v *Tester) one(ctx context.Context, name string, s *source) (*report.Report, error) {
	if name == "" {
		var err error
		if name, err = formatOf(ctx, false, s); err != nil {
			return nil, err
		}
	}
	in, err := s.read()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	o := v.Options
	if !s.stdin {
		o.Source = s.in.Name
	}
	if !v.Console.InTerminal {
		what, total := "IDs", int64(-1)
		if s.in.Size > 0 {
			what, total = "bytes", s.in.Size
		}
		bar := v.Console.NewProgress(what, total)
		defer bar.End()
		o.Progress = func(at verify.Progress) {
			if s.in.Size > 0 {
				at.IDs = uint64(in.Position())
			}
			bar.Show(at.IDs)
		}
	}
	return verify.Check(ctx, name, in, o)
}

// A patient writer does not fail if its reader closes the pipe, because a program that tests bits
// may not need all of them.
type patient struct {
	w    io.Writer
	gone bool
}

func (p *patient) Write(b []byte) (int, error) {
	if p.gone {
		return len(b), nil
	}
	n, err := p.w.Write(b)
	if console.ClosedPipe(err) {
		p.gone = true
		return len(b), nil
	}
	return n, err
}

type printer struct {
	tester  *Tester
	out     *bufio.Writer
	reports []*report.Report
	bad     bool // whether a check failed
}

func (p *printer) report(r *report.Report) (err error) {
	p.bad = p.bad || r.Status == report.Fail
	p.reports = append(p.reports, r)
	switch p.tester.Output {
	case "report":
		if len(p.reports) > 1 {
			fmt.Fprintln(p.out)
		}
		err = report.Text(p.out, r, p.tester.style())
	case "json":
		err = report.JSON(p.out, r)
	}
	if err != nil {
		return err
	}
	return p.out.Flush()
}

// end prints the rest, and returns the command's result. The parameter duplicates may be nil.
func (p *printer) end(duplicates *report.Unique) (err error) {
	switch {
	case p.tester.Output == "junit":
		err = report.JUnit(p.out, p.reports, duplicates)
	case p.tester.Output == "html":
		err = report.HTML(p.out, p.reports, duplicates)
	case duplicates == nil:
	case p.tester.Output == "report":
		if len(p.reports) > 0 {
			fmt.Fprintln(p.out)
		}
		err = report.UniqueText(p.out, duplicates, p.tester.style())
	case p.tester.Output == "json":
		err = report.UniqueJSON(p.out, duplicates)
	}
	if err == nil {
		err = p.out.Flush()
	}
	if err == nil && (p.bad || duplicates != nil && duplicates.Status == report.Fail) {
		return console.ErrReported
	}
	return err
}

// Unique looks for duplicates in all sources together.
func (v *Tester) Unique(name string, files []string) (err error) {
	all, err := v.sources(files)
	if err != nil {
		return err
	}
	if name == "" {
		if name, err = formatOf(context.Background(), true, all...); err != nil {
			return err
		}
	}
	var sources []duplicates.Source
	for _, s := range all {
		plain := s.in
		plain.Open = func() (io.ReadCloser, error) { return s.read() }
		sources = append(sources, plain)
	}
	v.Duplicates.NodeBits = v.Options.NodeBits
	p := &printer{tester: v, out: bufio.NewWriterSize(v.Console.Out, 64<<10)}
	ctx := untilSignal()
	r, err := v.find(ctx, name, sources, p.out)
	if err != nil {
		return err
	}
	if r.IDs == 0 && r.Sources[0].Lines == 0 && len(all) == 1 && all[0].stdin && !r.Interrupted {
		if v.Output == "report" {
			return noIDs(all[0])
		}
		v.Console.Say("%v", noIDs(all[0]))
	}
	err = p.end(r)
	if v.Output == "list" && r.Status != report.Pass && (err == nil || err == console.ErrReported) {
		if failed := report.UniqueText(v.Console.Err, r, report.Style{}); failed != nil {
			return failed
		}
	}
	if r.Interrupted && (err == nil || err == console.ErrReported) {
		return console.Cause(ctx, console.ErrInterrupted)
	}
	return err
}

func (v *Tester) find(ctx context.Context, name string, sources []duplicates.Source,
	out io.Writer) (*report.Unique, error) {
	var failed error
	var bar *console.Progress
	defer func() { bar.End() }()
	write := map[string]func(io.Writer, report.Duplicate) error{
		"json": report.DuplicateJSON, "list": report.DuplicateText}[v.Output]
	if write != nil {
		v.Duplicates.Each = func(d report.Duplicate) {
			bar.End() // the search is over, and what it found comes now
			bar = nil
			if failed == nil {
				failed = write(out, d)
			}
		}
	}
	if !v.Console.InTerminal || !slices.ContainsFunc(
		sources, func(s duplicates.Source) bool { return s.Name == input.Stdin }) {
		var last duplicates.Progress
		v.Duplicates.Progress = func(p duplicates.Progress) {
			if bar == nil || p.Stage != last.Stage || p.Total != last.Total {
				bar.End()
				bar = v.Console.NewProgress("bytes", cmp.Or(p.Total, -1))
				bar.Describe(string(p.Stage))
			}
			last = p
			bar.Show(uint64(p.Done))
		}
	}
	r, err := duplicates.Find(ctx, name, sources, v.Duplicates)
	return r, cmp.Or(failed, err)
}

// Names returns the formats that verify knows.
func Names() (names []string) {
	for _, f := range format.All() {
		if verify.Knows(f) {
			names = append(names, f.Name())
		}
	}
	return names
}
