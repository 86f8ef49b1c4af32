package main

import (
	"errors"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/leases"
	"github.com/sortid/sortid/cmd/sortid/internal/realms"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

func leaseFenceCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fence URL",
		Short: "make the realms of a store safe after it has lost changes",
		Args:  flags.Arguments("URL"),
	}
	st := leases.ChooseStore(c, cmd, leases.Patience)
	skew := cmd.Flags().Duration("skew", time.Minute,
		"how far ahead clocks may have been, a `DURATION`")
	of := leases.ChooseFormat(cmd, "make a realm that is lost, for the node IDs of this format")
	window, lead := leases.ChooseTerms(cmd, "the realm's", "the realm's")
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.CanAsk(cmd.Name(), *yes); err != nil {
			return err
		}
		open := store.OpenExisting
		if of.One() != nil {
			open = store.Open
		}
		f := &realms.Fencing{Console: c, Realm: st.Realm, Lost: of.One(), Skew: *skew,
			Window: *window, Lead: *lead}
		if err := st.Open(args[0], open, f.Find); err != nil {
			return err
		}
		if !*yes &&
			!c.Ask(
				"Fence %q?\nFor about the window, the lead and %v no node ID is granted; running processes use up the windows\nthat they have, wait, and then get other node IDs.\nDo it?", f.Names, *skew) {
			return errors.New("nothing was changed")
		}
		return f.End(st.Open(args[0], open, f.Run))
	}
	return cmd
}
