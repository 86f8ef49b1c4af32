package main

import (
	"context"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/leases"
	"github.com/sortid/sortid/cmd/sortid/internal/realms"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

func leaseListCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list URL",
		Short: "show which node IDs are held, by whom and until when",
		Args:  flags.Arguments("URL"),
	}
	st := leases.ChooseStore(c, cmd, leases.LookPatience)
	output := flags.Choose(cmd, "output", "o", "what to print", "table", "table", "json")
	every := cmd.Flags().Bool("all", false, "show node IDs that are split or part of another, too")
	unused := cmd.Flags().Bool("out-of-use", false,
		"show only node IDs that nobody uses and nobody can have yet")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		which := realms.WholeBlocks
		switch {
		case *every && *unused:
			return exit.Usagef("--all and --out-of-use exclude each other")
		case *every:
			which = realms.AllBlocks
		case *unused:
			which = realms.OutOfUse
		}
		return st.Print(args[0], func(ctx context.Context, s store.Store) (out []byte, err error) {
			all, err := realms.ReadAll(ctx, c, s, st.Realm)
			for i, r := range all {
				entries := r.Entries(which)
				if output.Value == "json" {
					out = realms.AppendJSON(out, entries...)
					continue
				}
				if i > 0 {
					out = append(out, '\n')
				}
				out = realms.AppendTable(c, out, r, entries)
			}
			return out, err
		})
	}
	return cmd
}
