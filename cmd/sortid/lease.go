package main

import (
	"fmt"
	"strings"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/wrap"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

func leaseCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lease",
		Short: "look at leased node IDs, make realms, take a node ID back, fence a store",
		Long: `Generators that share a store lease their node IDs from it ("sortid new --lease
URL"), so that no two have the same, and no ID is made twice. The commands below
look at the leases in a store, and change them where that is needed.

A lease grants a node ID for a window of time, by default a minute. IDs with that node
ID carry times of that window only. The process renews the lease before the window
ends. If a process dies, nobody uses its node ID until half a window after the end of
its last window.

A realm is a set of node IDs. Only one process at a time has each of them. All
generators whose IDs must differ lease from one realm of one store. By default,
"sortid new" takes the realm with the format's name. Without --realm the commands below
deal with all realms of the store.

The URL of a store is one of

` + storeURLs() + `
where the file serves the processes of one machine. The documentation of the
packages in store has the parameters, and what the guarantee depends on.
"sortid lease show URL" shows that, too. Others on this machine can see a password
in a URL while the command runs: with env:NAME instead the URL is taken from the
environment variable NAME. PostgreSQL's password can also be in ~/.pgpass.`,
		Example: `  sortid lease list bolt:/var/lib/sortid.db
  sortid lease show bolt:/var/lib/sortid.db 42/8`,
		Args: flags.NoCommand,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(leaseListCommand(c), leaseShowCommand(c), leaseCreateCommand(c),
		leaseSetCommand(c), leaseEvictCommand(c), leaseFenceCommand(c),
		leaseExecCommand(c))
	wrap.AddWatchdog(c, cmd)
	return cmd
}

func storeURLs() string {
	var b strings.Builder
	forms, kinds := store.Forms()
	for i := range forms {
		fmt.Fprintf(&b, "    %-18s%s\n", kinds[i], forms[i])
	}
	return b.String()
}
