package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

func (a *app) formatsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "formats",
		Short: "compare the formats, to choose one",
		Long: `formats shows the formats beside each other, to choose one. With -o json it prints all that is known about
each: the bits of the layout, the encodings, the range of times, the options.`,
		Example: `  sortid formats
  sortid formats -o json | jq -r 'select(.bits == 128) | .format'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("formats wants no arguments; unexpected argument %q", args[0])
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	output := choose(cmd, "output", "o", "what to print", "table", "table", "json")

	cmd.RunE = func(*cobra.Command, []string) error {
		var out []byte
		if output.value == "table" {
			out = a.comparison()
		} else {
			var err error
			if out, err = formatsJSON(); err != nil {
				return err
			}
		}
		_, err := a.out.Write(out)
		return err
	}
	return cmd
}

// formatsJSON returns all that is known about each format, one object a line.
func formatsJSON() (out []byte, err error) {
	for _, s := range format.Ours() {
		b, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		choose, err := json.Marshal(s.Choose)
		if err != nil {
			return nil, err
		}
		out = fmt.Appendf(out, "%s,\"choose\":%s}\n", b[:len(b)-1], choose)
	}
	return out, nil
}

// comparison returns the table of the formats: a column for what fits one, the rest
// below.
func (a *app) comparison() []byte {
	rows := [][]string{{"FORMAT", "BITS", "TEXT", "TICK", "UNTIL", "TEXT SORTS", "UNIQUE THROUGH"}}
	for _, s := range format.Ours() {
		sorts := "no"
		if s.TextSorts {
			sorts = "yes"
		}
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Bits), s.Lengths(), tick(s.Tick), fmt.Sprint(s.Last.Year()), sorts, s.Unique})
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
	narrow := a.width-indent < 20
	if narrow { // the last column goes below
		for i := range rows {
			rows[i] = rows[i][:len(rows[i])-1]
		}
	}
	for i, row := range rows {
		style := plain
		if i == 0 {
			style = strong
		}
		for j, cell := range row {
			if j == len(row)-1 && !narrow {
				cell = wrap(cell, max(a.width-indent, 20), strings.Repeat(" ", indent))
				b = append(b, a.paint(style, cell)...)
				continue
			}
			if j < len(row)-1 {
				cell = fmt.Sprintf("%-*s", widths[j]+2, cell)
			}
			b = append(b, a.paint(style, cell)...)
		}
		b = append(b, '\n')
	}
	section := func(title string, of func(*format.Format) string) {
		b = append(b, '\n')
		b = append(b, a.paint(strong, title)...)
		b = append(b, '\n')
		for _, s := range format.Ours() {
			b = fmt.Appendf(b, "  %-9s%s\n", s.Name, wrap(of(s), max(a.width-11, 20), strings.Repeat(" ", 11)))
		}
	}
	if narrow {
		section("UNIQUE THROUGH", func(s *format.Format) string { return s.Unique })
	}
	section("CHOOSE IT WHEN", func(s *format.Format) string { return s.Choose })
	section("IN ONE TICK", func(s *format.Format) string { return s.PerTick })
	section("LOOKS LIKE", func(s *format.Format) string { return s.Example })
	return b
}

func tick(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
