package kv

import (
	"context"
	"sync"

	"github.com/sortid/sortid/lease"
)

// Seen remembers the records that were read last, and with each what the server has to
// compare to replace it: a revision, or the value. A change of a record that was just
// read then takes one request. If what is remembered is out of date, the server refuses the
// change, and the record must be read again before it is said to be refused. The
// zero Seen is ready for use.
type Seen[V any] struct {
	mu      sync.Mutex
	records map[key]seen[V]
}

type key struct {
	realm string
	block lease.Block
}

type seen[V any] struct {
	record  lease.Record
	version V
}

// A lease reads the blocks above its own, and its realm.
const maxSeen = 64

// Put remembers a record.
func (s *Seen[V]) Put(r lease.Record, version V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records == nil || len(s.records) >= maxSeen {
		s.records = map[key]seen[V]{}
	}
	s.records[key{r.Realm, r.Block}] = seen[V]{r, version}
}

// Versions returns what belongs to the records that are to be changed, if all of them are
// remembered.
func (s *Seen[V]) Versions(changes []lease.Change) (versions []V, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		e, ok := s.records[key{c.Prev.Realm, c.Prev.Block}]
		if !ok || !e.record.Matches(c.Prev) {
			return nil, false
		}
		versions = append(versions, e.version)
	}
	return versions, true
}

// Change makes changes by put, which is given what the server has to compare. If what is
// remembered is out of date, or nothing is, it gets the records first; it refuses the
// changes if these are not the previous ones.
func (s *Seen[V]) Change(ctx context.Context, changes []lease.Change,
	get func(context.Context, string, []lease.Block) ([]lease.Record, []V, error),
	put func(context.Context, []lease.Change, []V) (bool, error),
) (bool, error) {
	if versions, ok := s.Versions(changes); ok {
		if done, err := put(ctx, changes, versions); done || err != nil {
			return done, err
		}
	}
	blocks := make([]lease.Block, len(changes))
	for i, c := range changes {
		blocks[i] = c.Prev.Block
	}
	now, versions, err := get(ctx, changes[0].Prev.Realm, blocks)
	if err != nil {
		return false, err
	}
	for i, c := range changes {
		if !now[i].Matches(c.Prev) {
			return false, nil
		}
	}
	return put(ctx, changes, versions)
}
