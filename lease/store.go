package lease

import (
	"context"
	"time"
)

// A Store keeps the records of realms. It must be safe for concurrent use by many goroutines and
// processes. Package storetest tests an implementation.
//
// Leases are safe only if the store keeps three promises. If it keeps them only under conditions,
// it must check or state the conditions when it is opened.
//
//   - CompareAndSet is atomic: of two calls with the same prev, at most one stores its record.
//   - A confirmed change is never lost, neither in a crash nor in a failover. (After an old copy
//     was restored, call [Fence].)
//   - Get returns the latest record. It is not older than what any CompareAndSet stored, or any Get
//     returned, before this Get began. So a store must not read from replicas that may lag.
//
// After an error, a change may have been made, or may still be made later. All methods should
// return when ctx ends.
//
// If a Store has the method CloseIdleConnections(), a lease calls it when the next request is
// probably a second or more away.
type Store interface {
	// Get returns a record. A missing record is no error, but has only Realm and Block set. The
	// parameters realm and b may have any values.
	Get(ctx context.Context, realm string, b Block) (Record, error)

	// GetMany returns the records of blocks, read in their order or all at one moment. Each is the
	// latest, as with Get. GetMany may return a change that a crash of the store undoes. Then the
	// crash must also undo every later CompareAndSet.
	GetMany(ctx context.Context, realm string, blocks []Block) ([]Record, error)

	// CompareAndSet stores next if the stored record has the Revision and the HWM of prev. If
	// prev.Revision is 0, there must be no record. The realm and block of next must be prev's. It
	// reports whether it stored next; false promises that this call never changes anything. Get
	// returns a stored Record exactly as it was in next.
	CompareAndSet(ctx context.Context, prev, next Record) (bool, error)

	// CompareAndSetMany changes several records of one realm, in their order, as CompareAndSet
	// would. It stops at the first refused change, and reports whether it made all. It should make
	// all changes or none, but may make the ones before the refused one. An error that matches
	// [ErrIllegal] promises that nothing was changed: a store behind a server makes only changes
	// that [Known.Check] allows.
	CompareAndSetMany(ctx context.Context, changes []Change) (bool, error)

	// List returns all records with exactly this realm, in any order. They may be from different
	// moments, and outdated: they only help to choose a block.
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
