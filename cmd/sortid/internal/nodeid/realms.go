// Package nodeid leases the node ID of a command, and holds it until the command ends.
package nodeid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
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
	Wait       bool
	ForProgram bool         // a new realm has the window of the store's [Pace]
	Log        *slog.Logger // for messages about new realms and slow stores; nil: standard error
}

func (o *Options) say(c *console.Console, format string, args ...any) {
	if o.Log != nil {
		o.Log.Info(fmt.Sprintf(format, args...))
		return
	}
	c.Say(format, args...)
}

// NewRealm returns the configuration of a realm for "lease create" and "lease exec --create". With
// bits, or with a format other than scru64, the realm grants one size. Without a format, it serves
// any generator. The name may be empty if there is a format.
func NewRealm(f *format.Format, name string, bits int) (lease.Config, error) {
	if f == nil {
		return lease.Config{Realm: name, NodeBits: bits, OneSize: true}, nil
	}
	c, err := nodefield.Config(f, bits)
	if err != nil {
		return c, console.UsageErrorf("--node-bits: %w", err)
	}
	c.Realm = cmp.Or(name, f.Name())
	return c, nil
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
		"make the realm, and the store's file or table, if they are missing")
	f.BoolVar(&o.Wait, "wait", false, "wait for a node ID if none is free")
}

// Wanted reports whether the flags ask for a lease. An empty URL in --lease is an error, because it
// may come from an unset variable.
func (o *Options) Wanted(cmd *cobra.Command) (bool, error) {
	if o.URL == "" && cmd.Flags().Changed("lease") {
		return false, console.UsageErrorf(
			"--lease wants the URL of a store, but is empty; see sortid lease --help")
	}
	for _, name := range []string{"realm", "node-bits", "lease-window", "create", "wait"} {
		if o.URL == "" && cmd.Flags().Changed(name) {
			return false, console.UsageErrorf("--%s needs --lease URL", name)
		}
	}
	return o.URL != "", checkRealm(cmd)
}

// Validate checks a configuration that follows from flags. Without NodeBits, it is for node IDs of
// several sizes. The error names the flag of a wrong duration.
func Validate(c lease.Config) error {
	c.NodeBits = cmp.Or(c.NodeBits, 1)
	err := c.Validate()
	if err == nil {
		return nil
	}
	for _, d := range []struct {
		flag    string
		without lease.Config
	}{{"lease-window", withSpans(c, 0, c.MaxLead)}, {"lead", withSpans(c, c.Window, 0)}} {
		if of := (*lease.Error)(nil); d.without.Validate() == nil && errors.As(err, &of) {
			return console.UsageErrorf("--%s: %s", d.flag, of.Detail)
		}
	}
	return console.UsageError(err)
}

func withSpans(c lease.Config, window, lead time.Duration) lease.Config {
	c.Window, c.MaxLead = window, lead
	return c
}

// RealmOf returns the realm's name. The default is the format's name.
func (o *Options) RealmOf(f *format.Format) string { return cmp.Or(o.Realm, f.Name()) }

// CheckBits returns an error if no node ID of the format has this size.
func (o *Options) CheckBits(f *format.Format) error {
	if most := nodefield.LeaseFormat(f).Bits; o.Bits > flags.Count(most) {
		return console.UsageErrorf(
			"--node-bits %d: a node ID of %s has 1 to %d bits", o.Bits, f.Name(), most)
	}
	return nil
}

// checkRealm refuses an empty name, because it may come from an unset variable.
func checkRealm(cmd *cobra.Command) error {
	if f := cmd.Flags().Lookup("realm"); f.Changed && f.Value.String() == "" {
		return console.UsageErrorf("--realm wants the name of a realm, but is empty")
	}
	return nil
}

// openURL opens the options' store or source with the function open. A wrong URL is a usage error. For
// env:NAME the URL is in the environment variable NAME. A list of processes then shows no password
// to other users.
func openURL[T any](ctx context.Context, c *console.Console, o *Options,
	open func(context.Context, string) (T, error)) (opened T, err error) {
	url := o.URL
	if name, ok := strings.CutPrefix(url, "env:"); ok {
		if url = os.Getenv(name); url == "" {
			return opened, console.UsageErrorf(
				"the environment variable %q is not set; it must have the URL of a store",
				name)
		}
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline).Round(time.Second)
		notice := time.AfterFunc(slow, func() {
			o.say(c, "no answer from %s yet; this try ends %v after its start", describe(url), left)
		})
		defer notice.Stop()
	}
	opened, err = open(ctx, url)
	if errors.Is(err, store.ErrURL) {
		if !strings.Contains(url, ":") {
			err = fmt.Errorf("%w; a file on this machine is bolt:%s", err, url)
		}
		return opened, console.UsageError(err)
	}
	return opened, err
}

// IsServer reports whether the URL names a server. The URL may be env:NAME.
func IsServer(url string) bool { return store.IsServer(describe(url)) }

// OpenSource opens the store or the server, and makes the missing realm if the options allow it.
func OpenSource(ctx context.Context, c *console.Console, o *Options,
	realm lease.Config) (store.Source, error) {
	if !IsServer(o.URL) {
		st, err := Open(ctx, c, o, realm)
		if err != nil {
			return nil, err
		}
		return store.Direct{Store: st}, nil
	}
	source, err := openURL(ctx, c, o, store.OpenSource)
	if err == nil && o.Create {
		if err = Create(ctx, c, source, o, realm); err != nil {
			err = errors.Join(err, source.Close())
		}
	}
	if err != nil {
		return nil, err
	}
	return source, nil
}

// Open opens the store. If the options allow it, Open makes what is missing: the file or the table,
// and the realms.
func Open(ctx context.Context, c *console.Console, o *Options,
	realms ...lease.Config) (store.Store, error) {
	st, err := openURL(ctx, c, o, store.OpenExisting)
	switch {
	case errors.Is(err, lease.ErrNoRealm) && o.Create:
		st, err = openURL(ctx, c, o, store.Open)
	case errors.Is(err, lease.ErrNoRealm) && len(realms) > 0:
		err = o.missing(err, realms[0])
	case errors.Is(err, lease.ErrNoRealm):
		err = o.missing(err, lease.Config{})
	}
	if err != nil {
		return nil, err
	}
	for _, config := range realms {
		_, err := lease.Realm(ctx, st, config.Realm)
		if errors.Is(err, lease.ErrNoRealm) {
			err = o.NoRealm(config)
			if o.Create {
				err = Create(ctx, c, store.Direct{Store: st}, o, config)
			}
		}
		if err != nil {
			return nil, errors.Join(err, st.Close())
		}
	}
	return st, nil
}

// NoRealm returns the error of a missing realm, with the command that makes it.
func (o *Options) NoRealm(config lease.Config) error {
	return o.missing(fmt.Errorf("%w: %q in %s", lease.ErrNoRealm, config.Realm, describe(o.URL)),
		config)
}

// missing adds the command that makes the realm and its file or table.
func (o *Options) missing(err error, config lease.Config) error {
	of, name := "--node-bits N", config.Format.Name
	switch {
	case o.ForProgram && config.Format.Mixed && config.Realm != name:
		of += " (or --format " + name + ")" // perhaps the user gave only the realm's name
	case name != "":
		of = "--format " + name
	case config.NodeBits != 0:
		of = fmt.Sprintf("--node-bits %d", config.NodeBits)
	}
	return fmt.Errorf("%w. If it existed before, this is the wrong store, or the store has lost it. "+
		"Then a new one would make IDs a second time: see sortid lease fence --help. If it never "+
		"existed, make it: sortid lease create %s --realm %q %s", err, o.Shown(),
		cmp.Or(config.Realm, "NAME"), of)
}

// Create makes a missing realm, and says so.
func Create(ctx context.Context, c *console.Console, source store.Source, o *Options,
	config lease.Config) error {
	if o.ForProgram && config.Window == 0 {
		_, err := source.Terms(ctx, config.Realm)
		if errors.Is(err, lease.ErrNoRealm) {
			config.Window = PaceOf(o.URL).NewWindow(config) // an existing realm keeps its window
		} else if err != nil {
			return err
		}
	}
	created, err := source.Create(ctx, config)
	if created {
		o.say(c, "the realm %q is new; it was made in %s", config.Realm, describe(o.URL))
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
