package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/leases"
	"github.com/sortid/sortid/cmd/sortid/internal/realms"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

func leaseSetCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set URL",
		Short: "change the window or the lead of a realm",
		Args:  flags.Arguments("URL"),
	}
	st := leases.ChooseStore(c, cmd, leases.Patience)
	window, lead := leases.ChooseTerms(cmd, "as it is", "as it is")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *window == 0 && *lead == 0 {
			return exit.Usagef("set wants --lease-window or --lead")
		}
		return st.Use(args[0], func(ctx context.Context, s store.Store) error {
			r, err := realms.ReadOne(ctx, c, s, st.Realm)
			if err != nil {
				return err
			}
			terms, err := lease.SetTerms(ctx, s, r.Name, *window, *lead)
			if errors.Is(err, lease.ErrConfig) {
				return exit.Usage(err)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Err,
				"sortid: realm %q has windows of %v and a lead of %v; it had %v and %v\n", r.Name,
				terms.Rounded(terms.Window), terms.Rounded(terms.Lead),
				terms.Rounded(r.Root.Terms.Window), terms.Rounded(r.Root.Terms.Lead))
			if terms.Window > r.Root.Terms.Window || terms.Lead > r.Root.Terms.Lead {
				fmt.Fprintf(c.Err,
					"sortid: a copy of the store that was made before now must, if it is restored, be fenced with --lease-window %v --lead %v\n",
					terms.Rounded(terms.Window), terms.Rounded(terms.Lead))
			}
			return nil
		})
	}
	return cmd
}
