package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
)

func boundsCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bounds FORMAT --from TIME [--to TIME]",
		Short: "show the first ID of a time range and the first after it",
		Long: `bounds prints two IDs: the smallest ID of the tick in which the range starts, and the
smallest of the tick in which it ends. The IDs of the range are at least the first, and
less than the second.

The range goes from --from to --to (now, unless given). Or it is the day of --on. Or it
lies around the time of an ID, --around. A TIME is one of ` + flags.Times + `.

The bounds are texts, with the prefix of --prefix if their column stores typed IDs with
it, or TypeIDs. A format without texts has them in its first encoding, such as the
UUID. The texts of uid60 do not sort by time, so its bounds are integers.

With -o sql it prints a condition for a WHERE clause. --as says how the column stores
IDs: as text, hex (a text, too), int, uuid, bytea (of PostgreSQL) or blob (of SQLite,
MySQL and others). Without it that is int for formats of 64 bits that have integers, and
what bounds prints for the others. --column is taken as it is.

Some texts have capitals and small letters, as of KSUIDs. They are in order of time only
where the column compares bytes: in PostgreSQL with COLLATE "C".`,
		Example: `  sortid bounds scru128 --on 2026-11-17 --tz Europe/Berlin
  sortid bounds scru64 --from -2h -o int
  sortid bounds euid --around C8EE934SR007G5Q94QKKXFRFV8B --within 5m
  sortid bounds scru128 --from -7d -o sql --column orders.id --as uuid`,
		Args:              flags.OneFormat(format.LookupAny),
		ValidArgsFunction: flags.CompleteFormat,
	}
	times := flags.ChooseSpan(cmd, "now")
	output := flags.Choose(cmd, "output", "o", "what to print", "",
		"text", "hex", "int", "uuid", "json", "sql")
	column := cmd.Flags().String("column", "id", "the `COLUMN` in the condition of -o sql")
	prefix := cmd.Flags().String("prefix", "", "the `PREFIX` of the texts, as in user_0372...")
	as := flags.Choose(cmd, "as", "", "how the column stores IDs", "", "text", "hex", "int", "uuid",
		"bytea", "blob")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := format.LookupAny(args[0])
		if err != nil {
			return err
		}
		for _, name := range []string{"column", "as"} {
			if cmd.Flags().Changed(name) && output.Value != "sql" {
				return exit.Usagef("--%s goes with -o sql", name)
			}
		}
		now := time.Now()
		r, err := times.Read(now, s)
		switch {
		case err != nil:
			return err
		case r.From.IsZero():
			return exit.Usagef(
				"bounds wants --from TIME, --on DATE or --around ID; a TIME is one of %s",
				flags.Times)
		case r.To.IsZero():
			r.To = now
		}
		bounds, err := inspect.NewBounds(s, r.From, r.To)
		if err != nil {
			return exit.Usage(err)
		}
		start := ""
		if cmd.Flags().Changed("prefix") {
			if err := s.CheckPrefix(*prefix); err != nil {
				return exit.Usagef("--prefix: %w", err)
			}
			if *prefix != "" {
				start = *prefix + "_"
			}
		}
		var out string
		switch output.Value {
		case "json":
			if start != "" {
				return exit.Usagef("--prefix goes with texts: use -o text, or -o sql --as text")
			}
			b, err := json.Marshal(bounds)
			if err != nil {
				return err
			}
			out = string(b)
		case "sql":
			var e format.Encoding
			out, e, err = condition(s, *column, start, as.Value, bounds.First, bounds.End)
			if err != nil {
				return exit.Usage(err)
			}
			if e == format.Text && mixesCase(s) && !c.Quiet {
				c.Say(
					"note: texts of %s sort by time only as bytes: in PostgreSQL use COLLATE \"C\"",
					s.Name)
			}
		default:
			encoding, err := boundsEncoding(s, format.Encoding(output.Value))
			if err == nil {
				err = checkStart(s, start, encoding)
			}
			if err != nil {
				return err
			}
			out = start + bounds.First.In(encoding) + "\n" + start + bounds.End.In(encoding)
		}
		_, err = fmt.Fprintln(c.Out, out)
		return err
	}
	return cmd
}

// boundsEncoding returns the encoding e or, if that is "", the one by default.
func boundsEncoding(s *format.Format, e format.Encoding) (format.Encoding, error) {
	switch {
	case e == format.Text && s.HasEncoding(e) && !s.TextSorts:
		return "", exit.Usagef(
			"the texts of %s do not sort by time, so no two of them bound a range; -o %s does",
			s.Name, ordered(s))
	case e == "":
		e = ordered(s)
	}
	if err := s.CheckEncoding(e); err != nil {
		return "", exit.Usage(err)
	}
	return e, nil
}

// ordered returns the default encoding of bounds: the first, or the integer if texts do not sort by
// time.
func ordered(s *format.Format) format.Encoding {
	switch {
	case s.Encodings[0] != format.Text || s.TextSorts:
		return s.Encodings[0]
	case s.HasEncoding(format.Int):
		return format.Int
	}
	return s.Encodings[1]
}

// checkStart returns an error if the encoding's texts have no such prefix.
func checkStart(s *format.Format, start string, e format.Encoding) error {
	switch {
	case e != format.Text && start != "":
		return exit.Usagef("--prefix goes with texts: use -o text, or -o sql --as text")
	case e == format.Text && start == "" && s.Prefix != nil:
		return exit.Usagef("texts of %s begin with a prefix, as %s: give it as --prefix", s.Name,
			s.Example)
	}
	return nil
}

// condition returns the SQL condition for a column's IDs in [first, end), and the column's
// encoding. Texts begin with start.
func condition(s *format.Format, column, start, as string, first, end format.ID) (
	string, format.Encoding, error,
) {
	if strings.TrimSpace(column) == "" || strings.ContainsAny(column, "\r\n") {
		return "", "", fmt.Errorf("--column %q is no column", column)
	}
	encoding, quoted := format.Encoding(as), "'%s'"
	switch as {
	case "":
		encoding = ordered(s)
		if s.Size == 8 && s.HasEncoding(format.Int) {
			encoding = format.Int
		}
	case "bytea":
		encoding, quoted = format.Hex, `'\x%s'`
	case "blob":
		encoding, quoted = format.Hex, "X'%s'"
	case "text":
		if s.HasEncoding(format.Text) && !s.TextSorts {
			return "", "", fmt.Errorf(
				"the texts of %s do not sort by time, so no condition on them "+
					"tells a range; --as %s does", s.Name, ordered(s))
		}
	}
	if encoding == format.Int {
		quoted = "%s"
	}
	if err := s.CheckEncoding(encoding); err != nil {
		return "", "", err
	}
	if err := checkStart(s, start, encoding); err != nil {
		return "", "", err
	}
	text := fmt.Sprintf("%s >= "+quoted+" AND %s < "+quoted,
		column, start+first.In(encoding), column, start+end.In(encoding))
	return text, encoding, nil
}

func mixesCase(s *format.Format) bool {
	return !s.FoldsCase && strings.ToLower(s.Symbols) != s.Symbols &&
		strings.ToUpper(s.Symbols) != s.Symbols
}
