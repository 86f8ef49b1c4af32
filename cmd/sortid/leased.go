package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

// leaseFormats has, by its name, each format whose node IDs can be leased. The name is
// that of the realm, too, unless another is given.
var leaseFormats = func() map[string]lease.Format {
	formats := map[string]lease.Format{}
	for _, s := range format.Ours() {
		if s.Node != "" {
			formats[s.Name] = s.Lease
		}
	}
	return formats
}()

// They are variables for tests.
var (
	storePatience   = 30 * time.Second // for a store to answer
	storeSlow       = 3 * time.Second  // then it is said that there is no answer yet
	releasePatience = 5 * time.Second  // at the end, for it to take the node ID back
)

// leasing holds the flags of a command that makes IDs on a lease.
type leasing struct {
	url, realm string
	bits       count
	window     time.Duration
	create     bool
	mustExist  bool
	wait       bool
	log        *slog.Logger // hears of new realms, where a line on standard error would not do
}

func leasingFlags(cmd *cobra.Command) *leasing {
	l := &leasing{bits: 8}
	cmd.Flags().StringVar(&l.url, "lease", "", "lease the node ID from the store of this `URL`, such as bolt:PATH (see sortid lease --help)")
	l.addTo(cmd)
	return l
}

// addTo adds the flags that do not name the store.
func (l *leasing) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.realm, "realm", "", "the `NAME` of the set of node IDs to lease from (default: the format's name)")
	cmd.Flags().Var(&l.bits, "node-bits", "the size of the leased node ID")
	cmd.Flags().DurationVar(&l.window, "lease-window", 0, "how far ahead the lease is kept renewed, a `DURATION`: IDs are made without the store for half of it at least (default: the realm's, 1m)")
	cmd.Flags().BoolVar(&l.create, "create", false, "make the realm if the store has none of this name; without --create only a file that is new gets one")
	cmd.Flags().BoolVar(&l.mustExist, "must-exist", false, "make neither a file nor a realm")
	cmd.Flags().BoolVar(&l.wait, "wait", false, "wait for a node ID if none is free")
}

// wanted reports whether there is to be a lease. An empty URL is a mistake, such as an
// unset variable, and must not quietly mean that there is none.
func (l *leasing) wanted(cmd *cobra.Command) (bool, error) {
	if l.url == "" && cmd.Flags().Changed("lease") {
		return false, usagef("--lease wants the URL of a store, and has an empty text; see sortid lease --help")
	}
	for _, name := range []string{"realm", "node-bits", "lease-window", "create", "must-exist", "wait"} {
		if l.url == "" && cmd.Flags().Changed(name) {
			return false, usagef("--%s goes with --lease URL", name)
		}
	}
	if l.create && l.mustExist {
		return false, usagef("--create and --must-exist exclude each other")
	}
	if err := checkRealmFlag(cmd); err != nil {
		return false, err
	}
	return l.url != "", nil
}

// realmFor returns the name of the realm.
func (l *leasing) realmFor(s *format.Format) string { return cmp.Or(l.realm, s.Name) }

// check finds mistakes before the store is asked for anything.
func (l *leasing) check(s *format.Format, options format.Options) error {
	f, ok := leaseFormats[s.Name]
	if ok && l.bits > count(f.Bits) {
		return usagef("--node-bits %d: a node ID of %s has 1 to %d bits", l.bits, s.Name, f.Bits)
	}
	options.Lease = noLease{f, int(l.bits)}
	if _, err := s.NewGenerator(options); err != nil {
		return optionError(err)
	}
	return nil
}

// noLease shows whether a generator would take a lease of this format. It grants nothing.
type noLease struct {
	lease.Format
	size int
}

func (l noLease) NodeBits() int                               { return l.size }
func (l noLease) TickLength() time.Duration                   { return l.Format.Tick }
func (l noLease) Epoch() time.Time                            { return l.Format.Epoch }
func (l noLease) ClaimTick(int64) (uint32, int64, error)      { return 0, 0, lease.ErrExpired }
func (l noLease) WaitTick(ctx context.Context, _ int64) error { return lease.ErrExpired }

// A leaseHolder is a process that has a node ID on lease.
type leaseHolder struct {
	*app
	store store.Store
	lease *lease.Lease
	stop  context.CancelFunc
	watch sync.WaitGroup
}

// acquireLease leases a node ID for a format's generator. With wait set it says on standard error
// when that generator has to wait for the store, and when it goes on.
func (a *app) acquireLease(ctx context.Context, l *leasing, s *format.Format, wait bool) (*leaseHolder, error) {
	config := lease.Config{
		Realm: l.realmFor(s), Format: leaseFormats[s.Name], NodeBits: int(l.bits), Window: l.window, Name: myName(),
	}
	if err := config.Validate(); err != nil {
		return nil, usageError{err}
	}
	limited, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	st, err := a.openRealms(limited, l, config)
	if err != nil {
		return nil, err
	}
	for _, condition := range st.Conditions() {
		a.complain("%s", condition)
	}
	config.MustExist = true // by now
	held, err := lease.Acquire(limited, st, config)
	if l.wait && (errors.Is(err, lease.ErrFull) || errors.Is(err, lease.ErrLead)) {
		a.complain("waiting for a node ID: %v", err)
		config.Wait = true
		held, err = lease.Acquire(ctx, st, config)
	}
	if err != nil {
		st.Close()
		return nil, err
	}
	t := &leaseHolder{app: a, store: st, lease: held}
	ctx, t.stop = context.WithCancel(ctx)
	if wait {
		t.watch.Go(func() { t.tell(ctx) })
	}
	return t, nil
}

// openRealms opens the store and makes the realms, if it may and must.
func (a *app) openRealms(ctx context.Context, l *leasing, realms ...lease.Config) (store.Store, error) {
	create := l.create
	st, err := a.openStore(ctx, store.OpenExisting, l.url)
	if errors.Is(err, fs.ErrNotExist) && !l.mustExist {
		create = true
		st, err = a.openStore(ctx, store.Open, l.url)
	}
	if err != nil {
		return nil, err
	}
	if !create && !l.mustExist && strings.HasPrefix(describeStore(l.url), "bolt:") {
		// Another process may just have made the file, and not the realm yet.
		names, err := st.Realms(ctx)
		if err != nil {
			return nil, errors.Join(err, st.Close())
		}
		create = len(names) == 0
	}
	for _, config := range realms {
		if create {
			err = a.createRealm(ctx, st, l, config)
		} else if _, err = lease.Realm(ctx, st, config.Realm); errors.Is(err, lease.ErrNoRealm) {
			err = fmt.Errorf("%w in %s. If it was there, the store has lost it or is not the one that it should be, and to go on would make IDs a second time; if it is new, make it: sortid lease create URL --realm %q --format %s",
				err, describeStore(l.url), config.Realm, formatName(config.Format))
		}
		if err != nil {
			return nil, errors.Join(err, st.Close())
		}
	}
	return st, nil
}

// formatName returns the name of the format that has a realm's bits, ticks and epoch.
func formatName(f lease.Format) string {
	for name, known := range leaseFormats {
		if known == f {
			return name
		}
	}
	return "FORMAT"
}

// createRealm makes a realm, if there is none, and says so.
func (a *app) createRealm(ctx context.Context, st store.Store, l *leasing, config lease.Config) error {
	created, err := lease.Create(ctx, st, config)
	if created && l.log != nil {
		l.log.Info("the realm is new", "realm", config.Realm, "store", describeStore(l.url))
	} else if created {
		fmt.Fprintf(a.err, "sortid: the realm %q is new; it was made in %s\n", config.Realm, describeStore(l.url))
	}
	return err
}

// describeStore returns a store's URL without what may be secret.
func describeStore(url string) string {
	if name, ok := strings.CutPrefix(url, "env:"); ok {
		url = os.Getenv(name)
	}
	url, _, _ = strings.Cut(url, "?")
	if kind, rest, ok := strings.Cut(url, "://"); ok {
		return kind + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	return url
}

// checkRealmFlag refuses an empty name, which may be an unset variable, and must not
// quietly mean another realm.
func checkRealmFlag(cmd *cobra.Command) error {
	if f := cmd.Flags().Lookup("realm"); f.Changed && f.Value.String() == "" {
		return usagef("--realm wants the name of a realm, and has an empty text")
	}
	return nil
}

// release gives the node ID back.
func (t *leaseHolder) release() {
	t.stop()
	t.watch.Wait()
	until := t.lease.Until()
	ctx, cancel := context.WithTimeout(context.Background(), releasePatience)
	defer cancel()
	if err := t.lease.Close(ctx); err != nil {
		t.complain("node ID %s could not be given back, and is free by itself soon after %s: %v", t.node(), format.FormatTime(until), err)
	}
	t.store.Close()
}

func (t *leaseHolder) node() string {
	return lease.Block{NodeID: t.lease.NodeID(), Size: uint8(t.lease.NodeBits())}.String()
}

// tell says when the lease has run out, and when it is renewed, until ctx ends. A process
// that was merely stopped for a while finds its lease run out, too, and renews it at
// once: that is not worth a word.
func (t *leaseHolder) tell(ctx context.Context) {
	const look, worth = 200 * time.Millisecond, 3
	late := 0
	for sleep(ctx, look) == nil {
		until := t.lease.Until()
		if time.Now().Before(until) {
			if late >= worth {
				t.say("going on, with node ID %s", t.node())
			}
			late = 0
			continue
		}
		if late++; late == worth {
			reason := t.lease.Err()
			if reason == nil {
				reason = errors.New("the store does not answer")
			}
			t.say("node ID %s was leased until %s; waiting for it to be renewed: %v", t.node(), format.FormatTime(until), reason)
		}
	}
}

// say writes to standard error, over what a progress has written there.
func (t *leaseHolder) say(format string, args ...any) {
	over := ""
	if t.errTerminal {
		over = "\r\x1b[K"
	}
	fmt.Fprint(t.err, over+"sortid: "+printable(fmt.Sprintf(format, args...))+"\n")
}

// myName tells people who holds a lease.
func myName() string {
	host, err := os.Hostname()
	if err != nil || len(host) > 80 {
		host = "?"
	}
	return fmt.Sprintf("%s/%d", strings.ToValidUTF8(host, "?"), os.Getpid())
}

// openStore opens a store. A URL that none can be meant by is a mistake in the arguments.
// With env:NAME the URL is in an environment variable, where others do not see a password.
func (a *app) openStore(ctx context.Context, open func(context.Context, string) (store.Store, error), url string) (store.Store, error) {
	if name, ok := strings.CutPrefix(url, "env:"); ok {
		if url = os.Getenv(name); url == "" {
			return nil, usagef("the environment variable %q, which is to have the URL of a store, is not set", name)
		}
	}
	slow := time.AfterFunc(storeSlow, func() {
		a.complain("no answer from %s yet; giving up %v after the start", describeStore(url), storePatience)
	})
	defer slow.Stop()
	st, err := open(ctx, url)
	if errors.Is(err, store.ErrURL) {
		return nil, usageError{err}
	}
	return st, err
}
