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
	f.Bool("help", false, "help for scan") // -h is --no-filename
	cmd.MarkFlagsMutuallyExclusive("only-matching", "output")
	cmd.MarkFlagsMutuallyExclusive("count", "output")

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

type scanning struct {
	options     scan.Options
	formats     *flags.Formats
	layout      *flags.Layout
	output      *flags.Choice
	times       *flags.Span
	only, count bool
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
	}
	for _, pattern := range s.options.Include {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return console.UsageErrorf("--include %q: want a pattern such as '*.log'", pattern)
		}
	}
	return nil
}
