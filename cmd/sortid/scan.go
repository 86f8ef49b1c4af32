package main

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/scan"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

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

-H, -h, -n, -c, -r, --only-matching and --include mean what they mean to grep. So -h is not
for help: that is --help. Of several files, lines begin with the file's name.

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
  sortid scan -r -c --include '*.log' /var/log
  sortid scan -h --only-matching a.log b.log | sort | uniq -c
  sortid scan -o ids --format scru128,uid60 dump.sql
  sortid scan -o json < events.jsonl | jq -r .time`,
	}
	s := &scanning{cmd: cmd}
	s.formats = flags.ChooseFormats(cmd, "format",
		"the formats to look for, with commas between them (default "+
			"those that are hard to confuse)", format.All())
	s.output = flags.Choose(cmd, "output", "o", "what to print", "annotate", "annotate", "lines",
		"ids", "json")
	s.times = flags.ChooseSpan(cmd, "no end")
	f := cmd.Flags()
	named := func(yes bool) func(string) error {
		return func(string) error { s.Names = &yes; return nil }
	}
	f.BoolFuncP("with-filename", "H", "begin lines with the file's name, as of several files",
		named(true))
	f.BoolFuncP("no-filename", "h", "begin no line with the file's name", named(false))
	f.BoolVarP(&s.Numbers, "line-number", "n", false, "begin lines with their number")
	f.BoolVarP(&s.count, "count", "c", false, "print how many lines of each file have IDs")
	f.BoolVar(&s.only, "only-matching", false, "print only the IDs, each in a line")
	f.BoolVarP(&s.Recursive, "recursive", "r", false,
		"read the files in folders (default the current one), without symbolic links")
	f.StringArrayVar(&s.Include, "include", nil,
		"read only files whose base name this `PATTERN` matches, such as '*.log'; may be repeated")
	f.Bool("help", false, "help for scan") // without its usual letter

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := s.read(); err != nil {
			return err
		}
		if len(args) == 0 && c.InTerminal && f.NFlag() == 1 && f.Changed("no-filename") {
			return cmd.Help() // who types "sortid scan -h" means that
		}
		return scan.Run(c, s.Options, args)
	}
	return cmd
}

// A scanning is a run of the command scan.
type scanning struct {
	scan.Options
	cmd         *cobra.Command
	formats     *flags.Formats
	output      *flags.Choice
	times       *flags.Span
	only, count bool
}

// read reads the flags that are no options by themselves.
func (s *scanning) read() error {
	r, err := s.times.Read(time.Now(), s.formats.One())
	if err != nil {
		return err
	}
	s.Formats, s.From, s.To = s.formats.List, r.From, r.To
	s.Output = scan.Output(s.output.Value)
	switch {
	case (s.only || s.count) && s.cmd.Flags().Changed("output"):
		return exit.Usagef("--only-matching and --count exclude --output")
	case s.count:
		s.Output = scan.Count
	case s.only:
		s.Output = scan.Only
	}
	for _, pattern := range s.Include {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return exit.Usagef("--include %q: want a pattern such as '*.log'", pattern)
		}
	}
	return nil
}
