package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/cmd/sortid/internal/realms"
	"github.com/sortid/sortid/cmd/sortid/internal/supervise"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/store"
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
	supervise.AddWatchdog(c, cmd)
	return cmd
}

func leaseListCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list URL",
		Short: "show which node IDs are held, by whom and until when",
		Args:  flags.Arguments("URL"),
	}
	st := nodeid.ChooseStore(c, cmd, nodeid.LookPatience)
	output := flags.Choose(cmd, "output", "o", "what to print", "table", "table", "json")
	every := cmd.Flags().Bool("all", false,
		"also show node IDs that are split into smaller ones, or part of a larger one")
	unused := cmd.Flags().Bool("out-of-use", false,
		"show only node IDs that nobody uses and nobody can have yet")
	cmd.MarkFlagsMutuallyExclusive("all", "out-of-use")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		which := realms.WholeBlocks
		switch {
		case *every:
			which = realms.AllBlocks
		case *unused:
			which = realms.OutOfUse
		}
		if *every && nodeid.IsServer(args[0]) {
			return console.UsageErrorf(
				"--all: a server shows only node IDs that somebody holds, or nobody " +
					"can have yet; run this with the URL of the server's own store")
		}
		return st.Print(args[0], func(ctx context.Context, s store.Source) (out []byte, err error) {
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

func leaseShowCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show URL [ID/BITS]",
		Short: "show all about a realm, or about a node ID",
		Args:  flags.Arguments("URL", "[ID/BITS]"),
	}
	st := nodeid.ChooseStore(c, cmd, nodeid.LookPatience)
	output := flags.Choose(cmd, "output", "o", "what to print", "card", "card", "json")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return st.Print(args[0], func(ctx context.Context, s store.Source) ([]byte, error) {
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

// itemsOf returns the realms' summaries or, if a node ID is given, the entries that overlap with
// this node ID.
func itemsOf(ctx context.Context, c *console.Console, s store.Source, realm string,
	given []string) (items []realms.Item, err error) {
	if len(given) == 0 {
		all, err := realms.ReadAll(ctx, c, s, realm)
		for _, r := range all {
			items = append(items, r.Summary(s.Conditions()))
		}
		return items, err
	}
	r, b, err := realms.ReadNode(ctx, s, realm, given[0])
	if err != nil {
		return nil, err
	}
	for _, e := range r.Around(b) {
		items = append(items, e)
	}
	return items, nil
}

func leaseCreateCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create URL --format FORMAT",
		Short: "make a realm",
		Args:  flags.Arguments("URL"),
	}
	st := nodeid.ChooseStore(c, cmd, nodeid.Patience)
	of := nodeid.ChooseFormat(cmd, "the format of the realm's node IDs")
	bits := chooseBits(cmd, "grant only node IDs of this size (default: of scru64, all sizes; "+
		"of other formats, the size of the format's field)")
	window, lead := nodeid.ChooseTerms(cmd, nodeid.UsualPace.Window.String()+", with all sizes 1m0s",
		"10s")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if of.One() == nil && *bits == 0 {
			return console.UsageErrorf(
				"create wants --format: one of %s; for generators of other formats, "+
					"--node-bits", strings.Join(catalog.Names(nodefield.Formats()), ", "))
		}
		config, err := newRealm(of.One(), st.Realm, int(*bits))
		if err != nil {
			return err
		}
		config.Window, config.MaxLead = *window, *lead
		if err := nodeid.Validate(config); err != nil {
			return err
		}
		return nodeid.UseWith(st, args[0], store.OpenSource,
			func(ctx context.Context, s store.Source) error {
				conditions := s.Conditions()
				for _, condition := range conditions {
					c.Say("%s", condition)
				}
				err := nodeid.Create(ctx, c, s, &nodeid.Options{URL: args[0], ForProgram: true},
					config)
				if len(conditions) == 0 { // a server tells them with its first realm
					for _, condition := range s.Conditions() {
						c.Say("%s", condition)
					}
				}
				return err
			})
	}
	return cmd
}

func chooseBits(cmd *cobra.Command, usage string) *flags.Count {
	bits := new(flags.Count)
	cmd.Flags().Var(bits, "node-bits", usage)
	cmd.Flags().Lookup("node-bits").DefValue = "0"
	return bits
}

func newRealm(f *format.Format, name string, bits int) (lease.Config, error) {
	if f == nil && name == "" {
		return lease.Config{}, console.UsageErrorf(
			"without --format, --node-bits wants --realm NAME")
	}
	return nodeid.NewRealm(f, name, bits)
}

func leaseSetCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set URL",
		Short: "change the window or the lead of a realm",
		Args:  flags.Arguments("URL"),
	}
	st := nodeid.ChooseStore(c, cmd, nodeid.Patience)
	window, lead := nodeid.ChooseTerms(cmd, "as it is", "as it is")
	force := cmd.Flags().Bool("force", false,
		"make the window or the lead shorter even if processes hold leases and may end")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *window == 0 && *lead == 0 {
			return console.UsageErrorf("set wants --lease-window or --lead")
		}
		return st.Use(args[0], func(ctx context.Context, s store.Source) error {
			realm, err := realms.Choose(ctx, s, st.Realm)
			if err != nil {
				return err
			}
			was, err := s.Terms(ctx, realm)
			if err != nil {
				return err
			}
			terms, err := s.SetTerms(ctx, realm,
				lease.TermsChange{Window: *window, Lead: *lead, Force: *force})
			if errors.Is(err, lease.ErrConfig) {
				return console.UsageError(err)
			}
			if used := (*lease.InUseError)(nil); errors.As(err, &used) {
				return fmt.Errorf("%w. Nothing was changed. "+
					"With --force, their leases become shorter, and their programs may end", used)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Err,
				"sortid: realm %q has windows of %v and a lead of %v; it had %v and %v\n", realm,
				terms.Rounded(terms.Window), terms.Rounded(terms.Lead),
				terms.Rounded(was.Window), terms.Rounded(was.Lead))
			if terms.Window > was.Window || terms.Lead > was.Lead {
				fmt.Fprintf(c.Err,
					"sortid: if you restore the store from a copy made before now, "+
						"fence it with --lease-window %v --lead %v\n",
					terms.Rounded(terms.Window), terms.Rounded(terms.Lead))
			}
			return nil
		})
	}
	return cmd
}

func leaseEvictCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "evict URL ID/BITS", SuggestFor: []string{"revoke"},
		Short: "take a node ID from its holder, or free one that waits after its use",
		Args:  flags.Arguments("URL", "ID/BITS"),
	}
	st := nodeid.ChooseStore(c, cmd, nodeid.Patience)
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	ahead := cmd.Flags().Duration("ahead", 10*time.Second,
		"how far the times in the last holder's IDs were ahead of its clock, a `DURATION`")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.CanAsk(cmd.Name(), *yes); err != nil {
			return err
		}
		if *ahead < 0 {
			return console.UsageErrorf("--ahead %v: want 0s or more", *ahead)
		}
		r, e, err := readUsed(st, args[0], args[1])
		switch {
		case err != nil:
			return err
		case e.Waits():
			return reclaim(c, st, args[0], r, e, *ahead, *yes)
		case e.IsHeld():
			return evict(c, st, args[0], r, e, *yes)
		}
		err = fmt.Errorf("nobody holds node ID %s of realm %q", args[1], r.Name)
		if e.LeadMS != nil && *e.LeadMS > 0 {
			err = fmt.Errorf("%w; the next holder can use it from %s on", err, e.Until)
		}
		return err
	}
	return cmd
}

// readUsed reads a node ID. If nobody uses it, the entry may be older than its holder, so readUsed
// reads it again until it cannot be.
func readUsed(st *nodeid.StoreFlags, url, node string) (r *realms.Realm, e realms.Entry, err error) {
	err = st.Use(url, func(ctx context.Context, s store.Source) error {
		for began := time.Now(); ; {
			var b lease.Block
			var err error
			if r, b, err = realms.ReadNode(ctx, s, st.Realm, node); err != nil {
				return err
			}
			e = r.EntryOf(b)
			if e.IsHeld() || e.Waits() || time.Since(began) >= r.MaxAge {
				return nil
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return nil
			}
		}
	})
	return r, e, err
}

// evict takes a node ID from its holder.
func evict(c *console.Console, st *nodeid.StoreFlags, url string, r *realms.Realm, e realms.Entry,
	yes bool) error {
	if err := c.Confirm(yes, `Node ID %s of realm %q is held by %s, granted until %s.
The process can use it until then at most, and then gets another node ID.
Take it?`, e.Block, r.Name, e.Who(), e.Until); err != nil {
		return err
	}
	return st.Use(url, func(ctx context.Context, s store.Source) error {
		held, err := realms.Evict(ctx, s, e)
		switch {
		case err != nil:
			return err
		case !held:
			return fmt.Errorf("node ID %s of realm %q has been given back by %s in the meantime; "+
				"nothing was changed", e.Block, r.Name, e.Who())
		}
		fmt.Fprintf(c.Err, "sortid: node ID %s of realm %q is taken from %s; "+
			"that process can use it until %s at most, "+
			"and other processes can have the node ID from then on\n",
			e.Block, r.Name, e.Who(), e.Until)
		return nil
	})
}

// reclaim frees a node ID that waits after its last use.
func reclaim(c *console.Console, st *nodeid.StoreFlags, url string, r *realms.Realm,
	e realms.Entry, ahead time.Duration, yes bool) error {
	if nodeid.IsServer(url) {
		return fmt.Errorf("nobody holds node ID %s of realm %q; it waits after its last use, "+
			"and can be had from %s on. A server cannot free it earlier; "+
			"run this with the URL of the server's own store", e.Block, r.Name, e.FreeFrom)
	}
	if err := c.Confirm(yes, `Node ID %s of realm %q waits after its last use by %s.
That process has released it. Were the times in its IDs at most %v ahead of its clock?
Free the node ID?`, e.Block, r.Name, e.Who(), ahead); err != nil {
		return err
	}
	free := func(ctx context.Context, s store.Store) error {
		return realms.Reclaim(ctx, s, e, ahead)
	}
	if err := nodeid.UseWith(st, url, store.OpenExisting, free); err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "sortid: node ID %s of realm %q is free\n", e.Block, r.Name)
	return nil
}

func leaseFenceCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fence URL",
		Short: "make the realms of a store safe after it has lost changes",
		Args:  flags.Arguments("URL"),
	}
	st := nodeid.ChooseStore(c, cmd, nodeid.Patience)
	skew := cmd.Flags().Duration("skew", time.Minute,
		"how far ahead clocks may have been, a `DURATION`")
	of := nodeid.ChooseFormat(cmd, "make the lost realm again, for node IDs of this format")
	bits := chooseBits(cmd, "make the lost realm again, for node IDs of this size")
	window, lead := nodeid.ChooseTerms(cmd, "the realm's", "the realm's")
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.CanAsk(cmd.Name(), *yes); err != nil {
			return err
		}
		if nodeid.IsServer(args[0]) {
			return console.UsageErrorf(
				"fence: a server cannot fence its store, because no process may reach " +
					"the store until it is fenced; stop the server, and run this with the URL of its store")
		}
		open := store.OpenExisting
		f := &realms.Fencing{Console: c, Realm: st.Realm, Skew: *skew, Window: *window, Lead: *lead,
			Pace: nodeid.PaceOf(args[0])}
		if of.One() != nil || *bits != 0 {
			lost, err := newRealm(of.One(), st.Realm, int(*bits))
			if err != nil {
				return err
			}
			f.Lost, open = &lost, store.Open
		}
		if err := nodeid.UseWith(st, args[0], open, f.Find); err != nil {
			return err
		}
		if err := c.Confirm(*yes, `Fence %q?
Then nobody gets a node ID for about the window plus %v. Running processes use up their windows,
wait, and then get other node IDs.
Do it?`, f.Names, *skew); err != nil {
			return err
		}
		return f.End(nodeid.UseWith(st, args[0], open, f.Run))
	}
	return cmd
}
