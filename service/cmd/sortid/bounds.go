package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/scheme"
	"github.com/sortid/sortid/service/internal/when"
	"github.com/spf13/cobra"
)

func (a *app) boundsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bounds SCHEME --from TIME --to TIME",
		Short: "show the IDs between which those of a time range are",
		Long: `bounds prints two IDs: the smallest of the tick of --from, and the smallest of the
tick of --to. IDs of the time range are those from the first on, up to but not
including the second.

A TIME is one of ` + wrap(when.Accepted, 70, "") + `.

With -o sql it prints a condition for a WHERE clause. --as says how the column
stores IDs: as text, hex (a text, too), int, uuid, bytea (of PostgreSQL) or blob
(of SQLite, MySQL and others). Without it that is int for the formats of 64 bits,
and text for the others. --column is taken as it is.`,
		Example: `  sortid bounds scru128 --from 2026-11-17 --to 2026-11-18
  sortid bounds scru64 --from -2h --to now -o int
  sortid bounds scru128 --from -7d --to now -o sql --column orders.id --as uuid`,
		Args:              oneScheme,
		ValidArgsFunction: completeScheme,
	}
	from := cmd.Flags().String("from", "", "the first `TIME` of the range")
	to := cmd.Flags().String("to", "", "the first `TIME` after the range")
	output := choose(cmd, "output", "o", "what to print", "text", "text", "hex", "int", "uuid", "json", "sql")
	column := cmd.Flags().String("column", "id", "the `COLUMN` in the condition of -o sql")
	as := choose(cmd, "as", "", "how the column stores IDs", "", "text", "hex", "int", "uuid", "bytea", "blob")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := scheme.Lookup(args[0])
		if err != nil {
			return err
		}
		if *from == "" || *to == "" {
			return usagef("bounds wants --from TIME and --to TIME; a TIME is one of %s", when.Accepted)
		}
		for _, name := range []string{"column", "as"} {
			if cmd.Flags().Changed(name) && output.value != "sql" {
				return usagef("--%s goes with -o sql", name)
			}
		}
		now := time.Now()
		start, err := timeOf("from", *from, now)
		if err != nil {
			return err
		}
		end, err := timeOf("to", *to, now)
		if err != nil {
			return err
		}
		first, last, err := s.Bounds(start, end)
		if err != nil {
			return usageError{err}
		}
		var out string
		switch output.value {
		case "json":
			b, err := json.Marshal(struct {
				Scheme string          `json:"scheme"`
				From   string          `json:"from"`
				To     string          `json:"to"`
				First  json.RawMessage `json:"first"`
				End    json.RawMessage `json:"end"`
			}{s.Name, scheme.FormatTime(start), scheme.FormatTime(end), first.AppendJSON(nil), last.AppendJSON(nil)})
			if err != nil {
				return err
			}
			out = string(b)
		case "sql":
			if out, err = condition(s, *column, as.value, first, last); err != nil {
				return usageError{err}
			}
		default:
			form := scheme.Form(output.value)
			if err := s.CheckForm(form); err != nil {
				return usageError{err}
			}
			out = first.In(form) + "\n" + last.In(form)
		}
		_, err = fmt.Fprintln(a.out, out)
		return err
	}
	return cmd
}

// condition returns the SQL condition that a column's ID is in [first, end).
func condition(s *scheme.Scheme, column, as string, first, end scheme.ID) (string, error) {
	if strings.TrimSpace(column) == "" || strings.ContainsAny(column, "\r\n") {
		return "", fmt.Errorf("--column %q is no column", column)
	}
	form, format := scheme.Form(as), "'%s'"
	switch as {
	case "":
		form = scheme.Text
		if s.Bits == 64 {
			form, format = scheme.Int, "%s"
		}
	case "int":
		format = "%s"
	case "bytea":
		form, format = scheme.Hex, `'\x%s'`
	case "blob":
		form, format = scheme.Hex, "X'%s'"
	case "text":
		if !s.TextSorts {
			return "", fmt.Errorf("the texts of %s do not sort by time, so no condition on them tells a range; its integers do: --as int", s.Name)
		}
	}
	if err := s.CheckForm(form); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s >= "+format+" AND %s < "+format, column, first.In(form), column, end.In(form)), nil
}
