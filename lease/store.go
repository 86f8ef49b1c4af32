package lease

import (
	"context"
	"time"
)

// A Store keeps the records of realms. It must be safe for concurrent use by many goroutines and
// processes. Package storetest tests implementations.
//
// Leases are safe only if the store keeps three promises. If it keeps them only under conditions,
// it must check or state these conditions when it is opened.
//
//   - CompareAndSet is atomic: of two calls with the same prev, at most one stores its record.
//   - Neither a crash nor a failover loses a confirmed change. After an old copy was restored,
//     somebody must call [Fence].
//   - Get returns the latest record. This record is at least as new as each record that was stored,
//     or returned by a Get, before this Get began. So a store must not read from a replica that can
//     be behind its master.
//
// If a change fails with an error, the store may have made it, or may make it later. All methods
// should return when ctx ends.
//
// If a Store has a method CloseIdleConnections(), a lease calls this method whenever it probably
// sends no request for a second or more.
type Store interface {
	// Get returns a record. If the record is missing, Get returns no error, but a Record with only
	// Realm and Block set. The parameters realm and b may have any values.
	Get(ctx context.Context, realm string, b Block) (Record, error)

	// GetMany returns the records of blocks. It reads them in the order of blocks, or all at the
	// same moment. It returns the latest records, like Get, but a crash of the store may undo them
	// later. Then the crash must also undo every CompareAndSet after this GetMany.
	GetMany(ctx context.Context, realm string, blocks []Block) ([]Record, error)

	// CompareAndSet replaces the stored record by next if the stored record has the Revision and
	// the HWM of prev. If prev.Revision is 0, it stores next only if there is no record. The Realm
	// and Block of prev and next must be equal. CompareAndSet reports whether it stored next. If it
	// returns false and no error, this call never changes anything. Later, Get must return all
	// fields of next unchanged.
	CompareAndSet(ctx context.Context, prev, next Record) (bool, error)

	// CompareAndSetMany makes several changes in one realm, in their order, each as CompareAndSet
	// does. It stops at the first refused change, and reports whether it made all changes. It
	// should make all changes or none, but may make the changes before the refused change. If the
	// error matches [ErrIllegal], it has changed nothing: a server returns this error for changes
	// that [Known.Check] forbids.
	CompareAndSetMany(ctx context.Context, changes []Change) (bool, error)

	// List returns all records with exactly this realm, in any order. The records may be outdated
	// and from different moments, because callers only use them to choose a block.
	List(ctx context.Context, realm string) ([]Record, error)

	// Realms returns the names of all realms. Each realm has a record of the zero Block.
	Realms(ctx context.Context) ([]string, error)

	// Time returns the time of the store's clock. If it fails with [ErrNoTime], each process uses
	// its own clock.
	Time(ctx context.Context) (time.Time, error)

	// Close releases the Store's resources. It does not end leases.
	Close() error
}

type Change struct{ Prev, Next Record }
