package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
)

func formatsCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "formats",
		Short:             "compare the formats, to choose one",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	output := flags.Choose(cmd, "output", "o", "what to print", "table", "table", "json")

	cmd.RunE = func(*cobra.Command, []string) error {
		out := catalog.Table()
		if output.Value == "table" {
			out = comparison(c)
		}
		_, err := c.Out.Write(out)
		return err
	}
	return cmd
}

// comparison returns a table of our formats, their longer descriptions, and a list of other
// formats.
func comparison(c *console.Console) []byte {
	ours := spec.Ours()
	var cells strings.Builder
	w := tabwriter.NewWriter(&cells, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FORMAT\tBITS\tTEXT\tTICK\tUNTIL\tTEXT SORTS\t")
	for _, s := range ours {
		sorts := map[bool]string{true: "yes", false: "no"}[s.Text.Sorts]
		fmt.Fprintf(w, "%s\t%d\t%s\t%d ms\t%d\t%s\t\n", s.Name, s.Bits, lengths(s),
			s.Tick.Milliseconds(), s.Last.Year(), sorts)
	}
	w.Flush()
	var b []byte
	narrow := false
	for i, row := range strings.Split(strings.TrimSuffix(cells.String(), "\n"), "\n") {
		style, unique := console.Strong, "UNIQUE THROUGH"
		if i > 0 {
			style, unique = console.Plain, ours[i-1].Plan.Unique
		}
		if narrow = c.Width-len(row) < 20; narrow { // a list below shows the last column
			row = strings.TrimRight(row, " ")
		} else {
			row += c.Hang(unique, len(row))
		}
		b = append(append(b, c.Paint(style, row)...), '\n')
	}
	section := func(title string, formats []*spec.Format, of func(*spec.Format) string) {
		b = fmt.Appendf(b, "\n%s\n", c.Paint(console.Strong, title))
		names := 0
		for _, s := range formats {
			names = max(names, len(s.Name))
		}
		for _, s := range formats {
			b = fmt.Appendf(b, "  %-*s  %s\n", names, s.Name, c.Hang(of(s), names+4))
		}
	}
	if narrow {
		section("UNIQUE THROUGH", ours, func(s *spec.Format) string { return s.Plan.Unique })
	}
	section("CHOOSE IT WHEN", ours, func(s *spec.Format) string { return s.Plan.Choose })
	section("IN ONE TICK", ours, func(s *spec.Format) string { return s.Plan.PerTick })
	section("LOOKS LIKE", ours, func(s *spec.Format) string { return s.Example })
	section("SHARE OF RANDOM TEXTS THAT LOOK LIKE IT", ours, func(s *spec.Format) string {
		return strconv.FormatFloat(100*s.Chance(spec.Text, s.Example, 0), 'g', 3, 64) + " %"
	})
	section("FORMATS OF OTHERS, WHICH SORTID READS", spec.All()[len(ours):],
		func(s *spec.Format) string { return s.Summary })
	return b
}

// lengths returns the usual lengths of texts in words, such as "9 or 10".
func lengths(f *spec.Format) string {
	var lengths []string
	for _, n := range f.Text.Usual {
		lengths = append(lengths, strconv.Itoa(n))
	}
	if f.Text.Hex {
		lengths = append(lengths, strconv.Itoa(2*f.Size))
	}
	return words.List(lengths, "or")
}
