package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/typed"
)

func boundsCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "bounds [FORMAT] --from TIME [--to TIME]",
		Short:             "show the first ID of a time range and the first ID after it",
		ValidArgsFunction: flags.CompleteFormat(timedFormats()),
	}
	layout := flags.ChooseLayout(cmd)
	one := flags.OneFormat(format.Lookup)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && layout.Given() {
			return nil
		}
		return one(cmd, args)
	}
	q := &boundsQuery{console: c, changed: cmd.Flags().Changed, times: flags.ChooseSpan(cmd, "now")}
	q.output = flags.Choose(cmd, "output", "o", "what to print", "",
		"text", "hex", "int", "uuid", "json", "sql")
	cmd.Flags().StringVar(&q.column, "column", "id", "the `COLUMN` in the condition of -o sql")
	cmd.Flags().StringVar(&q.prefix, "prefix", "",
		"the `PREFIX` of the texts, such as user for user_0372...")
	q.as = flags.Choose(cmd, "as", "", "how the column stores IDs", "", "text", "hex", "int", "uuid",
		"bytea", "blob")

	cmd.RunE = func(_ *cobra.Command, args []string) (err error) {
		var named []*format.Format
		for _, name := range args {
			f, err := format.Lookup(name)
			if err != nil {
				return err
			}
			named = append(named, f)
		}
		if named, err = layout.Apply(named); err != nil {
			return err
		}
		q.format = named[0]
		return q.run()
	}
	return cmd
}

// timedFormats returns the formats whose IDs are in order of time.
func timedFormats() []*format.Format {
	return slices.DeleteFunc(format.All(), func(f *format.Format) bool {
		_, _, err := f.Bounds(f.First(), f.Last())
		return err != nil
	})
}

type boundsQuery struct {
	console        *console.Console
	format         *format.Format
	changed        func(flag string) bool
	times          *flags.Span
	output, as     *flags.Choice
	column, prefix string
}

func (q *boundsQuery) run() error {
	for _, name := range []string{"column", "as"} {
		if q.changed(name) && q.output.Value != "sql" {
			return console.UsageErrorf("--%s needs -o sql", name)
		}
	}
	bounds, err := q.bounds()
	if err != nil {
		return err
	}
	if q.changed("prefix") {
		if err := checkPrefix(q.format, q.prefix); err != nil {
			return console.UsageErrorf("--prefix: %w", err)
		}
		if q.prefix != "" {
			q.prefix += "_"
		}
	}
	switch q.output.Value {
	case "json":
		if q.prefix != "" {
			return errPrefix
		}
		return json.NewEncoder(q.console.Out).Encode(bounds)
	case "sql":
		return q.printCondition(bounds.First, bounds.End)
	}
	encoding := cmp.Or(format.Encoding(q.output.Value), q.ordered())
	if encoding == format.Text && slices.Contains(q.format.Encodings(), encoding) &&
		!spec.Of(q.format).Text.Sorts {
		return console.UsageErrorf(
			"the texts of %s do not sort by time, so they cannot bound a range; use -o %s",
			q.format.Name(), q.ordered())
	}
	if err := q.check(encoding); err != nil {
		return err
	}
	_, err = fmt.Fprintf(q.console.Out, "%[1]s%[2]s\n%[1]s%[3]s\n", q.prefix,
		bounds.First.In(encoding), bounds.End.In(encoding))
	return err
}

// By default, the range ends now.
func (q *boundsQuery) bounds() (*inspect.Bounds, error) {
	now := time.Now()
	r, err := q.times.Read(now, (&inspect.Reader{Format: q.format}).Time)
	switch {
	case err != nil:
		return nil, err
	case r.From.IsZero():
		return nil, console.UsageErrorf(
			"bounds wants --from TIME, --on DATE or --around ID; a TIME is one of %s", flags.Times)
	case r.To.IsZero():
		r.To = now
	}
	bounds, err := inspect.NewBounds(q.format, r.From, r.To)
	if err != nil {
		return nil, console.UsageError(err)
	}
	return bounds, nil
}

// ordered returns the default encoding. This is the format's first encoding, if that sorts by time.
// Otherwise it is the integer or, if the format has none, the second encoding.
func (q *boundsQuery) ordered() format.Encoding {
	switch {
	case q.format.Encodings()[0] != format.Text || spec.Of(q.format).Text.Sorts:
		return q.format.Encodings()[0]
	case slices.Contains(q.format.Encodings(), format.Int):
		return format.Int
	}
	return q.format.Encodings()[1]
}

var errPrefix = console.UsageErrorf("--prefix is for texts: use -o text, or -o sql --as text")

func (q *boundsQuery) check(e format.Encoding) error {
	switch err := spec.Of(q.format).CheckEncoding(spec.Encoding(e)); {
	case err != nil:
		return console.UsageError(err)
	case e != format.Text && q.prefix != "":
		return errPrefix
	case e == format.Text && q.prefix == "" && spec.Of(q.format).Text.Prefix != nil:
		return console.UsageErrorf(
			"texts of %s begin with a prefix, as in %s: give the prefix with --prefix",
			q.format.Name(), q.format.Example())
	}
	return nil
}

func (q *boundsQuery) printCondition(first, end format.ID) error {
	if strings.TrimSpace(q.column) == "" || strings.ContainsAny(q.column, "\r\n") {
		return console.UsageErrorf("--column %q is not a column", q.column)
	}
	encoding, quoted := format.Encoding(q.as.Value), "'%s'"
	switch q.as.Value {
	case "":
		encoding = q.ordered()
		if q.format.Size() == 8 && slices.Contains(q.format.Encodings(), format.Int) {
			encoding = format.Int
		}
	case "bytea":
		encoding, quoted = format.Hex, `'\x%s'`
	case "blob":
		encoding, quoted = format.Hex, "X'%s'"
	case "text":
		if slices.Contains(q.format.Encodings(), format.Text) && !spec.Of(q.format).Text.Sorts {
			return console.UsageErrorf(
				"the texts of %s do not sort by time, so a condition on them "+
					"cannot select a range; use --as %s", q.format.Name(), q.ordered())
		}
	}
	if encoding == format.Int {
		quoted = "%s"
	}
	if err := q.check(encoding); err != nil {
		return err
	}
	if encoding == format.Text && q.mixesCase() && !q.console.Quiet {
		q.console.Say("note: texts of %s sort by time only if the column compares bytes: "+
			"in PostgreSQL use COLLATE \"C\"",
			q.format.Name())
	}
	_, err := fmt.Fprintf(q.console.Out, "%s >= "+quoted+" AND %s < "+quoted+"\n",
		q.column, q.prefix+first.In(encoding), q.column, q.prefix+end.In(encoding))
	return err
}

func (q *boundsQuery) mixesCase() bool {
	text := spec.Of(q.format).Text
	return !text.FoldsCase && strings.ToLower(text.Symbols) != text.Symbols &&
		strings.ToUpper(text.Symbols) != text.Symbols
}

// checkPrefix returns an error if no ID can have the prefix. The prefix does not include the
// underscore.
func checkPrefix(f *format.Format, prefix string) error {
	switch {
	case f.Generates():
		return typed.CheckPrefix(prefix)
	case spec.Of(f).Text.Prefix == nil:
		return fmt.Errorf("%s IDs have no prefix", f.Name())
	}
	id := f.Example()[strings.LastIndexByte(f.Example(), '_'):]
	if _, err := f.Parse(prefix + id); err != nil {
		return fmt.Errorf("%q is not a prefix of %s IDs, such as %s", prefix, f.Name(), f.Example())
	}
	return nil
}
