package main

import (
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/wrap"
	"github.com/spf13/cobra"
)

func leaseCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lease",
		Short: "look at leased node IDs, make realms, take a node ID back, fence a store",
		Args:  flags.NoCommand,
		RunE:  func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(leaseListCommand(c), leaseShowCommand(c), leaseCreateCommand(c),
		leaseSetCommand(c), leaseEvictCommand(c), leaseFenceCommand(c),
		leaseExecCommand(c))
	wrap.AddWatchdog(c, cmd)
	return cmd
}
