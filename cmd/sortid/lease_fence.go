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
		Long: `fence is for a store that was restored from an old copy, or failed over to a server
that lacked the latest changes. Such a store has forgotten grants, and could make them
a second time. Keep all processes away from the store and fence it. Only then let
processes reach it again.

Without --realm, fence fences all realms of the store. After a fence, all new grants start
later than all grants before the loss could end. That is the time of the fence, plus the
realm's window, its lead and --skew. --skew is how far ahead the clocks may have been when
grants were made. If the store still knows of a grant that ends even later, new grants of
that node ID start after it. Until then no node ID is granted. Running processes use up
their windows, and wait. All get new node IDs.

For each realm fence prints its name and when node IDs are granted again. --lease-window
and --lead also change the realm's window and lead. If the lost realm had a longer window
or lead than the copy, give at least these. If even the realm is lost, --format makes it.

A sortid server cannot pass a fence on: give the URL of the store behind it.

fence asks first, unless told --yes.`,
		Example: `  sortid lease fence postgres://sortid@db/sortid
  sortid lease fence bolt:/var/lib/sortid.db --skew 5m --yes
  sortid lease fence bolt:/var/lib/sortid.db --realm orders --format scru64`,
		Args: flags.Arguments("URL"),
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
