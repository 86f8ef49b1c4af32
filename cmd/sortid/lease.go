package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

func (a *app) leaseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lease",
		Short: "look at leased node IDs, make realms, take a node ID back, fence a store",
		Long: `Generators that share a store lease their node IDs from it ("sortid new --lease
URL"), so that no two have the same, and no ID is made twice. The commands below
look at the leases in a store, and change them where that is needed.

A lease grants a node ID together with a window of time, a minute long if nobody
has said otherwise, and IDs with that node ID carry times of that window only. It
is renewed in good time. A process that dies leaves its node ID unused until half
a window after the end of its last one.

A realm is a set of node IDs, each of which only one process has at a time. All
generators whose IDs must differ lease from one realm of one store; unless told
otherwise, "sortid new" takes the one that has the format's name. Without --realm the
commands below deal with all realms that the store has.

The URL of a store is one of

` + storeURLs() + `
where the file serves the processes of one machine. The documentation of the
packages in store tells the parameters, and on what the guarantee rests;
"sortid lease show URL" tells that, too. Others on this machine can see a password
in a URL while the command runs: with env:NAME instead the URL is taken from the
environment variable NAME. PostgreSQL's password can also be in ~/.pgpass.`,
		Example: `  sortid lease list bolt:/var/lib/sortid.db
  sortid lease show bolt:/var/lib/sortid.db 42/8`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(a.leaseListCommand(), a.leaseShowCommand(), a.leaseCreateCommand(), a.leaseSetCommand(), a.leaseEvictCommand(), a.leaseFenceCommand(),
		a.leaseExecCommand())
	a.addWatchdogCommand(cmd)
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

    held      a process has it, and renews it
    expired   its holder has not renewed it in time, and nobody else can have it yet
    lapsed    the same, and the next process may have it
    free      nobody has it
    ahead     nobody has it, and it was granted so far ahead of the time, to a process
              whose clock was wrong, that nobody can have it yet

UNTIL is the end of all that was ever granted of the node ID; FREE FROM is when
another process can have it, unless it is renewed. The first line tells how much of the
realm is in which state; "not available yet" is what is ahead. A process that was killed leaves
its node ID held, and then expired, for one and a half windows and a little more: a
deployment that replaces all processes at once needs twice as many node IDs as there are
processes, which is one more bit.

With --out-of-use, list shows only what is expired or ahead; with --all, also the node
IDs that are split into smaller ones, or part of a larger one (retired).`,
		Example: `  sortid lease list bolt:/var/lib/sortid.db
  sortid lease list bolt:/var/lib/sortid.db --realm orders --out-of-use
  sortid lease list bolt:/var/lib/sortid.db --realm orders -o json | jq -r 'select(.state == "held") | .holder'`,
		Args: storeArgs("URL"),
	}
	realm := realmFlag(cmd)
	output := choose(cmd, "output", "o", "what to print", "table", "table", "json")
	every := cmd.Flags().Bool("all", false, "show node IDs that are split or part of another, too")
	unused := cmd.Flags().Bool("out-of-use", false, "show only node IDs that nobody uses and nobody can have yet")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		which := wholeBlocks
		switch {
		case *every && *unused:
			return usagef("--all and --out-of-use exclude each other")
		case *every:
			which = allBlocks
		case *unused:
			which = outOfUse
		}
		if err := checkRealmFlag(cmd); err != nil {
			return err
		}
		var out []byte
		var unread error
		err := a.onStore(args[0], func(ctx context.Context, st store.Store) error {
			realms, err := a.readRealms(ctx, st, *realm)
			if unread = reported(err); unread == nil && err != nil {
				return err
			}
			for i, r := range realms {
				entries := r.entries(which)
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
		return cmp.Or(err, unread)
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

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkRealmFlag(cmd); err != nil {
			return err
		}
		var items []item
		var unread error
		err := a.onStore(args[0], func(ctx context.Context, st store.Store) error {
			if len(args) == 1 {
				realms, err := a.readRealms(ctx, st, *realm)
				for _, r := range realms {
					items = append(items, r.summary(st.Conditions()))
				}
				if unread = reported(err); unread != nil {
					err = nil
				}
				return err
			}
			r, err := a.readRealm(ctx, st, *realm)
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
		return cmp.Or(err, unread)
	}
	return cmd
}

func (a *app) leaseEvictCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evict URL ID/BITS",
		Short: "take a node ID from its holder",
		Long: `evict takes a node ID from the process that holds it. That process is not asked.
Use it if the process is known to be gone and the node ID is needed before its lease
expires, or if the process must not go on with it.

This is safe at any time, and needs no proof that the process is gone. Its
generators go on until it next renews its lease, at most to the end of the window
that they have, and nobody else is granted a time before that end. Then they go on
with another node ID, if there is one.

evict asks first, unless told --yes.`,
		Example: `  sortid lease evict bolt:/var/lib/sortid.db 42/8
  sortid lease evict bolt:/var/lib/sortid.db 42/8 --realm orders --yes`,
		Args: storeArgs("URL", "ID/BITS"),
	}
	realm := realmFlag(cmd)
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(checkRealmFlag(cmd), a.canAsk(cmd, *yes)); err != nil {
			return err
		}
		var r *realmState
		var e entry
		if err := a.onStore(args[0], func(ctx context.Context, st store.Store) (err error) {
			if r, err = a.readRealm(ctx, st, *realm); err != nil {
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
		return a.onStore(args[0], func(ctx context.Context, st store.Store) error {
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

func (a *app) leaseCreateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create URL --format FORMAT",
		Short: "make a realm",
		Long: `create makes a realm for the node IDs of a format, in a file that it makes, too, or on
a server. That there is such a realm already is no error; it is left as it is.

"sortid new --lease" does not make a realm on a server or in a file that has others,
unless told --create: where a realm is missing that was there, to make it anew would
make IDs a second time.`,
		Example: `  sortid lease create postgres://sortid@db/sortid --format scru64
  sortid lease create postgres://sortid@db/sortid --realm orders --format scru64 --lease-window 5m`,
		Args: storeArgs("URL"),
	}
	realm := realmFlag(cmd)
	of := choose(cmd, "format", "", "the `FORMAT` whose node IDs it has", "", format.WithNode()...)
	window, lead := termFlags(cmd, "1m0s", "10s")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkRealmFlag(cmd); err != nil {
			return err
		}
		if of.value == "" {
			return usagef("create wants --format: one of %s", strings.Join(format.WithNode(), ", "))
		}
		config := lease.Config{Realm: cmp.Or(*realm, of.value), Format: leaseFormats[of.value], NodeBits: 1, Window: *window, MaxLead: *lead}
		if err := config.Validate(); err != nil {
			return usageError{err}
		}
		return a.on(args[0], store.Open, func(ctx context.Context, st store.Store) error {
			return a.createRealm(ctx, st, &leasing{url: args[0]}, config)
		})
	}
	return cmd
}

func (a *app) leaseSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set URL",
		Short: "change the window or the lead of a realm",
		Long: `set changes how long the windows of a realm are, or how far ahead of the time a grant
may start. That is safe at any time. Running processes follow when they renew their
leases; those that were told a --lease-window of their own keep that.

A copy of the store that was made before a window or a lead became longer does not know
of it. Make a new one; should an old one be restored all the same, fence it with the
--lease-window and --lead of the realm that was lost.`,
		Example: `  sortid lease set bolt:/var/lib/sortid.db --lease-window 5m
  sortid lease set postgres://sortid@db/sortid --realm orders --lead 30s`,
		Args: storeArgs("URL"),
	}
	realm := realmFlag(cmd)
	window, lead := termFlags(cmd, "as it is", "as it is")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkRealmFlag(cmd); err != nil {
			return err
		}
		if *window == 0 && *lead == 0 {
			return usagef("set wants --lease-window or --lead")
		}
		return a.onStore(args[0], func(ctx context.Context, st store.Store) error {
			r, err := a.readRealm(ctx, st, *realm)
			if err != nil {
				return err
			}
			terms, err := lease.SetTerms(ctx, st, r.name, *window, *lead)
			if errors.Is(err, lease.ErrConfig) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.err, "sortid: realm %q has windows of %v and a lead of %v; it had %v and %v\n", r.name,
				terms.Duration(terms.Window), terms.Duration(terms.Lead), terms.Duration(r.root.Terms.Window), terms.Duration(r.root.Terms.Lead))
			if terms.Window > r.root.Terms.Window || terms.Lead > r.root.Terms.Lead {
				fmt.Fprintf(a.err, "sortid: a copy of the store that was made before now must, if it is restored, be fenced with --lease-window %v --lead %v\n",
					terms.Duration(terms.Window), terms.Duration(terms.Lead))
			}
			return nil
		})
	}
	return cmd
}

// termFlags adds the flags of a realm's terms.
func termFlags(cmd *cobra.Command, defaultWindow, defaultLead string) (window, lead *time.Duration) {
	window = cmd.Flags().Duration("lease-window", 0, "how long the windows are, a `DURATION` (default "+defaultWindow+")")
	lead = cmd.Flags().Duration("lead", 0, "how far ahead of the time a grant may start, a `DURATION` (default "+defaultLead+")")
	return window, lead
}

func (a *app) leaseFenceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fence URL",
		Short: "make the realms of a store safe after it has lost something",
		Long: `fence is for a store that was restored from an old copy, or failed over to a
server that lacked the latest changes: it knows of too few grants, and could grant
the same once more. Keep all processes away from the store, fence it, and only then
let processes reach it again.

Without --realm all realms are fenced that the store has. A fence makes all grants from
then on start after the end of all that were made before the loss: after the time of
the fence, plus the realm's window, its lead, and --skew, which is how far ahead the
clocks may have been by which grants were made. Where the store still knows of grants
that end even later, those of the node IDs concerned start after them. Until then no
node ID is granted anew. Running processes use up the windows that they have, and wait.
All get new node IDs.

fence prints, for each realm, its name and the time from which on node IDs are
granted again. With --lease-window and --lead it also changes the realm's; they must not
be less than what the lost realm had, if that had more than the copy tells. If even the
realm is gone, --format makes it anew.

A sortid server passes no fence on: give the URL of the store behind it.

fence asks first, unless told --yes.`,
		Example: `  sortid lease fence postgres://sortid@db/sortid
  sortid lease fence bolt:/var/lib/sortid.db --skew 5m --yes
  sortid lease fence bolt:/var/lib/sortid.db --realm orders --format scru64`,
		Args: storeArgs("URL"),
	}
	realm := realmFlag(cmd)
	skew := cmd.Flags().Duration("skew", time.Minute, "how far ahead clocks may have been, a `DURATION`")
	of := choose(cmd, "format", "", "make a realm that is lost, for the node IDs of this `FORMAT`", "", format.WithNode()...)
	window, lead := termFlags(cmd, "the realm's", "the realm's")
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(checkRealmFlag(cmd), a.canAsk(cmd, *yes)); err != nil {
			return err
		}
		f := &fencing{app: a, url: args[0], realm: *realm, format: of.value, skew: *skew, window: *window, lead: *lead}
		if err := f.find(); err != nil {
			return err
		}
		if !*yes && !a.ask("Fence %q?\nFor about the window, the lead and %v no node ID is granted; running processes use up the windows\nthat they have, wait, and then get other node IDs.\nDo it?", f.names, *skew) {
			return errors.New("nothing was changed")
		}
		return f.run()
	}
	return cmd
}

// A fencing fences realms of a store, one after the other.
type fencing struct {
	*app
	url, realm, format string
	skew, window, lead time.Duration

	names []string // of the realms
	done  []string // those that are fenced
}

// lost returns the name of the realm to be made if there is none.
func (f *fencing) lost() string { return cmp.Or(f.realm, f.format) }

func (f *fencing) on(do func(context.Context, store.Store) error) error {
	if f.format != "" {
		return f.app.on(f.url, store.Open, do)
	}
	return f.onStore(f.url, do)
}

// find finds the realms to fence.
func (f *fencing) find() error {
	return f.on(func(ctx context.Context, st store.Store) (err error) {
		switch {
		case f.realm == "":
			f.names, err = realmNames(ctx, st)
			if f.format != "" && !slices.Contains(f.names, f.format) {
				f.names = append(f.names, f.format)
			}
		default:
			f.names = []string{f.realm}
			if f.format == "" {
				_, err = lease.Realm(ctx, st, f.realm)
			}
			if errors.Is(err, lease.ErrConfig) {
				return usageError{err}
			}
		}
		if err == nil && len(f.names) == 0 {
			err = errors.New("the store has no realms; --format makes one that is lost")
		}
		return err
	})
}

// run fences the realms, all that it can, and says which it has fenced and which not.
func (f *fencing) run() error {
	var failed, wrong error // wrong: the arguments are
	err := f.on(func(ctx context.Context, st store.Store) error {
		for _, name := range f.names {
			from, err := f.fence(ctx, st, name)
			switch {
			case err == nil:
				f.done = append(f.done, name)
				_, err = fmt.Fprintf(f.out, "%s\t%s\n", name, format.FormatTime(from))
				failed = cmp.Or(failed, err)
			case errors.Is(err, lease.ErrConfig) && isRealmName(name):
				wrong = cmp.Or(wrong, err)
				fallthrough
			default:
				f.complain("realm %q is not fenced: %v", name, err)
			}
		}
		return nil
	})
	if len(f.done) == len(f.names) && err == nil {
		fmt.Fprintln(f.err, "sortid: fenced; processes may reach the store again")
		return failed
	}
	if err != nil {
		f.complain("%v", err)
	}
	f.warn()
	if wrong != nil && len(f.done) == 0 {
		return usageError{wrong}
	}
	return errReported
}

func (f *fencing) fence(ctx context.Context, st store.Store, name string) (time.Time, error) {
	config := lease.Config{Realm: name, Window: f.window, MaxLead: f.lead}
	if name == f.lost() {
		config.Format = leaseFormats[f.format]
	}
	return lease.Fence(ctx, st, config, f.skew)
}

// warn says what is fenced and what is not.
func (f *fencing) warn() {
	left := slices.DeleteFunc(slices.Clone(f.names), func(name string) bool { return slices.Contains(f.done, name) })
	f.complain("fenced: %q; not fenced: %q; let no process reach the store before all its realms are fenced", f.done, left)
}

// isRealmName reports whether a realm can have this name.
func isRealmName(name string) bool {
	return lease.Config{Realm: name, Format: lease.SCRU64, NodeBits: 1}.Validate() == nil
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
			return fmt.Errorf("%s wants %s, and nothing else; unexpected argument %q", cmd.Name(), strings.Join(names, " "), args[len(names)])
		}
		return nil
	}
}

// onStore calls f with a store that is there already.
func (a *app) onStore(url string, f func(context.Context, store.Store) error) error {
	return a.on(url, store.OpenExisting, f)
}

func (a *app) on(url string, open func(context.Context, string) (store.Store, error), f func(context.Context, store.Store) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), storePatience)
	defer cancel()
	st, err := a.openStore(ctx, open, url)
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
	return usagef("%s needs confirmation, and standard input is no terminal; use --yes", cmd.Name())
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
