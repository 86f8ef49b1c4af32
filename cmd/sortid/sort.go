package main

import (
	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/scan"
	"github.com/sortid/sortid/format"
)

func sortCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sort [FILE...|-]",
		Short: "sort lines by the times of their IDs",
		Long: `sort prints the lines of all files, or of standard input, in order of time. The first ID
in a line tells its time. sort finds it by the rules of "sortid scan", in any format, so lines
with different kinds of IDs sort together.

Lines of the same time keep their order. A line without an ID stays behind the line before
it, as the lines of a stack trace do. Lines before a file's first ID come first of all, as
headings do. "sortid scan -o lines" leaves out what has no ID. In a longer line, sort looks
for an ID only in the first 256 KiB.

Files may be compressed with gzip or Zstandard. What does not fit in memory is sorted on
disk, in a folder that is removed at the end, and takes as much space as the lines.`,
		Example: `  sortid sort app.log
  sortid sort --reverse app.log.*.gz | head
  sortid scan -o lines --on yesterday app.log | sortid sort
  sortid sort --format snowflake-discord messages.csv`,
	}
	var o scan.SortOptions
	given := flags.ChooseFormats(cmd, "format",
		"the formats to look for, with commas between them (default as in scan)", format.All())
	cmd.Flags().BoolVarP(&o.Reverse, "reverse", "r", false, "print the latest lines first")
	cmd.Flags().StringVar(&o.Dir, "tmp", "", "the `FOLDER` for temporary files")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Formats = given.List
		return scan.Sort(c, o, args)
	}
	return cmd
}
