// Package tester does the work of "sortid verify". It opens sources, finds their format, starts
// generators, and prints package verify's findings.
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

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/duplicates"
	"github.com/sortid/sortid/verify/report"
)

type Tester struct {
	*console.Console
	Output     string // report, json, junit, html or list
	Options    verify.Options
	Duplicates duplicates.Options
	Exec       Execution
}

// until returns a context that the first signal ends, to report on what has come. The second ends
// the program.
func until() context.Context {
	ctx, _ := exit.UntilSignal()
	return ctx
}

func (v *Tester) style() report.Style {
	tones := map[report.Tone]*color.Color{
		report.Strong: console.Strong, report.Faint: console.Faint, report.Caution: console.Caution,
		report.Good: color.New(color.FgGreen), report.Bad: color.New(color.FgRed, color.Bold),
	}
	width := 0
	if v.OutTerminal {
		width = v.Width
	}
	if v.Options.Raw != "" { // the report goes to standard error
		return report.Style{Width: v.ErrWidth}
	}
	return report.Style{
		Width: width,
		Bars:  v.OutTerminal,
		Paint: func(t report.Tone, s string) string { return v.Paint(tones[t], s) },
	}
}

// SplitFormat takes a format off the arguments.
func SplitFormat(args []string) (name string, files []string, err error) {
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

// Run verifies each source by itself. name, of their format, may be "".
func (v *Tester) Run(name string, files []string) error {
	to := v.Out
	if v.Options.Raw != "" {
		switch {
		case v.OutTerminal:
			return exit.Usagef(
				"--raw writes bits that are not for a terminal; redirect standard output")
		case len(files) > 1:
			return exit.Usagef("--raw takes one source, not %d", len(files))
		}
		v.Options.RawTo, to = &patient{w: v.Out}, v.Err
	}
	p := &printer{Tester: v, out: bufio.NewWriter(to)}
	ctx := until()
	for _, file := range files {
		r, err := v.one(ctx, name, v.source(file))
		if r != nil && r.Bytes == 0 && file == "-" && v.Output == "report" &&
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

func (v *Tester) one(ctx context.Context, name string, s *source) (*report.Report, error) {
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
	o := v.Options
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

// A patient drops what is written after its reader has gone. Readers of a field's bits take only as
// many as they need.
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

type printer struct {
	*Tester
	out     *bufio.Writer
	reports []*report.Report
	bad     bool // whether a check failed
}

func (p *printer) report(r *report.Report) (err error) {
	p.bad = p.bad || r.Status == report.Fail
	p.reports = append(p.reports, r)
	switch p.Output {
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

// end prints the rest, and returns the command's result. duplicates may be nil.
func (p *printer) end(duplicates *report.Unique) (err error) {
	switch p.Output {
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

// Unique looks for duplicates in all sources together.
func (v *Tester) Unique(name string, files []string) (err error) {
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
	v.Duplicates.NodeBits = v.Options.NodeBits
	out := bufio.NewWriterSize(v.Out, 64<<10)
	ctx := until()
	r, err := v.find(ctx, name, sources, out)
	if err != nil {
		return err
	}
	switch v.Output {
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
	if err == nil && v.Output == "list" && r.Status != report.Pass {
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

// find looks for duplicates, shows its progress, and lists them on out if wanted.
func (v *Tester) find(ctx context.Context, name string, sources []duplicates.Source,
	out io.Writer) (*report.Unique, error) {
	var failed error
	switch v.Output {
	case "json":
		v.Duplicates.Each = func(d report.Duplicate) {
			failed = cmp.Or(failed, report.DuplicateJSON(out, d))
		}
	case "list":
		v.Duplicates.Each = func(d report.Duplicate) {
			failed = cmp.Or(failed, report.DuplicateText(out, d))
		}
	}
	if !v.InTerminal || !slices.ContainsFunc(
		sources, func(s duplicates.Source) bool { return s.Name == "standard input" }) {
		var bar *console.Progress
		var last duplicates.Progress
		v.Duplicates.Progress = func(p duplicates.Progress) {
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
	r, err := duplicates.Find(ctx, name, sources, v.Duplicates)
	if failed != nil {
		return nil, failed
	}
	return r, err
}

// TimedNames returns the formats that can be verified.
func TimedNames() (names []string) {
	for _, f := range format.All() {
		if f.Timed() != nil {
			names = append(names, f.Name)
		}
	}
	return names
}
