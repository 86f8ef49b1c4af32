package main

import (
	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/web"
)

func pageCommand(c *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:               "page",
		Short:             "write a web page that inspects, finds and makes IDs",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			page, _ := web.Page()
			_, err := c.Out.Write(page)
			return err
		},
	}
}
