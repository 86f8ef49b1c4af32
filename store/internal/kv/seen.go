package kv

import (
	"context"
	"sync"

	"github.com/sortid/sortid/lease"
)

// Seen remembers the records read last and, with each, what the server must compare to replace it:
// a revision, or the value. So a change of a record that was just read takes one request. If a
// remembered record is out of date, the server refuses the change. Then the record must be read
// again before the change counts as refused. The zero Seen is ready for use.
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

// Versions returns the remembered versions of the records to be changed, if it has all of them.
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

// Change makes changes by put, which is given what the server must compare. If nothing is
// remembered, or it is out of date, Change gets the records first. It refuses the changes if these
// differ from the previous ones.
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
