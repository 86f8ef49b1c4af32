package supervise

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/store"
	"github.com/sortid/sortid/store/bolt"
	"github.com/sortid/sortid/store/http"
)

// A starter leases the node IDs of a program.
type starter struct {
	options  *Options
	reporter *reporter
	source   store.Source // nil until the store is open
	file     *leaseFile   // nil for none
	terms    lease.Terms  // of the realm
	warned   bool         // about a short window

	wait  bool      // without a limit
	began time.Time // when the start began
	said  string    // why the start waits
}

// acquire leases the node IDs. It waits for the store for at most [nodeid.Patience]. If it is to
// wait, it waits for the store and for node IDs without a limit.
func (s *starter) acquire(ctx context.Context, wait bool) (*holding, error) {
	s.began, s.wait, s.said = time.Now(), wait, ""
	limited := ctx
	if !wait {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, nodeid.Patience)
		defer cancel()
	}
	for {
		h, err := s.try(limited)
		switch {
		case err == nil || ctx.Err() != nil:
			return h, console.Cause(ctx, err)
		case limited.Err() != nil && !occupied(err) && !permanent(err):
			return nil, fmt.Errorf("the store did not answer within %v: %w", nodeid.Patience, err)
		case !s.again(err):
			return nil, err
		}
		if err := console.Sleep(ctx, time.Second+rand.N(2*time.Second)); err != nil {
			return nil, err
		}
	}
}

// again reports whether the start goes on after an error, and says why it waits.
func (s *starter) again(err error) bool {
	full := occupied(err)
	if permanent(err) || full && !s.wait {
		return false
	}
	what := "the store"
	if full {
		what = "a node ID"
	} else if !s.wait {
		left := nodeid.Patience - time.Since(s.began)
		what = fmt.Sprintf("the store, for at most %v", left.Round(time.Second))
	}
	if s.said != err.Error() && (s.wait || s.said == "") {
		s.reporter.note("waiting for %s: %v", what, err)
		s.reporter.waits(err)
		s.said = err.Error()
	}
	return true
}

// occupied reports whether others have the node IDs.
func occupied(err error) bool {
	return errors.Is(err, lease.ErrFull) || errors.Is(err, lease.ErrLead) ||
		errors.Is(err, lease.ErrBusy)
}

// A refusal is an error of the options.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// permanent reports whether a second try would end like the first one.
func permanent(err error) bool {
	if console.IsUsageError(err) || errors.As(err, new(refusal)) {
		return true
	}
	for _, target := range []error{lease.ErrConfig, lease.ErrRealm, lease.ErrNoRealm,
		lease.ErrRecord, lease.ErrClock, lease.ErrForgotten, lease.ErrUnsafe, http.ErrAccess,
		fs.ErrNotExist, fs.ErrPermission, syscall.EROFS, syscall.ENOTDIR, bolt.ErrDamaged} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// try opens the store and leases the node IDs. Once the store is open, it waits for one node ID as
// [starter.again] says. So all tries ask for the same grant. It does not wait for more node IDs:
// two programs that have some of them could wait for each other.
func (s *starter) try(ctx context.Context) (*holding, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if err := s.giveBackEarlier(ctx); err != nil {
		return nil, err
	}
	var err error
	s.terms, err = s.readTerms(ctx)
	if errors.Is(err, lease.ErrNoRealm) {
		err = s.options.Lease.NoRealm(s.options.Realm)
	}
	if err != nil {
		return nil, err
	}
	config, err := s.config()
	if err != nil {
		return nil, refusal{err}
	}
	s.warn()
	config.Wait = s.wait && s.count() == 1
	config.Retry = func(err error) bool {
		return (s.count() == 1 || !occupied(err)) && s.again(err)
	}
	h, err := acquire(ctx, s.count(), func(ctx context.Context) (*lease.Lease, error) {
		return s.source.Acquire(ctx, config)
	})
	if err != nil {
		return nil, err
	}
	h.nodes.Bits, h.nodes.Mixed = config.NodeBits, s.terms.Only == 0
	h.nodes.Format, h.nodes.Count = config.Format.Name, s.options.Count != 0
	return h, nil
}

// kept is the content of a leaseFile.
type kept struct {
	Boot     string            `json:"boot"` // the lock is of one start of one machine
	Latest   time.Time         `json:"latest"`
	Ahead    time.Duration     `json:"ahead"`
	Receipts []json.RawMessage `json:"receipts"`
}

// giveBackEarlier gives back the node IDs of an earlier start that was killed.
func (s *starter) giveBackEarlier(ctx context.Context) error {
	if s.file == nil {
		return nil
	}
	k := s.file.read()
	if len(k.Receipts) == 0 {
		return nil
	}
	last := time.Now()
	if k.Latest.After(last) { // the clock was set back
		last = k.Latest
	}
	// The kernel may have needed some time to end the program.
	last = last.Add(max(k.Ahead, s.options.Times.Ahead) + time.Second)
	for _, receipt := range k.Receipts {
		if err := s.source.Return(ctx, receipt, last); err != nil {
			return err
		}
	}
	s.reporter.note("gave back what an earlier start had leased; it is free from %s on",
		words.Time(last))
	return s.file.write(kept{})
}

// keep writes the file for the next start. A slow disk does not delay the caller.
func (s *starter) keep(k kept) {
	if s.file == nil {
		return
	}
	s.reporter.later(func() {
		if err := s.file.write(k); err != nil {
			s.reporter.console.Say("--lease-file %s: %v", s.options.File, err)
		}
	})
}

// readTerms reads the realm's terms. A request without an answer may be lost.
func (s *starter) readTerms(ctx context.Context) (lease.Terms, error) {
	ctx, cancel := context.WithTimeout(ctx, nodeid.Patience/6)
	defer cancel()
	return s.source.Terms(ctx, s.options.Realm.Realm)
}

func (s *starter) count() int { return max(1, s.options.Count) }

// open opens the store, and makes the realm if the options allow it.
func (s *starter) open(ctx context.Context) (err error) {
	if s.source != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, nodeid.Patience)
	defer cancel()
	s.source, err = nodeid.OpenSource(ctx, s.reporter.console, s.options.Lease, s.options.Realm)
	if err != nil {
		return err
	}
	for _, condition := range s.source.Conditions() {
		s.reporter.note("%s", condition)
	}
	return nil
}

// config returns the configuration of the leases. It refuses options that do not fit the realm.
func (s *starter) config() (lease.Config, error) {
	t, name := s.terms, s.options.Realm.Realm
	config := lease.Config{Realm: name, MustExist: true, Format: s.options.Realm.Format,
		NodeID: s.options.NodeID, Window: s.options.Lease.Window, Name: nodeid.MyName(), Once: true,
		Logger: s.reporter.logger()}
	if s.options.Format == nil {
		config.Format = leaseFormat(t)
	}
	bits := int(s.options.Lease.Bits)
	if t.Only != 0 && bits != 0 && bits != t.Only {
		return config, fmt.Errorf("realm %s grants node IDs of %d bits, not %d", name, t.Only, bits)
	}
	bits = cmp.Or(bits, t.Only, min(8, t.Bits))
	config.NodeBits = bits
	switch all := 1 << min(bits, lease.MaxBits); {
	case bits > t.Bits:
		return config, console.UsageErrorf(
			"--node-bits %d: a node ID of realm %s has 1 to %d bits", bits,
			name, t.Bits)
	case s.options.NodeID != nil && int(*s.options.NodeID) >= all:
		return config, console.UsageErrorf("--node-id %d: node IDs of realm %s have %d bits, "+
			"so the largest is %d", *s.options.NodeID, name, bits, all-1)
	case s.options.Count > all:
		return config, console.UsageErrorf(
			"--count %d: realm %s has only %d node IDs of %d bits", s.options.Count,
			name, all, bits)
	}
	for _, v := range s.options.Env {
		if err := v.check(name, t.Only == 0); err != nil {
			return config, console.UsageError(err)
		}
	}
	window := s.window()
	if least := s.options.Times.Window(); window < least {
		return config, fmt.Errorf("realm %s has windows of %v, and the program must end %v before "+
			"its lease does, so the windows must be at least %v: %s", name, window,
			s.options.Times.Terminate(), least, s.setWindow(least))
	}
	config.Renew = s.pace().RenewAfter(window)
	return config, nil
}

func (s *starter) pace() nodeid.Pace { return nodeid.PaceOf(s.options.Lease.URL) }

// window returns the window of the leases.
func (s *starter) window() time.Duration {
	return cmp.Or(s.options.Lease.Window, s.terms.Rounded(s.terms.Window))
}

// leaseFormat returns the format of a realm. A realm of an old version has no format's name.
func leaseFormat(t lease.Terms) lease.Format {
	is := t.LeaseFormat()
	for _, f := range nodefield.Formats() {
		of := nodefield.LeaseFormat(f)
		if is.Name == "" && t.Only == 0 && of.Bits == is.Bits && of.Tick == is.Tick &&
			of.Epoch.Equal(is.Epoch) {
			return of
		}
	}
	return is
}

func (s *starter) setWindow(window time.Duration) string {
	return fmt.Sprintf("sortid lease set %s --realm %s --lease-window %v", s.options.Lease.Shown(),
		s.options.Realm.Realm, window)
}

// warn says once if the realm's windows are too short for the usual outage.
func (s *starter) warn() {
	window := s.window()
	survives := s.options.Times.Survives(window, s.pace())
	if s.warned || s.options.Lease.Window != 0 || survives >= Outage {
		return
	}
	s.warned = true
	s.reporter.note("realm %s has windows of %v, so the program survives %v without the store; "+
		"for %v: %s", s.options.Realm.Realm, window, survives.Truncate(time.Second), Outage,
		s.setWindow(s.options.Times.WindowFor(Outage, s.pace())))
}
