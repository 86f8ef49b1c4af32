package main

import (
	"cmp"
	"context"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/leases"
	"github.com/sortid/sortid/cmd/sortid/internal/realms"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

func leaseShowCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show URL [ID/BITS]",
		Short: "show all about a realm, or about a node ID",
		Long: `show prints all that the store has about a node ID, and about node IDs that it overlaps:
the larger one that it is part of, or the smaller ones that it is split into. Without a
node ID it describes the realm: its node IDs and ticks, how much of it is held, and what
the store's guarantee depends on.`,
		Example: `  sortid lease show bolt:/var/lib/sortid.db
  sortid lease show bolt:/var/lib/sortid.db 42/8 --realm orders
  sortid lease show bolt:/var/lib/sortid.db 42/8 -o json`,
		Args: flags.Arguments("URL", "[ID/BITS]"),
	}
	st := leases.ChooseStore(c, cmd, leases.LookPatience)
	output := flags.Choose(cmd, "output", "o", "what to print", "card", "card", "json")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var items []realms.Item
		var unread error
		err := st.Use(args[0], func(ctx context.Context, s store.Store) error {
			if len(args) == 1 {
				all, err := realms.ReadAll(ctx, c, s, st.Realm)
				for _, r := range all {
					items = append(items, r.Summary(s.Conditions()))
				}
				if unread = realms.Reported(err); unread != nil {
					err = nil
				}
				return err
			}
			r, err := realms.ReadOne(ctx, c, s, st.Realm)
			if err != nil {
				return err
			}
			b, err := r.Block(args[1])
			for _, e := range r.Around(b) {
				items = append(items, e)
			}
			return err
		})
		if err != nil {
			return err
		}
		var out []byte
		if output.Value == "json" {
			out = realms.AppendJSON(out, items...)
		} else {
			for i, it := range items {
				if i > 0 {
					out = append(out, '\n')
				}
				out = realms.AppendCard(c, out, it)
			}
		}
		_, err = c.Out.Write(out)
		return cmp.Or(err, unread)
	}
	return cmd
}
