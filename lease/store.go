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
//
// A Store may also have a method CloseIdleConnections(). It is called when a lease has been
// acquired or renewed, and will probably ask for nothing for a second or more.
type Store interface {
	// Get returns a record; realm and b, of any values, are its key. One that does not
	// exist is no error: it is a Record with its Realm and Block, and all else zero.
	Get(ctx context.Context, realm string, b Block) (Record, error)

	// GetMany returns the records of blocks, in their order. It reads them one after the
	// other, or all of one moment: so none is older than one that comes before it. Each is
	// the latest, as with Get; but a crash of the store may undo what it returns, if that
	// also undoes every CompareAndSet that is carried out later.
	GetMany(ctx context.Context, realm string, blocks []Block) ([]Record, error)

	// CompareAndSet stores next, whose realm and block are those of prev, if the record
	// stored now has both the Revision and the HWM of prev, or if prev.Revision is 0 and there
	// is none. It reports whether it did; false promises that this call has not changed
	// and will not change anything. All fields of next are kept, so that Get returns the
	// very same Record.
	CompareAndSet(ctx context.Context, prev, next Record) (bool, error)

	// CompareAndSetMany makes changes of several records of one realm, in their order, each
	// as CompareAndSet would, up to the first that is refused. It reports whether all were
	// made. A store that can makes all or none; another may have made those before the one
	// that was refused. An error that matches [ErrIllegal] promises like false that nothing
	// was changed: a store behind a server makes only changes that [Known.Check] allows.
	CompareAndSetMany(ctx context.Context, changes []Change) (bool, error)

	// List returns all records with this realm, exactly, in any order. It need not be a
	// picture of one moment, and may even be old: only the choice of a block is based
	// on it.
	List(ctx context.Context, realm string) ([]Record, error)

	// Realms returns the names of all realms: of those that have a record of the zero
	// Block, in any order.
	Realms(ctx context.Context) ([]string, error)

	// Time returns the time of the store's clock, or [ErrNoTime] if it has none; then
	// each process goes by its own clock.
	Time(ctx context.Context) (time.Time, error)

	// Close lets go of what this Store has open. It does not end leases.
	Close() error
}

// A Change replaces one record by another with the same Realm and Block.
type Change struct{ Prev, Next Record }
