package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/limit"
	"github.com/sortid/sortid/lease"
)

// To check changes, a checkedStore first calls GetMany. It remembers the realm's own record and the
// store's clock. It reads both again if they are old, or before it refuses a change.
type checkedStore struct {
	lease.Store

	mu     sync.Mutex
	realms map[string]known
	counts map[string]count // by name of a realm with its generation
}

type known struct {
	root  lease.Record  // The realm's own record.
	read  time.Time     // When root was read.
	ahead time.Duration // The store's clock minus this machine's.
	lead  time.Duration // How far ahead clients' clocks may be. 0 if the store has a clock.
}

// A count is the number of a realm's records, and how many of them this server made since it last
// listed them.
type count struct{ all, since int }

const (
	rememberFor = 10 * time.Second
	mostRealms  = 1000 // remembered at a time

	// When a server has made this many records, it lists all records again, because other servers
	// make records, too.
	recountAfter = 1000
)

// Checked returns a store that refuses a change with [lease.ErrIllegal] if the protocol of leases
// forbids it.
func Checked(store lease.Store) lease.Store {
	return &checkedStore{Store: store, realms: map[string]known{}, counts: map[string]count{}}
}

func (s *checkedStore) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	return s.CompareAndSetMany(ctx, []lease.Change{{Prev: prev, Next: next}})
}

func (s *checkedStore) CompareAndSetMany(ctx context.Context,
	changes []lease.Change) (bool, error) {
	changes = slices.Clone(changes)
	space, blocks, err := lease.Evidence(changes)
	if err != nil {
		return false, err
	}
	records, err := s.Store.GetMany(ctx, space, blocks)
	if err != nil {
		return false, err
	}
	if changes[0].Next.Block == (lease.Block{}) {
		return s.changeRealm(ctx, changes, records)
	}
	newRecords := 0
	for i, c := range changes {
		if !records[i].Matches(c.Prev) {
			return false, nil
		}
		changes[i].Prev = records[i]
		if records[i].Revision == 0 {
			newRecords++
		}
	}
	if ok, err := s.allows(ctx, changes, records, newRecords); !ok || err != nil {
		return false, err
	}
	stored, err := s.Store.CompareAndSetMany(ctx, changes)
	if !stored && err == nil {
		s.add(space, -newRecords)
	}
	return stored, err
}

func (s *checkedStore) changeRealm(ctx context.Context, changes []lease.Change,
	records []lease.Record) (bool, error) {
	realm := changes[0].Next.Realm
	k, err := s.read(ctx, realm)
	if err != nil {
		return false, err
	}
	switch next := changes[0].Next; {
	case !k.root.Matches(changes[0].Prev):
		return false, nil
	case next.HWM != k.root.HWM || k.root.Revision != 0 && next.Generation != k.root.Generation:
		return false, &lease.ChangeError{Reason: "a server does not fence a realm; " + noFence}
	case k.root.Revision == 0:
		names, err := s.Store.Realms(ctx)
		if err != nil {
			return false, err
		}
		if len(names) >= limit.MaxRealms {
			return false, &lease.ChangeError{Reason: fmt.Sprintf("the store has %d realms, and "+
				"a server makes a realm only while there are fewer than %d; "+
				"make the realm at the store itself", len(names), limit.MaxRealms)}
		}
	}
	if ok, err := k.with(records).Check(changes); !ok || err != nil {
		return false, err
	}
	changes[0].Prev = k.root
	defer s.forget(realm)
	return s.Store.CompareAndSetMany(ctx, changes)
}

// baseRealm returns a name without its generation, as in "orders" for "orders@0123456789abcdef".
func baseRealm(name string) string {
	realm, _, _ := strings.Cut(name, "@")
	return realm
}

// allows reports whether the protocol allows changes of node IDs.
func (s *checkedStore) allows(ctx context.Context, changes []lease.Change, records []lease.Record,
	newRecords int) (bool, error) {
	space := changes[0].Next.Realm
	realm := baseRealm(space)
	remembered, young := s.recall(realm)
	if young && remembered.current() == space {
		ok, err := s.check(ctx, remembered, changes, records, newRecords)
		if ok || err != nil && !errors.Is(err, lease.ErrIllegal) {
			return ok, err
		}
	}
	// Read again before refusing a change, because the remembered record can be old.
	k, err := s.read(ctx, realm)
	switch {
	case err != nil:
		return false, err
	case newRecords == 0 || k.root.Revision == 0 || k.current() == space:
		return s.check(ctx, k, changes, records, newRecords)
	case remembered.current() == space: // meanwhile, a fence began a new generation
		return false, nil
	}
	return false,
		&lease.ChangeError{Reason: "it makes a record that is not in the realm's current " +
			"generation; " + noFence}
}

// noFence is advice for clients. A server does not let clients fence a realm, because a client
// could put overlapping records into the new generation.
const noFence = "fence the realm at the store itself"

// check reports whether the protocol allows changes, given k and the records of [lease.Evidence].
func (s *checkedStore) check(ctx context.Context, k known, changes []lease.Change,
	records []lease.Record, newRecords int) (bool, error) {
	space := changes[0].Next.Realm
	now := k.with(records)
	var err error
	if newRecords > 0 {
		if now.Count, err = s.reserve(ctx, space, newRecords); err != nil {
			return false, err
		}
	}
	ok, err := now.Check(changes)
	if !ok || err != nil {
		s.add(space, -newRecords)
	}
	return ok, err
}

func (k known) with(records []lease.Record) lease.Known {
	return lease.Known{Root: k.root, Now: time.Now().Add(k.ahead), Ahead: k.lead, Records: records}
}

func (k known) current() string { return k.root.Realm + "@" + k.root.Generation }

// reserve counts n records before they are made, and returns how many there were. It seldom lists
// the records. If there are already [lease.MaxRecords], it does not list them again, because their
// number cannot fall.
func (s *checkedStore) reserve(ctx context.Context, space string, n int) (int, error) {
	s.mu.Lock()
	c, ok := s.counts[space]
	s.mu.Unlock()
	if !ok || c.since+n > recountAfter && c.all < lease.MaxRecords {
		records, err := s.Store.List(ctx, space)
		if err != nil {
			return 0, err
		}
		s.mu.Lock()
		if len(s.counts) >= mostRealms {
			clear(s.counts)
		}
		s.counts[space] = count{all: len(records)}
		s.mu.Unlock()
	}
	return s.add(space, n), nil
}

func (s *checkedStore) add(space string, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.counts[space]
	if ok {
		s.counts[space] = count{c.all + n, c.since + n}
	}
	return c.all
}

func (s *checkedStore) read(ctx context.Context, realm string) (known, error) {
	root, err := s.Store.Get(ctx, realm, lease.Block{})
	if err != nil {
		return known{}, err
	}
	k := known{root: root, read: time.Now()}
	now, err := s.Store.Time(ctx)
	switch {
	case errors.Is(err, lease.ErrNoTime):
		k.lead = root.Terms.Duration(root.Terms.Lead)
	case err != nil:
		return known{}, err
	default:
		k.ahead = now.Sub(k.read)
	}
	if root.Revision == 0 {
		return k, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.realms) >= mostRealms {
		clear(s.realms)
	}
	s.realms[realm] = k
	return k, nil
}

func (s *checkedStore) recall(realm string) (known, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.realms[realm]
	return k, ok && time.Since(k.read) < rememberFor
}

func (s *checkedStore) forget(realm string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.realms, realm)
}
