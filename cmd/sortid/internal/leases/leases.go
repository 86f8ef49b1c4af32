// Package leases opens stores, makes realms, and holds the node ID of a command.
package leases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

// How long commands wait for a store. Tests change these variables.
var (
	Patience        = 30 * time.Second // for the store's answer
	LookPatience    = 5 * time.Second  // for commands that only look
	ReleasePatience = 5 * time.Second  // for the return of a node ID
	slow            = 3 * time.Second  // before a message about the wait
)

func SetPatience(d time.Duration) {
	Patience, LookPatience, ReleasePatience, slow = d, d, d, d
}

// Options are flags of commands that lease a node ID.
type Options struct {
	URL, Realm string
	Bits       flags.Count
	Window     time.Duration
	Create     bool
	MustExist  bool
	Wait       bool
	Log        *slog.Logger // for messages about new realms; nil: standard error
}

// AddFlags adds all flags except the flag for the URL.
func (o *Options) AddFlags(cmd *cobra.Command) {
	o.Bits = 8
	f := cmd.Flags()
	f.StringVar(&o.Realm, "realm", "",
		"the `NAME` of the set of node IDs to lease from (default: the format's name)")
	f.Var(&o.Bits, "node-bits", "the size of the leased node ID")
	f.DurationVar(&o.Window, "lease-window", 0,
		"the lease's window, a `DURATION`; if the store fails, IDs are made for at least half "+
			"a window (default: the realm's window, usually 1m)")
	f.BoolVar(&o.Create, "create", false,
		"make the realm if the store does not have it; without --create, only a new file gets "+
			"a realm")
	f.BoolVar(&o.MustExist, "must-exist", false, "make neither a file nor a realm")
	f.BoolVar(&o.Wait, "wait", false, "wait for a node ID if none is free")
}

// Wanted reports whether the flags ask for a lease. An empty URL in --lease is an error, because it
// may come from an unset variable.
func (o *Options) Wanted(cmd *cobra.Command) (bool, error) {
	if o.URL == "" && cmd.Flags().Changed("lease") {
		return false, exit.Usagef(
			"--lease wants the URL of a store, but is empty; see sortid lease --help")
	}
	for _, name := range []string{"realm", "node-bits", "lease-window", "create", "must-exist",
		"wait"} {
		if o.URL == "" && cmd.Flags().Changed(name) {
			return false, exit.Usagef("--%s needs --lease URL", name)
		}
	}
	if o.Create && o.MustExist {
		return false, exit.Usagef("--create and --must-exist exclude each other")
	}
	return o.URL != "", CheckRealm(cmd)
}

// RealmOf returns the realm's name. The default is the format's name.
func (o *Options) RealmOf(f *format.Format) string { return cmp.Or(o.Realm, f.Name) }

// CheckBits returns an error if no node ID of the format has this size.
func (o *Options) CheckBits(f *format.Format) error {
	if most := f.Lease.Bits; o.Bits > flags.Count(most) {
		return exit.Usagef("--node-bits %d: a node ID of %s has 1 to %d bits", o.Bits, f.Name, most)
	}
	return nil
}

// CheckRealm refuses an empty name, because it may come from an unset variable.
func CheckRealm(cmd *cobra.Command) error {
	if f := cmd.Flags().Lookup("realm"); f.Changed && f.Value.String() == "" {
		return exit.Usagef("--realm wants the name of a realm, but is empty")
	}
	return nil
}

type Opener = func(context.Context, string) (store.Store, error)

// openStore opens a store. A wrong URL is a usage error. For env:NAME the URL is in the environment
// variable NAME. A list of processes then shows no password to other users.
func openStore(ctx context.Context, c *console.Console, open Opener,
	url string) (store.Store, error) {
	if name, ok := strings.CutPrefix(url, "env:"); ok {
		if url = os.Getenv(name); url == "" {
			return nil, exit.Usagef(
				"the environment variable %q is not set; it must have the URL of a store",
				name)
		}
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline).Round(time.Second)
		notice := time.AfterFunc(slow, func() {
			c.Say("no answer from %s yet; giving up %v after the start", describe(url), left)
		})
		defer notice.Stop()
	}
	st, err := open(ctx, url)
	if errors.Is(err, store.ErrURL) {
		if !strings.Contains(url, ":") {
			err = fmt.Errorf("%w; a file on this machine is bolt:%s", err, url)
		}
		return nil, exit.Usage(err)
	}
	return st, err
}

// Open opens the store, and makes missing realms if the options allow it.
func Open(ctx context.Context, c *console.Console, o *Options,
	realms ...lease.Config) (store.Store, error) {
	create := o.Create
	st, err := openStore(ctx, c, store.OpenExisting, o.URL)
	if errors.Is(err, fs.ErrNotExist) && !o.MustExist {
		create = true
		st, err = openStore(ctx, c, store.Open, o.URL)
	}
	if err != nil {
		return nil, err
	}
	if !create && !o.MustExist && strings.HasPrefix(describe(o.URL), "bolt:") {
		// Another process may have made the file, but no realm yet.
		names, err := st.Realms(ctx)
		if err != nil {
			return nil, errors.Join(err, st.Close())
		}
		create = len(names) == 0
	}
	for _, config := range realms {
		if create {
			err = Create(ctx, c, st, o, config)
		} else if _, err = lease.Realm(ctx, st, config.Realm); errors.Is(err, lease.ErrNoRealm) {
			err = fmt.Errorf(
				"%w in %s. If the realm existed before, the store has lost it or is the wrong "+
					"store, and a new realm would make IDs a second time. If it never existed, "+
					"make it: sortid lease create URL --realm %q --format %s",
				err, describe(o.URL), config.Realm, formatName(config.Format))
		}
		if err != nil {
			return nil, errors.Join(err, st.Close())
		}
	}
	return st, nil
}

// formatName returns the name of the format with the bits, ticks and epoch of a realm.
func formatName(l lease.Format) string {
	for _, f := range format.WithNode() {
		if f.Lease == l {
			return f.Name
		}
	}
	return "FORMAT"
}

// Create makes a missing realm, and says so.
func Create(ctx context.Context, c *console.Console, st store.Store, o *Options,
	config lease.Config) error {
	created, err := lease.Create(ctx, st, config)
	if created && o.Log != nil {
		o.Log.Info("the realm is new", "realm", config.Realm, "store", describe(o.URL))
	} else if created {
		fmt.Fprintf(c.Err, "sortid: the realm %q is new; it was made in %s\n", config.Realm,
			describe(o.URL))
	}
	return err
}

// describe returns a store's URL without secrets.
func describe(url string) string {
	if name, ok := strings.CutPrefix(url, "env:"); ok {
		url = os.Getenv(name)
	}
	url, _, _ = strings.Cut(url, "?")
	if kind, rest, ok := strings.Cut(url, "://"); ok {
		return kind + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	return url
}

// MyName names this process for people who look at leases.
func MyName() string {
	host, err := os.Hostname()
	if err != nil || len(host) > 80 {
		host = "?"
	}
	return fmt.Sprintf("%s/%d", strings.ToValidUTF8(host, "?"), os.Getpid())
}
