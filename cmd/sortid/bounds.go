package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/when"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

func (a *app) boundsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bounds FORMAT --from TIME [--to TIME]",
		Short: "show the IDs between which those of a time range are",
		Long: `bounds prints two IDs: the smallest of the tick of the range's start, and the smallest
of the tick of its end. IDs of the time range are those from the first on, up to but
not including the second.

The range is from --from to --to, or now; or the day of --on; or that around the time
of an ID, --around. A TIME is one of ` + when.Accepted + `.

The texts of uid60 do not sort by time, so its bounds are integers.

With -o sql it prints a condition for a WHERE clause. --as says how the column stores
IDs: as text, hex (a text, too), int, uuid, bytea (of PostgreSQL) or blob (of SQLite,
MySQL and others). Without it that is int for the formats of 64 bits, and text for the
others. --column is taken as it is.`,
		Example: `  sortid bounds scru128 --on 2026-11-17 --tz Europe/Berlin
  sortid bounds scru64 --from -2h -o int
  sortid bounds euid --around C8EE934SR007G5Q94QKKXFRFV8B --within 5m
  sortid bounds scru128 --from -7d -o sql --column orders.id --as uuid`,
		Args:              oneFormat,
		ValidArgsFunction: completeFormat,
	}
	times := addSpanFlags(cmd, "now")
	output := choose(cmd, "output", "o", "what to print", "text", "text", "hex", "int", "uuid", "json", "sql")
	column := cmd.Flags().String("column", "id", "the `COLUMN` in the condition of -o sql")
	as := choose(cmd, "as", "", "how the column stores IDs", "", "text", "hex", "int", "uuid", "bytea", "blob")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := format.Lookup(args[0])
		if err != nil {
			return err
		}
		for _, name := range []string{"column", "as"} {
			if cmd.Flags().Changed(name) && output.value != "sql" {
				return usagef("--%s goes with -o sql", name)
			}
		}
		now := time.Now()
		r, err := times.read(now, s)
		switch {
		case err != nil:
			return err
		case r.from.IsZero():
			return usageError{errNoSpan}
		case r.to.IsZero():
			r.to = now
		}
		start, end := r.from, r.to
		first, last, err := s.Bounds(start, end)
		if err != nil {
			return usageError{err}
		}
		var out string
		switch output.value {
		case "json":
			b, err := json.Marshal(struct {
				Format string    `json:"format"`
				From   string    `json:"from"`
				To     string    `json:"to"`
				First  format.ID `json:"first"`
				End    format.ID `json:"end"`
			}{s.Name, format.FormatTime(start), format.FormatTime(end), first, last})
			if err != nil {
				return err
			}
			out = string(b)
		case "sql":
			if out, err = condition(s, *column, as.value, first, last); err != nil {
				return usageError{err}
			}
		default:
			encoding := format.Encoding(output.value)
			if encoding == format.Text && !s.TextSorts {
				if cmd.Flags().Changed("output") {
					return usagef("the texts of %s do not sort by time, so no two of them bound a range; its integers do: -o int", s.Name)
				}
				encoding = format.Int
			}
			if err := s.CheckEncoding(encoding); err != nil {
				return usageError{err}
			}
			out = first.In(encoding) + "\n" + last.In(encoding)
		}
		_, err = fmt.Fprintln(a.out, out)
		return err
	}
	return cmd
}

// condition returns the SQL condition that a column's ID is in [first, end).
func condition(s *format.Format, column, as string, first, end format.ID) (string, error) {
	if strings.TrimSpace(column) == "" || strings.ContainsAny(column, "\r\n") {
		return "", fmt.Errorf("--column %q is no column", column)
	}
	encoding, quoted := format.Encoding(as), "'%s'"
	switch as {
	case "":
		encoding = format.Text
		if s.Bits == 64 {
			encoding, quoted = format.Int, "%s"
		}
	case "int":
		quoted = "%s"
	case "bytea":
		encoding, quoted = format.Hex, `'\x%s'`
	case "blob":
		encoding, quoted = format.Hex, "X'%s'"
	case "text":
		if !s.TextSorts {
			return "", fmt.Errorf("the texts of %s do not sort by time, so no condition on them tells a range; its integers do: --as int", s.Name)
		}
	}
	if err := s.CheckEncoding(encoding); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s >= "+quoted+" AND %s < "+quoted, column, first.In(encoding), column, end.In(encoding)), nil
}
