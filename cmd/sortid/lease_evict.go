package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/leases"
	"github.com/sortid/sortid/cmd/sortid/internal/realms"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

func leaseEvictCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "evict URL ID/BITS", SuggestFor: []string{"revoke"},
		Short: "take a node ID from its holder",
		Args:  flags.Arguments("URL", "ID/BITS"),
	}
	st := leases.ChooseStore(c, cmd, leases.Patience)
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.CanAsk(cmd.Name(), *yes); err != nil {
			return err
		}
		var r *realms.Realm
		var e realms.Entry
		if err := st.Use(args[0], func(ctx context.Context, s store.Store) (err error) {
			if r, err = realms.ReadOne(ctx, c, s, st.Realm); err != nil {
				return err
			}
			b, err := r.Block(args[1])
			e = r.EntryOf(b)
			return err
		}); err != nil {
			return err
		}
		if e.Owner == "" {
			return fmt.Errorf("nobody holds node ID %s of realm %q", args[1], r.Name)
		}
		if !*yes &&
			!c.Ask(
				"Node ID %s of realm %q is held by %s, granted until %s.\nIts generators go on until then at most, and then with another node ID.\nTake it?", e.Block, r.Name, e.Who(), e.Until) {
			return errors.New("nothing was changed")
		}
		return st.Use(args[0], func(ctx context.Context, s store.Store) error {
			held, err := r.Evict(ctx, s, e)
			switch {
			case err != nil:
				return err
			case !held:
				return fmt.Errorf(
					"meanwhile node ID %s of realm %q has been given back by %s; nothing was changed", e.Block, r.Name, e.Who())
			}
			fmt.Fprintf(c.Err,
				"sortid: node ID %s of realm %q is taken from %s, whose generators go on until %s at most; others can be granted it from then on\n", e.Block, r.Name, e.Who(), e.Until)
			return nil
		})
	}
	return cmd
}
