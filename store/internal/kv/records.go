// Package kv has what the stores on key-value servers share. A record is one value, in JSON. A
// change replaces a value only if nobody has replaced it since it was read.
package kv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/sortid/sortid/lease"
)

// Records has the methods of a [lease.Store] that read and change records. V is the type of a
// value's version, which the server compares: a number, or the value itself.
//
// Records remembers the records that it has read or written last. To change such a record takes one
// request. If the server refuses the change, Records reads the record, and may repeat the change.
type Records[V any] struct {
	server Server[V]
	mu     sync.Mutex
	seen   map[key]seen[V]
}

// A Server sends requests to one kind of server.
type Server[V any] struct {
	// Read returns the values of records, and their versions. A missing record has the value nil.
	Read func(ctx context.Context, realm string, blocks []lease.Block) ([][]byte, []V, error)
	// Write replaces all values, and returns their new versions. If the versions on the server
	// differ from the versions that were read (was), Write replaces nothing and returns nil.
	Write func(ctx context.Context, changes []lease.Change, values []string, was []V) ([]V, error)
	One   bool // Write can replace only one value.
	// Failed adds to an error what the store could not do.
	Failed func(what string, err error) error
	// Key returns the name of a record for Failed.
	Key func(realm string, b lease.Block) string
}

type key struct {
	realm string
	block lease.Block
}

type seen[V any] struct {
	record  lease.Record
	version V
}

func NewRecords[V any](server Server[V]) *Records[V] { return &Records[V]{server: server} }

func (r *Records[V]) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	records, err := r.GetMany(ctx, realm, []lease.Block{b})
	if err != nil {
		return lease.Record{}, err
	}
	return records[0], nil
}

func (r *Records[V]) GetMany(ctx context.Context, realm string,
	blocks []lease.Block) ([]lease.Record, error) {
	records, _, err := r.get(ctx, realm, blocks)
	return records, err
}

func (r *Records[V]) get(ctx context.Context, realm string,
	blocks []lease.Block) ([]lease.Record, []V, error) {
	values, versions, err := r.server.Read(ctx, realm, blocks)
	if err != nil {
		return nil, nil, err
	}
	records := make([]lease.Record, len(blocks))
	for i, b := range blocks {
		if records[i] = (lease.Record{Realm: realm, Block: b}); values[i] == nil {
			continue
		}
		if records[i], err = decode(values[i], realm, b); err != nil {
			return nil, nil, r.server.Failed("read "+r.server.Key(realm, b), err)
		}
	}
	r.remember(records, versions)
	return records, versions, nil
}

func (r *Records[V]) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	return r.CompareAndSetMany(ctx, []lease.Change{{Prev: prev, Next: next}})
}

// Atomic reports whether CompareAndSetMany makes all changes, or none.
func (r *Records[V]) Atomic() bool { return !r.server.One }

// CompareAndSetMany makes all changes, or none. If the server replaces only one value at a time, it
// makes one change after the other, until the server refuses one.
func (r *Records[V]) CompareAndSetMany(ctx context.Context,
	changes []lease.Change) (done bool, err error) {
	if !r.server.One {
		return r.change(ctx, changes)
	}
	for i := range changes {
		if done, err = r.change(ctx, changes[i:i+1]); !done || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (r *Records[V]) change(ctx context.Context, changes []lease.Change) (done bool, err error) {
	values, blocks := make([]string, len(changes)), make([]lease.Block, len(changes))
	for i, c := range changes {
		blocks[i] = c.Prev.Block
		if values[i], err = encode(c.Next); err != nil {
			return false, r.server.Failed("write "+r.server.Key(c.Prev.Realm, c.Prev.Block), err)
		}
	}
	if versions, ok := r.versions(changes); ok {
		if done, err := r.write(ctx, changes, values, versions); done || err != nil {
			return done, err
		}
	}
	now, versions, err := r.get(ctx, changes[0].Prev.Realm, blocks)
	if err != nil {
		return false, err
	}
	for i, c := range changes {
		if !now[i].Matches(c.Prev) {
			return false, nil
		}
	}
	return r.write(ctx, changes, values, versions)
}

func (r *Records[V]) write(ctx context.Context, changes []lease.Change, values []string,
	was []V) (bool, error) {
	versions, err := r.server.Write(ctx, changes, values, was)
	if versions == nil || err != nil {
		return false, err
	}
	next := make([]lease.Record, len(changes))
	for i, c := range changes {
		next[i] = c.Next
	}
	r.remember(next, versions)
	return true, nil
}

// A lease uses few records: its block, the blocks around it, and its realm. A server uses the
// records of many leases. maxSeen records take about 10 MB.
const maxSeen = 1 << 14

func (r *Records[V]) remember(records []lease.Record, versions []V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, record := range records {
		if r.seen == nil || len(r.seen) >= maxSeen {
			r.seen = map[key]seen[V]{}
		}
		r.seen[key{record.Realm, record.Block}] = seen[V]{record, versions[i]}
	}
}

func (r *Records[V]) versions(changes []lease.Change) (versions []V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range changes {
		s, ok := r.seen[key{c.Prev.Realm, c.Prev.Block}]
		if !ok || !s.record.Matches(c.Prev) {
			return nil, false
		}
		versions = append(versions, s.version)
	}
	return versions, true
}

func encode(r lease.Record) (string, error) {
	if r.Revision == 0 {
		return "", errors.New("a record with revision 0 cannot be stored: 0 means a missing record")
	}
	value, err := json.Marshal(r)
	return string(value), err
}

func decode(value []byte, realm string, b lease.Block) (lease.Record, error) {
	var r lease.Record
	err := json.Unmarshal(value, &r)
	switch {
	case err != nil:
	case r.Realm != realm || r.Block != b:
		err = fmt.Errorf("it is the record of %v of realm %q", r.Block, r.Realm)
	case r.Revision == 0:
		err = errors.New("it has no revision")
	}
	if err != nil {
		return lease.Record{}, fmt.Errorf("the value of block %v of realm %q is not its record: %w",
			b, realm, err)
	}
	return r, nil
}

// DecodeListed decodes the record whose key ends with block.
func DecodeListed(block string, value []byte, realm string) (lease.Record, error) {
	b, err := lease.ParseBlock(block)
	if err != nil {
		return lease.Record{}, fmt.Errorf("this is not the key of a record: %w", err)
	}
	return decode(value, realm, b)
}
