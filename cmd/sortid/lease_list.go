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
		Long: `list shows the node IDs of a realm that were ever used:

    held      a process has it, and renews it
    expired   its holder has not renewed it in time, and nobody else can have it yet
    lapsed    the same, and the next process may have it
    free      nobody has it
    spent     nobody has it, and nobody can have it yet: its ticks count as used up to
              FREE FROM, as after "sortid lease exec"
    ahead     the same, but so far ahead of the time that the clock of its last process
              was wrong

UNTIL is the end of all grants of the node ID. FREE FROM is when another process can have
it, unless it is renewed. The first line says how much of the realm is in which state;
"not available yet" is what is spent or ahead. If a process is killed, its node ID is
held, and then expired, for a little over one and a half windows. So a deployment that
replaces all processes at once needs twice as many node IDs as there are processes, which
is one more bit.

With --out-of-use, list shows only what is expired, spent or ahead; with --all, also the node
IDs that are split into smaller ones, or part of a larger one (retired).`,
		Example: `  sortid lease list bolt:/var/lib/sortid.db
  sortid lease list bolt:/var/lib/sortid.db --realm orders --out-of-use
  sortid lease list bolt:/var/lib/sortid.db --realm orders -o json | jq -r 'select(.state == "held") | .holder'`,
		Args: flags.Arguments("URL"),
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
