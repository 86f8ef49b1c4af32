package main

import (
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
		Args:  flags.Arguments("URL", "[ID/BITS]"),
	}
	st := leases.ChooseStore(c, cmd, leases.LookPatience)
	output := flags.Choose(cmd, "output", "o", "what to print", "card", "card", "json")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return st.Print(args[0], func(ctx context.Context, s store.Store) ([]byte, error) {
			items, err := itemsOf(ctx, c, s, st.Realm, args[1:])
			if output.Value == "json" {
				return realms.AppendJSON(nil, items...), err
			}
			var out []byte
			for i, it := range items {
				if i > 0 {
					out = append(out, '\n')
				}
				out = realms.AppendCard(c, out, it)
			}
			return out, err
		})
	}
	return cmd
}

// itemsOf returns summaries of the realms, or entries of the node ID and those that it overlaps.
func itemsOf(ctx context.Context, c *console.Console, s store.Store, realm string,
	node []string) (items []realms.Item, err error) {
	if len(node) == 0 {
		all, err := realms.ReadAll(ctx, c, s, realm)
		for _, r := range all {
			items = append(items, r.Summary(s.Conditions()))
		}
		return items, err
	}
	r, err := realms.ReadOne(ctx, c, s, realm)
	if err != nil {
		return nil, err
	}
	b, err := r.Block(node[0])
	for _, e := range r.Around(b) {
		items = append(items, e)
	}
	return items, err
}
