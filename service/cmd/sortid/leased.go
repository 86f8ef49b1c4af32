package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/window"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/scheme"
	"github.com/sortid/sortid/service/store"
	"github.com/spf13/cobra"
)

// leaseFormats has, by its name, each scheme whose node IDs can be leased. The name is
// that of the realm, too, unless another is given.
var leaseFormats = map[string]lease.Format{
	scheme.SCRU64.Name:  lease.SCRU64,
	scheme.SCRU160.Name: lease.SCRU160,
	scheme.UID60.Name:   lease.UID60,
}

const (
	storePatience   = 30 * time.Second // for a store to answer
	releasePatience = 5 * time.Second  // at the end, for it to take the node ID back
)

// leasing holds the flags of a command that makes IDs on a lease.
type leasing struct {
	url, realm string
	bits       count
	window     time.Duration
}

func leasingFlags(cmd *cobra.Command) *leasing {
	l := &leasing{bits: 8}
	cmd.Flags().StringVar(&l.url, "lease", "", "lease the node ID from the store of this `URL`, such as bolt:PATH (see sortid lease --help)")
	cmd.Flags().StringVar(&l.realm, "realm", "", "the `NAME` of the set of node IDs to lease from (default: the scheme's name)")
	cmd.Flags().Var(&l.bits, "node-bits", "the size of the leased node ID")
	cmd.Flags().DurationVar(&l.window, "lease-window", 0, "how far ahead the lease is kept renewed, a `DURATION`: IDs are made without the store for half of it at least (default: the realm's, 1m)")
	return l
}

// wanted reports whether there is to be a lease. An empty URL is a mistake, such as an
// unset variable, and must not quietly mean that there is none.
func (l *leasing) wanted(cmd *cobra.Command) (bool, error) {
	if l.url == "" && cmd.Flags().Changed("lease") {
		return false, usagef("--lease wants the URL of a store, and has an empty text; see sortid lease --help")
	}
	for _, name := range []string{"realm", "node-bits", "lease-window"} {
		if l.url == "" && cmd.Flags().Changed(name) {
			return false, usagef("--%s goes with --lease URL", name)
		}
	}
	return l.url != "", nil
}

// check finds mistakes before the store is asked for anything.
func (l *leasing) check(s *scheme.Scheme, options scheme.Options) error {
	f, ok := leaseFormats[s.Name]
	if ok && l.bits > count(f.Bits) {
		return usagef("--node-bits %d: a node ID of %s has 1 to %d bits", l.bits, s.Name, f.Bits)
	}
	options.Lease = blank{window.New(int(l.bits), max(f.Tick, time.Millisecond), f.Epoch)}
	if _, err := s.NewGenerator(options); err != nil {
		return usageError{err}
	}
	return nil
}

// A blank lease shows whether a generator would take the real one.
type blank struct{ window *window.Window }

func (b blank) Window() *window.Window { return b.window }

// A tenant is a process that has a node ID on lease.
type tenant struct {
	*app
	store store.Store
	lease *lease.Lease
	stop  context.CancelFunc
	watch sync.WaitGroup
}

// move leases a node ID for a scheme's generator. With wait set it says on standard error
// when that generator has to wait for the store, and when it goes on.
func (a *app) move(ctx context.Context, l *leasing, s *scheme.Scheme, wait bool) (*tenant, error) {
	config := lease.Config{
		Realm: cmp.Or(l.realm, s.Name), Format: leaseFormats[s.Name], NodeIDSize: int(l.bits), Window: l.window, Name: myName(),
	}
	if err := config.Validate(); err != nil {
		return nil, usageError{err}
	}
	limited, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	st, err := openStore(limited, store.Open, l.url)
	if err != nil {
		return nil, err
	}
	for _, condition := range st.Conditions() {
		fmt.Fprintf(a.err, "sortid: %s\n", condition)
	}
	held, err := lease.Acquire(limited, st, config)
	if err != nil {
		st.Close()
		return nil, err
	}
	t := &tenant{app: a, store: st, lease: held}
	ctx, t.stop = context.WithCancel(ctx)
	if wait {
		t.watch.Go(func() { t.tell(ctx) })
	}
	return t, nil
}

// leave gives the node ID back.
func (t *tenant) leave() {
	t.stop()
	t.watch.Wait()
	until := t.lease.Until()
	ctx, cancel := context.WithTimeout(context.Background(), releasePatience)
	defer cancel()
	if err := t.lease.Close(ctx); err != nil {
		fmt.Fprintf(t.err, "sortid: node ID %s could not be given back, and is free by itself soon after %s: %v\n", t.node(), scheme.FormatTime(until), err)
	}
	t.store.Close()
}

func (t *tenant) node() string {
	return lease.Block{NodeID: t.lease.NodeID(), Size: uint8(t.lease.NodeIDSize())}.String()
}

// tell says when the lease has run out, and when it is renewed, until ctx ends. A process
// that was merely stopped for a while finds its lease run out, too, and renews it at
// once: that is not worth a word.
func (t *tenant) tell(ctx context.Context) {
	const look, worth = 200 * time.Millisecond, 3
	late := 0
	for clock.Sleep(ctx, look) == nil {
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
			t.say("node ID %s was leased until %s; waiting for it to be renewed: %v", t.node(), scheme.FormatTime(until), reason)
		}
	}
}

// say writes to standard error, over what a progress has written there.
func (t *tenant) say(format string, args ...any) {
	over := ""
	if t.errTerminal {
		over = "\r\x1b[K"
	}
	fmt.Fprintf(t.err, over+"sortid: "+format+"\n", args...)
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
func openStore(ctx context.Context, open func(context.Context, string) (store.Store, error), url string) (store.Store, error) {
	if name, ok := strings.CutPrefix(url, "env:"); ok {
		if url = os.Getenv(name); url == "" {
			return nil, usagef("the environment variable %q, which is to have the URL of a store, is not set", name)
		}
	}
	st, err := open(ctx, url)
	if errors.Is(err, store.ErrURL) {
		return nil, usageError{err}
	}
	return st, err
}
