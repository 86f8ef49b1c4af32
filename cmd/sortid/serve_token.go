package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/server/access"
)

func serveTokenCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "make a token for the server",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf(
					"token wants one name, the name of the program "+
						"that gets the token; there are %d arguments",
					len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	file := cmd.Flags().String("tokens", "",
		"the `FILE` to append the line to; a missing file is made")
	allow := cmd.Flags().StringSlice("allow", []string{"ids"},
		"what the token may do: `PERMISSION`s with commas between them")
	requests := cmd.Flags().Int("requests", 0, "at most `N` requests a second (0: no limit)")
	ids := cmd.Flags().Int("ids", 0, "at most `N` IDs a second (0: no limit)")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *requests < 0 || *ids < 0 {
			return console.UsageErrorf("--requests and --ids want 0 or more")
		}
		text, line, err := access.NewToken(args[0], *allow, *requests, *ids)
		if err != nil {
			return console.UsageError(err)
		}
		if *file != "" { // before the token is printed, so that a printed token is valid
			if err := access.AppendToken(*file, line); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(c.Out, text); err != nil {
			if *file == "" {
				return err
			}
			// This is an error even if the reader closed the output, because the name is already in
			// the file.
			return fmt.Errorf("the token was not printed: %v; "+
				"delete the line of %s from %s and make the token again", err, args[0], *file)
		}
		if *file == "" {
			_, err = fmt.Fprint(c.Err, line)
		}
		return err
	}
	return cmd
}
