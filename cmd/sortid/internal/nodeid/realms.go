// Package nodeid leases the node ID of a command, and holds it until the command ends.
package nodeid

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
	MustExist  bool
	Wait       bool
	ForProgram bool         // a new realm has the [NewWindow]
	Log        *slog.Logger // for messages about new realms; nil: standard error
}

// ProgramWindow is the window of a new realm of one size. RenewAfter is how long after a renewal
// the next one begins at the latest. Together they let a program under "lease exec" survive a store
// that is away for 120 s from just before a renewal. The renewal was then due at RenewAfter of the
// window, 10.3 s. "lease exec" ends the program 20 s before the lease does: 10 s for a generator
// ahead of the clock, 5 s from SIGKILL, and 5 s from SIGTERM. So 14 s are left to find that the
// store is back: up to 10 s until a request without an answer ends, a pause of up to 2.6 s, and the
// renewal itself. With a longer window, a killed program's node ID would be free later: it is free
// one and a half windows after the last renewal.
const ProgramWindow = 165 * time.Second

// NewWindow returns the window of a new realm of [NewRealm].
func NewWindow(realm lease.Config) time.Duration {
	if realm.Format.Mixed && !realm.OneSize {
		return lease.DefaultWindow
	}
	return ProgramWindow
}

// RenewAfter returns when the renewal of a program's lease begins; see [ProgramWindow].
func RenewAfter(window time.Duration) time.Duration { return window / 16 }

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
	c.Realm = cmp.Or(name, f.Name)
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
		"make the realm if the store does not have it; without --create, only a new file gets "+
			"a realm")
	f.BoolVar(&o.MustExist, "must-exist", false, "make neither a file nor a realm")
	f.BoolVar(&o.Wait, "wait", false, "wait for a node ID if none is free")
	cmd.MarkFlagsMutuallyExclusive("create", "must-exist")
}

// Wanted reports whether the flags ask for a lease. An empty URL in --lease is an error, because it
// may come from an unset variable.
func (o *Options) Wanted(cmd *cobra.Command) (bool, error) {
	if o.URL == "" && cmd.Flags().Changed("lease") {
		return false, console.UsageErrorf(
			"--lease wants the URL of a store, but is empty; see sortid lease --help")
	}
	for _, name := range []string{"realm", "node-bits", "lease-window", "create", "must-exist",
		"wait"} {
		if o.URL == "" && cmd.Flags().Changed(name) {
			return false, console.UsageErrorf("--%s needs --lease URL", name)
		}
	}
	return o.URL != "", checkRealm(cmd)
}

// RealmOf returns the realm's name. The default is the format's name.
func (o *Options) RealmOf(f *format.Format) string { return cmp.Or(o.Realm, f.Name) }

// CheckBits returns an error if no node ID of the format has this size.
func (o *Options) CheckBits(f *format.Format) error {
	if most := nodefield.LeaseFormat(f).Bits; o.Bits > flags.Count(most) {
		return console.UsageErrorf(
			"--node-bits %d: a node ID of %s has 1 to %d bits", o.Bits, f.Name, most)
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

// openURL opens a store or a source with the function open. A wrong URL is a usage error. For
// env:NAME the URL is in the environment variable NAME. A list of processes then shows no password
// to other users.
func openURL[T any](ctx context.Context, c *console.Console,
	open func(context.Context, string) (T, error), url string) (opened T, err error) {
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
			c.Say("no answer from %s yet; this try ends %v after its start", describe(url), left)
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
	realm lease.Config) (*store.Source, error) {
	if !IsServer(o.URL) {
		st, err := Open(ctx, c, o, realm)
		if err != nil {
			return nil, err
		}
		return &store.Source{Store: st}, nil
	}
	source, err := openURL(ctx, c, store.OpenSource, o.URL)
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

// Open opens the store, and makes missing realms if the options allow it.
func Open(ctx context.Context, c *console.Console, o *Options,
	realms ...lease.Config) (store.Store, error) {
	create := o.Create
	st, err := openURL(ctx, c, store.OpenExisting, o.URL)
	if errors.Is(err, fs.ErrNotExist) && !o.MustExist {
		create = true
		st, err = openURL(ctx, c, store.Open, o.URL)
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
		_, err := lease.Realm(ctx, st, config.Realm)
		if errors.Is(err, lease.ErrNoRealm) && create {
			err = Create(ctx, c, &store.Source{Store: st}, o, config)
		} else if errors.Is(err, lease.ErrNoRealm) {
			err = o.NoRealm(config)
		}
		if err != nil {
			return nil, errors.Join(err, st.Close())
		}
	}
	return st, nil
}

// NoRealm returns the error of a missing realm, with the command that makes it.
func (o *Options) NoRealm(config lease.Config) error {
	of := fmt.Sprintf("--node-bits %d", config.NodeBits)
	if name := config.Format.Name; name != "" {
		of = "--format " + name
		if o.ForProgram && config.Format.Mixed && config.Realm != name {
			of = "--node-bits N (or " + of + ")" // perhaps the user gave only the realm's name
		}
	}
	return fmt.Errorf("%w: %q in %s. If the realm existed before, the store has lost it or is the "+
		"wrong store, and a new realm would make IDs a second time. If it never existed, make it: "+
		"sortid lease create URL --realm %q %s", lease.ErrNoRealm, config.Realm, describe(o.URL),
		config.Realm, of)
}

// Create makes a missing realm, and says so.
func Create(ctx context.Context, c *console.Console, source *store.Source, o *Options,
	config lease.Config) (err error) {
	if o.ForProgram && config.Window == 0 {
		_, err := source.Terms(ctx, config.Realm)
		if errors.Is(err, lease.ErrNoRealm) {
			config.Window = NewWindow(config) // an existing realm keeps its window
		} else if err != nil {
			return err
		}
	}
	created := false
	if source.Server != nil {
		if config.Format.Mixed && !config.OneSize {
			config.NodeBits = 0 // the realm grants all sizes
		}
		_, created, err = source.Server.CreateRealm(ctx, config)
	} else {
		created, err = lease.Create(ctx, source.Store, config)
	}
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
