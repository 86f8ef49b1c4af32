package supervise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/store"
	"github.com/sortid/sortid/store/http"
)

// A starter leases the node IDs of a program.
type starter struct {
	options  *Options
	reporter *reporter
	source   *store.Source // nil until the store is open
	terms    lease.Terms   // of the realm
	warned   bool          // about a short window
}

// acquire leases the node IDs. It waits for the store for at most [nodeid.Patience]. If it is to
// wait, it waits for the store and for node IDs without a limit.
func (s *starter) acquire(ctx context.Context, wait bool) (*holding, error) {
	began, said, queue := time.Now(), "", false
	for {
		span := nodeid.Patience
		if s.source != nil && !queue {
			span /= 6 // a request without an answer may be lost
		}
		limited, cancel := context.WithTimeout(ctx, span)
		h, err := s.try(limited, queue)
		cancel()
		left := nodeid.Patience - time.Since(began)
		full := occupied(err)
		switch {
		case err == nil || ctx.Err() != nil:
			return h, console.Cause(ctx, err)
		case permanent(err) || full && !wait:
			return nil, err
		case !wait && left <= 0:
			return nil, fmt.Errorf("the store did not answer within %v: %w", nodeid.Patience, err)
		}
		queue = wait && full
		what := "the store"
		if full {
			what = "a node ID"
		} else if !wait {
			what = fmt.Sprintf("the store, for at most %v", left.Round(time.Second))
		}
		if said != err.Error() && (wait || said == "") {
			s.reporter.note("waiting for %s: %v", what, err)
			s.reporter.waits(err)
			said = err.Error()
		}
		pause := time.Second + rand.N(2*time.Second)
		if !wait {
			pause = min(pause, left)
		}
		if err := console.Sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
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
		fs.ErrNotExist, fs.ErrPermission} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// try leases the node IDs if the store answers and they are free. If it is to queue, it waits for
// them until ctx ends.
func (s *starter) try(ctx context.Context, queue bool) (*holding, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	var err error
	s.terms, err = s.source.Terms(ctx, s.options.Realm.Realm)
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
	config.Wait = queue && s.count() == 1
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

func (s *starter) count() int { return max(1, s.options.Count) }

// open opens the store, and makes the realm if the options allow it.
func (s *starter) open(ctx context.Context) (err error) {
	if s.source != nil {
		return nil
	}
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
	config.Renew = nodeid.RenewAfter(window)
	return config, nil
}

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
	survives := s.options.Times.Survives(window)
	if s.warned || s.options.Lease.Window != 0 || survives >= Outage {
		return
	}
	s.warned = true
	s.reporter.note("realm %s has windows of %v, so the program survives %v without the store; "+
		"for %v: %s", s.options.Realm.Realm, window, survives.Truncate(time.Second), Outage,
		s.setWindow(s.options.Times.WindowFor(Outage)))
}
