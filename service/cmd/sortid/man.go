package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write the manual pages into a folder",
		Example: `  sortid man /usr/local/share/man/man1
  sortid man . && man ./sortid-inspect.1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("man wants one folder, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err != nil {
				return err
			} else if !info.IsDir() {
				return fmt.Errorf("%s is no folder", args[0])
			}
			return doc.GenManTree(cmd.Root(), &doc.GenManHeader{Title: "SORTID", Section: "1", Source: "sortid", Manual: "sortid"}, args[0])
		},
	}
}
