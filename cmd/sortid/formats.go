package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/format"
)

func formatsCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "formats", SuggestFor: []string{"schemes"},
		Short: "compare the formats, to choose one",
		Long: `formats shows the formats that sortid makes beside each other, to choose one, and
lists the formats of others that it reads. With -o json it prints all that is known
about each format, in a line: the layout, the text, the times, the options.`,
		Example: `  sortid formats
  sortid formats -o json | jq -r 'select(.generates and .bits == 128) | .name'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("formats wants no arguments; unexpected argument %q", args[0])
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	output := flags.Choose(cmd, "output", "o", "what to print", "table", "table", "json")

	cmd.RunE = func(*cobra.Command, []string) error {
		out := format.Table()
		if output.Value == "table" {
			out = comparison(c)
		}
		_, err := c.Out.Write(out)
		return err
	}
	return cmd
}

// comparison returns a table of our formats, what does not fit into cells, and others' formats.
func comparison(c *console.Console) []byte {
	rows := [][]string{{"FORMAT", "BITS", "TEXT", "TICK", "UNTIL", "TEXT SORTS", "UNIQUE THROUGH"}}
	for _, s := range format.Ours() {
		sorts := "no"
		if s.TextSorts {
			sorts = "yes"
		}
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Bits), s.Lengths(), tick(s.Tick),
			fmt.Sprint(s.Last.Year()), sorts, s.Unique})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b []byte
	indent := 0
	for _, w := range widths[:len(widths)-1] {
		indent += w + 2
	}
	narrow := c.Width-indent < 20
	if narrow { // the last column goes below
		for i := range rows {
			rows[i] = rows[i][:len(rows[i])-1]
		}
	}
	for i, row := range rows {
		style := console.Plain
		if i == 0 {
			style = console.Strong
		}
		for j, cell := range row {
			if j == len(row)-1 && !narrow {
				cell = console.Wrap(cell, max(c.Width-indent, 20), strings.Repeat(" ", indent))
				b = append(b, c.Paint(style, cell)...)
				continue
			}
			if j < len(row)-1 {
				cell = fmt.Sprintf("%-*s", widths[j]+2, cell)
			}
			b = append(b, c.Paint(style, cell)...)
		}
		b = append(b, '\n')
	}
	section := func(title string, formats []*format.Format, of func(*format.Format) string) {
		b = fmt.Appendf(b, "\n%s\n", c.Paint(console.Strong, title))
		names := 0
		for _, s := range formats {
			names = max(names, len(s.Name))
		}
		indent := names + 4
		for _, s := range formats {
			text := console.Wrap(of(s), max(c.Width-indent, 20), strings.Repeat(" ", indent))
			b = fmt.Appendf(b, "  %-*s  %s\n", names, s.Name, text)
		}
	}
	ours := format.Ours()
	if narrow {
		section("UNIQUE THROUGH", ours, func(s *format.Format) string { return s.Unique })
	}
	section("CHOOSE IT WHEN", ours, func(s *format.Format) string { return s.Choose })
	section("IN ONE TICK", ours, func(s *format.Format) string { return s.PerTick })
	section("LOOKS LIKE", ours, func(s *format.Format) string { return s.Example })
	section("FORMATS OF OTHERS, WHICH SORTID READS", format.All()[len(ours):],
		func(s *format.Format) string { return s.Summary })
	return b
}

func tick(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
