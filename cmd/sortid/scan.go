package main

import (
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/scan"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

// unnamed has the names of the formats that scan looks for by default.
var unnamed = func() (names []string) {
	for _, f := range format.All() {
		if !f.Search.WordLike && !f.Search.Named {
			names = append(names, f.Name)
		}
	}
	return names
}()

func scanCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scan [FILE...|-]",
		Short: "find IDs in logs and other text, and show their times",
		Long: `scan finds IDs inside text, such as logs, CSV, JSON and URLs.

With -o annotate every line passes through, with the time in brackets after each
ID. With -o lines only lines with an ID pass, unchanged; with --from and --to only
IDs of that time count. -o ids prints FILE:LINE:COLUMN, format, time and ID, with
tabs between them; -o json what "sortid inspect" does, and file, line and column.
Columns count bytes from 1.

An ID stands by itself: no letter or digit is next to it. It is in its format's
text encoding with letters of one case, a UUID, or a hexadecimal number of full width.
Its check symbols are right and its time is plausible: from 2010 to a year from
now. Hexadecimal numbers count only if nine in ten of their length have such a time, since
hashes look the same.

Without --format, scan looks for ` + strings.Join(unnamed, ", ") + `.
It looks for the others only if --format names them, since other text looks like them: many
words are valid uid60 IDs.

Files may be compressed with gzip or Zstandard. Binary files are skipped. A line
longer than 256 KiB is taken in parts.

Exit codes, as grep's: 0 if something was found, 1 if not, 2 for trouble.`,
		Example: `  tail -f app.log | sortid scan
  sortid scan --from 2026-11-17 --to 2026-11-18 -o lines app.log.*.gz
  sortid scan -o ids --format scru128,uid60 dump.sql
  sortid scan -o json < events.jsonl | jq -r .time`,
	}
	given := flags.ChooseFormats(cmd, "format",
		"the formats to look for, with commas between them (default "+
			"those that are hard to confuse)", format.All())
	output := flags.Choose(cmd, "output", "o", "what to print", "annotate", "annotate", "lines",
		"ids", "json")
	times := flags.ChooseSpan(cmd, "no end")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var known *format.Format
		if len(given.List) == 1 {
			known = given.List[0]
		}
		r, err := times.Read(time.Now(), known)
		if err != nil {
			return err
		}
		o := scan.Options{Formats: given.List, Output: output.Value, From: r.From, To: r.To}
		return scan.Run(c, o, args)
	}
	return cmd
}
