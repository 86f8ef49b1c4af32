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
	}
	var o scan.SortOptions
	given := flags.ChooseFormats(cmd, "format", "FORMAT,...",
		"the formats to look for, with commas between them (default as in scan)", format.All())
	layout := flags.ChooseLayout(cmd)
	cmd.Flags().BoolVarP(&o.Reverse, "reverse", "r", false, "print the latest lines first")
	cmd.Flags().StringVar(&o.Dir, "tmp", "", "the `FOLDER` for temporary files")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if o.Formats, err = layout.Apply(given.List); err != nil {
			return err
		}
		return scan.Sort(c, o, args)
	}
	return cmd
}
