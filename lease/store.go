package lease

import (
	"context"
	"time"
)

// A Store keeps the records of realms. It must be safe for concurrent use by many goroutines and
// processes. Package storetest tests implementations.
//
// Leases are safe only if the store keeps three promises. If a promise depends on conditions, the
// store must check or state these conditions when it is opened.
//
//   - CompareAndSet is atomic: of two calls with the same prev, at most one stores its record.
//   - Neither a crash nor a failover loses a change that the store has confirmed. After an old copy
//     was restored, somebody must call [Fence].
//   - Get returns the latest record. After a record was stored, or returned by any Get, every Get
//     that begins later returns that record or a newer one. So a store must not read from replicas
//     that may be behind.
//
// If a change fails with an error, the store may have made it, or may make it later. All methods
// should return when ctx ends.
//
// A Store can also be an [IdleCloser] or a [Scanner], and sometimes must be a [TimePrecisioner] or
// [Atomicity].
type Store interface {
	// Get returns a record. If the record is missing, Get returns a Record with only Realm and
	// Block set. The parameters realm and b may have any values.
	Get(ctx context.Context, realm string, b Block) (Record, error)

	// GetMany returns the latest records of blocks, like Get. It reads them in the order of blocks,
	// or all at the same moment. A crash of the store may undo a change that GetMany returned. Then
	// it must also undo every CompareAndSet that came after GetMany.
	GetMany(ctx context.Context, realm string, blocks []Block) ([]Record, error)

	// CompareAndSet stores the record next if the stored record has the Revision and the HWM of
	// prev. If prev.Revision is 0, there must be no record. prev and next must have the same Realm
	// and Block. CompareAndSet reports whether it stored next. If it returns false without an
	// error, this call never changes anything. The store keeps all fields of next unchanged.
	CompareAndSet(ctx context.Context, prev, next Record) (bool, error)

	// CompareAndSetMany makes several changes in one realm, in their order, each as CompareAndSet
	// does. It stops at the first refused change, and reports whether it made all changes. It
	// should make all changes or none. If it may make the changes before the refused change, the
	// Store must be an [Atomicity].
	CompareAndSetMany(ctx context.Context, changes []Change) (bool, error)

	// List returns all records with exactly this realm, in any order. The records may be outdated
	// and from different moments, because callers only use them to choose or show blocks.
	List(ctx context.Context, realm string) ([]Record, error)

	// Realms returns the names of all realms. Each realm has a record of the zero Block. A realm
	// that was made a moment ago may be missing.
	Realms(ctx context.Context) ([]string, error)

	// Time returns the time of the store's clock. If it fails with [ErrNoTime], each process uses
	// its own clock.
	Time(ctx context.Context) (time.Time, error)

	// Close releases the Store's resources. It does not end leases.
	Close() error
}

// An IdleCloser is a [Store] or a [Lessor] with connections. A lease calls CloseIdleConnections when
// it will probably send no request for a second or more.
type IdleCloser interface{ CloseIdleConnections() }

// A TimePrecisioner is a [Store] whose Time can be wrong by more than a millisecond. TimePrecision
// returns by how much.
type TimePrecisioner interface{ TimePrecision() time.Duration }

func precisionOf(store Store) time.Duration {
	if s, ok := store.(TimePrecisioner); ok {
		return s.TimePrecision()
	}
	return 0
}

// An Atomicity is a [Store] that says whether CompareAndSetMany makes all changes or none.
type Atomicity interface{ Atomic() bool }

// A Scanner is a [Store] that can list a large realm in little memory. Scan calls f for each record
// that List would return, until an error.
type Scanner interface {
	Scan(ctx context.Context, realm string, f func(Record)) error
}

func scan(ctx context.Context, store Store, realm string, f func(Record)) error {
	if s, ok := store.(Scanner); ok {
		return s.Scan(ctx, realm, f)
	}
	records, err := store.List(ctx, realm)
	for _, r := range records {
		f(r)
	}
	return err
}

// A Change replaces the record Prev of a block by Next.
type Change struct{ Prev, Next Record }

func checkStore(store Store) error {
	if store == nil {
		return errorf(ErrConfig, "the store is nil; open one, such as NewMemory for tests")
	}
	return nil
}
