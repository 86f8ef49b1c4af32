package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/scheme"
	"github.com/sortid/sortid/service/store"
	"github.com/spf13/cobra"
)

func (a *app) leaseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lease",
		Short: "look at leased node IDs, take one back, fence a realm",
		Long: `Generators that share a store lease their node IDs from it ("sortid new --lease
URL"), so that no two have the same, and no ID is made twice. The commands below
look at the leases in a store, and change them where that is needed.

A lease grants a node ID together with a window of time, a minute long if nobody
has said otherwise, and IDs with that node ID carry times of that window only. It
is renewed in good time. A process that dies leaves its node ID unused until half
a window after the end of its last one.

A realm is a set of node IDs, each of which only one process has at a time.
Unless told otherwise, "sortid new" takes the scheme's name for it. Without
--realm the commands look at the realms of these names: ` + strings.Join(scheme.WithNode(), ", ") + `.

The URL of a store is one of

` + storeURLs() + `
where the file serves the processes of one machine. The documentation of the
packages in service/store tells the parameters, and on what the guarantee rests;
"sortid lease show URL" tells that, too. Others on this machine can see a password
in a URL while the command runs: with env:NAME instead the URL is taken from the
environment variable NAME. PostgreSQL's password can also be in ~/.pgpass.`,
		Example: `  sortid lease list bolt:/var/lib/sortid.db
  sortid lease show bolt:/var/lib/sortid.db 42/8`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(a.leaseListCommand(), a.leaseShowCommand(), a.leaseReleaseCommand(), a.leaseFenceCommand())
	return cmd
}

// storeURLs returns how the URLs of the stores look.
func storeURLs() string {
	var b strings.Builder
	forms, kinds := store.Forms()
	for i := range forms {
		fmt.Fprintf(&b, "    %-18s%s\n", kinds[i], forms[i])
	}
	return b.String()
}

func (a *app) leaseListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list URL",
		Short: "show which node IDs are held, by whom and until when",
		Long: `list shows the node IDs of a realm that were ever of use:

    held      somebody has it, and renews it
    lapsed    its holder has not renewed it in time: the next may have it
    free      nobody has it

UNTIL is the end of all that was ever granted of the node ID; LEAD is how far that
is ahead of the store's clock. What lies beyond the realm's lead can be granted
only later, which the first line counts as "not yet". With --all, list also shows
the node IDs that are split into smaller ones, or part of a larger one (retired).`,
		Example: `  sortid lease list bolt:/var/lib/sortid.db
  sortid lease list bolt:/var/lib/sortid.db --realm orders -o json | jq -r 'select(.state == "held") | .holder'`,
		Args: storeArgs("URL"),
	}
	realm := realmFlag(cmd)
	output := choose(cmd, "output", "o", "what to print", "table", "table", "json")
	every := cmd.Flags().Bool("all", false, "show node IDs that are split or part of another, too")

	cmd.RunE = func(_ *cobra.Command, args []string) error {
		var out []byte
		err := onStore(args[0], func(ctx context.Context, st store.Store) error {
			realms, err := readRealms(ctx, st, *realm)
			if err != nil {
				return err
			}
			for i, r := range realms {
				entries := r.entries(*every)
				if output.value == "json" {
					out = appendJSON(out, entries...)
					continue
				}
				if i > 0 {
					out = append(out, '\n')
				}
				out = a.leaseTable(out, r, entries)
			}
			return nil
		})
		if err != nil {
			return err
		}
		_, err = a.out.Write(out)
		return err
	}
	return cmd
}

func (a *app) leaseShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show URL [ID/BITS]",
		Short: "show all about a realm, or about a node ID",
		Long: `show tells all that the store has about a node ID, and about those that it
overlaps: the larger one that it is part of, or the smaller ones that it is split
into. Without a node ID it tells about the realm: how its node IDs and ticks count,
how much of it is held, and on what the store's guarantee rests.`,
		Example: `  sortid lease show bolt:/var/lib/sortid.db
  sortid lease show bolt:/var/lib/sortid.db 42/8 --realm orders
  sortid lease show bolt:/var/lib/sortid.db 42/8 -o json`,
		Args: storeArgs("URL", "[ID/BITS]"),
	}
	realm := realmFlag(cmd)
	output := choose(cmd, "output", "o", "what to print", "card", "card", "json")

	cmd.RunE = func(_ *cobra.Command, args []string) error {
		var items []item
		err := onStore(args[0], func(ctx context.Context, st store.Store) error {
			if len(args) == 1 {
				realms, err := readRealms(ctx, st, *realm)
				for _, r := range realms {
					items = append(items, r.summary(st.Conditions()))
				}
				return err
			}
			r, err := readRealm(ctx, st, *realm)
			if err != nil {
				return err
			}
			b, err := r.block(args[1])
			for _, e := range r.around(b) {
				items = append(items, e)
			}
			return err
		})
		if err != nil {
			return err
		}
		var out []byte
		if output.value == "json" {
			out = appendJSON(out, items...)
		} else {
			for i, it := range items {
				if i > 0 {
					out = append(out, '\n')
				}
				out = a.leaseCard(out, it)
			}
		}
		_, err = a.out.Write(out)
		return err
	}
	return cmd
}

func (a *app) leaseReleaseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "release URL ID/BITS",
		Short: "take a node ID from its holder",
		Long: `release takes a node ID from the process that holds it, without asking that one:
because it is known to be gone, and the node ID is needed before it lapses by
itself, or because it must not go on with it.

This is safe at any time, and needs no proof that the process is gone. Its
generators may go on to the end of the window that they have, and nobody else is
granted a time before that. Then they go on with another node ID, if there is one.

release asks first, unless told --yes.`,
		Example: `  sortid lease release bolt:/var/lib/sortid.db 42/8
  sortid lease release bolt:/var/lib/sortid.db 42/8 --realm orders --yes`,
		Args: storeArgs("URL", "ID/BITS"),
	}
	realm := realmFlag(cmd)
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.canAsk(cmd, *yes); err != nil {
			return err
		}
		var r *realmState
		var e entry
		if err := onStore(args[0], func(ctx context.Context, st store.Store) (err error) {
			if r, err = readRealm(ctx, st, *realm); err != nil {
				return err
			}
			b, err := r.block(args[1])
			e = r.entry(r.records[b])
			return err
		}); err != nil {
			return err
		}
		if e.Owner == "" {
			return fmt.Errorf("nobody holds node ID %s of realm %q", args[1], r.name)
		}
		if !*yes && !a.ask("Node ID %s of realm %q is held by %s, granted until %s.\nIts generators go on until then at most, and then with another node ID.\nTake it?", e.Block, r.name, e.who(), e.Until) {
			return errors.New("nothing was changed")
		}
		return onStore(args[0], func(ctx context.Context, st store.Store) error {
			held, err := lease.Evict(ctx, st, r.name, e.block, r.records[e.block].Owner)
			switch {
			case err != nil:
				return err
			case !held:
				return fmt.Errorf("meanwhile node ID %s of realm %q has been given back by %s; nothing was changed", e.Block, r.name, e.who())
			}
			fmt.Fprintf(a.err, "sortid: node ID %s of realm %q is taken from %s, whose generators go on until %s at most; others can be granted it from then on\n", e.Block, r.name, e.who(), e.Until)
			return nil
		})
	}
	return cmd
}

func (a *app) leaseFenceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fence URL",
		Short: "make a realm safe after its store has lost something",
		Long: `fence is for a store that was restored from an old copy, or failed over to a
server that lacked the latest changes: it knows of too few grants, and could grant
the same once more. Keep all processes away from the store, fence each of its
realms, and only then let processes reach it again.

A fence makes all grants from then on start after the end of all that were made
before the loss: after the time of the fence, plus the realm's window, its lead,
and --skew, which is how far ahead the clocks may have been by which grants were
made. Until then no node ID is granted anew. Running processes use up the windows
that they have, and wait. All get new node IDs.

fence prints, for each realm, its name and the time from which on node IDs are
granted again. Without --realm it fences those of the default names that the store
has. If even the realm is gone, --format makes it anew. Then --lease-window must
not be less than what the lost realm had, and --skew must also cover what its lead
was above 10s.

fence asks first, unless told --yes.`,
		Example: `  sortid lease fence postgres://sortid@db/sortid --realm orders
  sortid lease fence bolt:/var/lib/sortid.db --skew 5m --yes
  sortid lease fence bolt:/var/lib/sortid.db --realm orders --format scru64`,
		Args: storeArgs("URL"),
	}
	realm := realmFlag(cmd)
	skew := cmd.Flags().Duration("skew", time.Minute, "how far ahead clocks may have been, a `DURATION`")
	format := choose(cmd, "format", "", "make a realm that is lost, for the node IDs of", "", scheme.WithNode()...)
	window := cmd.Flags().Duration("lease-window", 0, "with --format: the windows of the realm, a `DURATION` (default 1m0s)")
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *window != 0 && format.value == "" {
			return usagef("--lease-window goes with --format")
		}
		if format.value != "" && *realm == "" {
			*realm = format.value
		}
		if err := a.canAsk(cmd, *yes); err != nil {
			return err
		}
		names := []string{*realm}
		open := store.OpenExisting
		if format.value != "" {
			open = store.Open
		} else if err := onStore(args[0], func(ctx context.Context, st store.Store) error {
			realms, err := readRealms(ctx, st, *realm)
			names = nil
			for _, r := range realms {
				names = append(names, r.name)
			}
			return err
		}); err != nil {
			return err
		}
		if !*yes && !a.ask("Fence %q?\nFor about the window, the lead and %v no node ID is granted; running processes use up the windows\nthat they have, wait, and then get other node IDs.\nDo it?", names, *skew) {
			return errors.New("nothing was changed")
		}
		if err := on(args[0], open, func(ctx context.Context, st store.Store) error {
			for _, name := range names {
				config := lease.Config{Realm: name, Format: leaseFormats[format.value], Window: *window}
				from, err := lease.Fence(ctx, st, config, *skew)
				if errors.Is(err, lease.ErrConfig) {
					return usageError{err}
				}
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(a.out, "%s\t%s\n", name, scheme.FormatTime(from)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		fmt.Fprintln(a.err, "sortid: fenced; processes may reach the store again")
		return nil
	}
	return cmd
}

func realmFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("realm", "", "the `NAME` of the realm")
}

// storeArgs checks the arguments of a command on a store: as many as there are names, of
// which the last may be in brackets and so be left out.
func storeArgs(names ...string) cobra.PositionalArgs {
	least := len(names)
	if strings.HasPrefix(names[least-1], "[") {
		least--
	}
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return fmt.Errorf("%s wants %s", cmd.Name(), strings.Join(names, " "))
		}
		if len(args) > len(names) {
			return fmt.Errorf("%s wants %s, and nothing else; %q is too much", cmd.Name(), strings.Join(names, " "), args[len(names)])
		}
		return nil
	}
}

// onStore calls f with a store that is there already.
func onStore(url string, f func(context.Context, store.Store) error) error {
	return on(url, store.OpenExisting, f)
}

func on(url string, open func(context.Context, string) (store.Store, error), f func(context.Context, store.Store) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), storePatience)
	defer cancel()
	st, err := openStore(ctx, open, url)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, st), st.Close())
}

// canAsk fails if a question is needed, and nobody there to answer it.
func (a *app) canAsk(cmd *cobra.Command, yes bool) error {
	if yes || a.inTerminal {
		return nil
	}
	return usagef("%s asks first, and standard input is no terminal; --yes answers", cmd.Name())
}

// ask asks a question, and reports whether the answer is yes.
func (a *app) ask(format string, args ...any) bool {
	fmt.Fprintf(a.err, format+" [y/N] ", args...)
	answer, _ := bufio.NewReader(a.in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	}
	return false
}

func appendJSON[T any](out []byte, items ...T) []byte {
	for _, it := range items {
		b, err := json.Marshal(it)
		if err != nil {
			panic(err) // they hold nothing but strings
		}
		out = append(append(out, b...), '\n')
	}
	return out
}
