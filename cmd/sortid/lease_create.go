package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/leases"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

func leaseCreateCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create URL --format FORMAT",
		Short: "make a realm",
		Args:  flags.Arguments("URL"),
	}
	st := leases.ChooseStore(c, cmd, leases.Patience)
	of := leases.ChooseFormat(cmd, "the format whose node IDs it has")
	window, lead := leases.ChooseTerms(cmd, "1m0s", "10s")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		realmOf := of.One()
		if realmOf == nil {
			return exit.Usagef("create wants --format: one of %s",
				strings.Join(format.WithNode(), ", "))
		}
		config := lease.Config{Realm: cmp.Or(st.Realm, realmOf.Name), Format: realmOf.Lease, NodeBits: 1,
			Window: *window, MaxLead: *lead}
		if err := config.Validate(); err != nil {
			return exit.Usage(err)
		}
		return st.Open(args[0], store.Open, func(ctx context.Context, s store.Store) error {
			for _, condition := range s.Conditions() {
				c.Complain("%s", condition)
			}
			return leases.Create(ctx, c, s, &leases.Options{URL: args[0]}, config)
		})
	}
	return cmd
}
