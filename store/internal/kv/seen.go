package kv

import (
	"context"
	"sync"

	"github.com/sortid/sortid/lease"
)

// Seen remembers the last records and what the server must compare to replace them: a revision, or
// the value. So a change of such a record takes one request. If the server refuses it, the record
// must be read again before the change counts as refused.
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

func (s *Seen[V]) Put(r lease.Record, version V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records == nil || len(s.records) >= maxSeen {
		s.records = map[key]seen[V]{}
	}
	s.records[key{r.Realm, r.Block}] = seen[V]{r, version}
}

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

// Change makes changes by put, which is given what the server must compare. Change gets records
// that are not remembered, or out of date. It refuses the changes if these differ.
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
