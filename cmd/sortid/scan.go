package main

import (
	"path/filepath"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/cmd/sortid/internal/scan"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

func scanCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scan [FILE...|-]",
		Short: "find IDs in logs and other text, and show their times",
	}
	s := &scanning{}
	s.formats = flags.ChooseFormats(cmd, "format", "FORMAT,...",
		"the formats to look for, with commas between them (default "+
			"formats whose IDs are easy to tell from other text)", format.All())
	s.layout = flags.ChooseLayout(cmd)
	s.output = flags.Choose(cmd, "output", "o", "what to print", "annotate", "annotate", "lines",
		"ids", "json")
	s.times = flags.ChooseSpan(cmd, "no end")
	f := cmd.Flags()
	named := func(yes bool) func(string) error {
		return func(string) error { s.options.Names = &yes; return nil }
	}
	f.BoolFuncP("with-filename", "H",
		"begin lines with the file's name (default if there are several files)", named(true))
	f.BoolFuncP("no-filename", "h", "do not begin lines with the file's name", named(false))
	f.BoolVarP(&s.options.Numbers, "line-number", "n", false, "begin lines with their number")
	f.BoolVarP(&s.count, "count", "c", false, "print how many lines of each file have IDs")
	f.BoolVar(&s.only, "only-matching", false, "print only the IDs, one per line")
	f.BoolVarP(&s.options.Recursive, "recursive", "r", false,
		"read the files in folders (default the current folder), but follow no symbolic links")
	f.StringArrayVar(&s.options.Include, "include", nil,
		"read only files whose base name matches this `PATTERN`, such as '*.log'; may be repeated")
	f.BoolVarP(&s.options.Binary, "text", "a", false, "read binary files as if they were text")
	f.BoolVarP(&s.files, "files-with-matches", "l", false, "print only the names of files with IDs")
	f.BoolVarP(&s.options.Invert, "invert-match", "v", false, "print only the lines without IDs")
	f.UintVarP(&s.after, "after-context", "A", 0, "print `N` lines after each line with IDs")
	f.UintVarP(&s.before, "before-context", "B", 0, "print `N` lines before each line with IDs")
	f.UintVarP(&s.around, "context", "C", 0, "print `N` lines before and after each line with IDs")
	f.Bool("help", false, "help for scan") // -h is --no-filename
	for _, what := range []string{"count", "only-matching", "files-with-matches"} {
		cmd.MarkFlagsMutuallyExclusive(what, "output")
		for _, name := range lineFlags {
			cmd.MarkFlagsMutuallyExclusive(name, what)
		}
	}
	for _, name := range lineFlags {
		cmd.MarkFlagsMutuallyExclusive(name, "output")
	}
	cmd.MarkFlagsMutuallyExclusive("files-with-matches", "count")
	cmd.MarkFlagsMutuallyExclusive("files-with-matches", "only-matching")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := s.read(); err != nil {
			return err
		}
		if len(args) == 0 && c.InTerminal && f.NFlag() == 1 && f.Changed("no-filename") {
			return cmd.Help() // the user of "sortid scan -h" probably wants help
		}
		return scan.Run(c, s.options, args)
	}
	return cmd
}

// lineFlags choose lines, as -o lines does.
var lineFlags = []string{"invert-match", "after-context", "before-context", "context"}

type scanning struct {
	options scan.Options
	formats *flags.Formats
	layout  *flags.Layout
	output  *flags.Choice
	times   *flags.Span

	only, count, files    bool
	before, after, around uint
}

// read sets the options that need more than the value of one flag.
func (s *scanning) read() (err error) {
	if s.formats.List, err = s.layout.Apply(s.formats.List); err != nil {
		return err
	}
	r, err := s.times.Read(time.Now(), (&inspect.Reader{Format: s.formats.One()}).Time)
	if err != nil {
		return err
	}
	s.options.Formats, s.options.From, s.options.To = s.formats.List, r.From, r.To
	s.options.Output = scan.Output(s.output.Value)
	switch {
	case s.count:
		s.options.Output = scan.Count
	case s.only:
		s.options.Output = scan.Only
	case s.files:
		s.options.Output = scan.Files
	case s.options.Invert || s.before > 0 || s.after > 0 || s.around > 0:
		s.options.Output = scan.Lines
	}
	const most = 1 << 20 // lines in memory
	s.options.Before = int(min(max(s.before, s.around), most))
	s.options.After = int(min(max(s.after, s.around), most))
	for _, pattern := range s.options.Include {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return console.UsageErrorf("--include %q: want a pattern such as '*.log'", pattern)
		}
	}
	return nil
}
