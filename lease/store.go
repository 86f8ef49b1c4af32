package lease

import (
	"context"
	"time"
)

// A Store keeps the records of realms, for all processes that lease from them. It must
// be safe for concurrent use, by many goroutines and by many processes. Package
// storetest tests that an implementation does what is said here.
//
// The safety of leases rests on three promises. A store that keeps them under some
// conditions only must check or state these at its start.
//
//   - CompareAndSet is atomic: of two calls with the same prev at most one stores.
//   - What it has said that it stored is never forgotten: not in a crash, not in a
//     failover. (A store that was restored from an old copy needs [Fence].)
//   - Get answers with the latest state: never with one older than what any
//     CompareAndSet or Get that had ended before its start has stored or returned. So
//     no reading from replicas that may be behind.
//
// An error says nothing about what has happened: after one the record may have been
// stored, or be stored later. All methods should return when ctx ends.
type Store interface {
	// Get returns a record; realm and b, of any values, are its key. One that does not
	// exist is no error: it is a Record with its Realm and Block, and all else zero.
	Get(ctx context.Context, realm string, b Block) (Record, error)

	// CompareAndSet stores next, whose realm and block are those of prev, if the record
	// stored now has both the Epoch and the HWM of prev, or if prev.Epoch is 0 and there
	// is none. It reports whether it did; false promises that this call has not changed
	// and will not change anything. All fields of next are kept, so that Get returns the
	// very same Record.
	CompareAndSet(ctx context.Context, prev, next Record) (bool, error)

	// List returns all records with this realm, exactly, in any order. It need not be a
	// picture of one moment, and may even be old: only the choice of a block is based
	// on it.
	List(ctx context.Context, realm string) ([]Record, error)

	// Time returns the time of the store's clock, or [ErrNoTime] if it has none; then
	// each process goes by its own clock.
	Time(ctx context.Context) (time.Time, error)

	// Close lets go of what this Store has open. It does not end leases.
	Close() error
}
