// Package sortid holds the vocabulary that five packages for time-sortable unique IDs
// share: the options and errors of their generators, the error of their parsers, and the
// interface of a lease. To make or parse IDs import the package of the format:
//
//   - [github.com/sortid/sortid/scru128]: 128 bits, unique without any coordination
//   - [github.com/sortid/sortid/scru64]: 64 bits, unique through assigned node IDs
//   - [github.com/sortid/sortid/scru160]: 160 bits, 111 of them random
//   - [github.com/sortid/sortid/euid]: 128 bits with a check value and 15 bits for the user
//   - [github.com/sortid/sortid/uid60]: 60 bits in ten characters that look random
//
// All five have the same functions, types and methods, as far as the formats allow.
// Package [github.com/sortid/sortid/format] puts them behind one table, for programs that
// learn only at run time which format they handle.
package sortid

import (
	"context"
	"io"
	"time"
)

// DefaultRollbackAllowance is the [GeneratorOptions.RollbackAllowance] of a generator
// that is given none.
const DefaultRollbackAllowance = 10 * time.Second

// A RollbackPolicy says what a generator does when the clock is behind the timestamp of
// its last ID by more than the rollback allowance.
type RollbackPolicy uint8

const (
	// RollbackDefault is the format's default: RollbackReset for scru128, scru160 and
	// euid, RollbackAbort for scru64 and uid60 and for any generator on a lease.
	RollbackDefault RollbackPolicy = iota

	// RollbackReset starts afresh at the clock's time, with new random bits. The order of
	// IDs is broken. Uniqueness rests on the random bits of the ID, as it does between any
	// two generators.
	//
	// DANGER: FOR SCRU64 AND UID60 THIS CAN MAKE IDS THAT EXIST ALREADY. The generator
	// goes through ticks that it has been in before, with the same node ID and few random
	// bits or none. Use it for these only if other means make sure that no ID of those
	// ticks is left anywhere.
	RollbackReset

	// RollbackAbort returns ErrClockRollback until the clock has caught up.
	RollbackAbort

	// RollbackWait blocks until the clock is back within the allowance or the context
	// ends. With a lease it also waits for a lease that has expired to be renewed.
	RollbackWait
)

// GeneratorOptions are the options that the generators of all formats have. The zero
// value means the defaults.
type GeneratorOptions struct {
	// Clock is called for each ID, in Fill for each batch, and while a call waits, also
	// from several goroutines at once. It must not panic, which would leave the generator
	// locked. If it is nil the generator reads the system's clock, and its time is at most
	// 0.1 ms old.
	Clock func() time.Time

	// Entropy is the source of random bits. It is read in full or the call fails, and
	// never from two goroutines at once. It must be cryptographically strong, except for
	// scru64, where no ID's uniqueness rests on it. If it is nil the generator uses
	// ChaCha8, seeded from the operating system at least once in each second of use.
	Entropy io.Reader

	// RollbackAllowance is how far the clock may go back, or the timestamp run ahead of
	// it, while the generator goes on with the last timestamp. It counts in whole ticks
	// of the format. Zero means DefaultRollbackAllowance; negative means none.
	RollbackAllowance time.Duration

	// RollbackPolicy says what happens when the clock is behind by more.
	RollbackPolicy RollbackPolicy
}

// A Lease grants generators a node ID together with the ticks of time that IDs with this
// node ID may carry. A *lease.Lease is one; a program may have one of its own. Options of
// scru64, scru160 and uid60 take a Lease in the place of a node ID.
//
// A generator claims a tick before it makes the first ID of that tick. All its IDs from
// then on, until its next claim, have the claimed tick as their timestamp and the node ID
// that came with it. They need no further check, so a lease costs a generator nothing per
// ID and one call of ClaimTick per tick.
//
// Uniqueness rests on ClaimTick alone: among all leases that share a set of node IDs, no
// pair of node ID and tick may be granted twice, ever. All methods must be safe for
// concurrent use, since several generators may share a lease, and they must not call the
// generator.
type Lease interface {
	// NodeBits returns the size of the node IDs in bits. It never changes.
	NodeBits() int

	// TickLength returns the length of a tick, and Epoch the time at which tick 0 begins.
	// Both depend on the format of the IDs: 256 ms from 1970 for scru64, 1 ms from 1970
	// for scru160, 1 ms from 2018-03-01 for uid60.
	TickLength() time.Duration
	Epoch() time.Time

	// ClaimTick gives the caller a tick that is tick or later and that no caller has had
	// before, and the node ID of its IDs. It is later where the lease begins later, or
	// where another generator has had the tick. A later call need not return the same
	// node ID, but never an earlier tick.
	//
	// If there is no such tick, the error matches ErrLeaseExpired if there will be one
	// once the lease is renewed, and ErrLeaseClosed if there will be none. ClaimTick must
	// not block, as the generator is locked meanwhile.
	ClaimTick(tick int64) (nodeID uint32, claimed int64, err error)

	// WaitTick blocks until ClaimTick(tick) may succeed, and then returns nil. It returns
	// an error that matches ErrLeaseClosed if it never will, and one that matches
	// ErrLeaseExpired and that of ctx if ctx ends first.
	WaitTick(ctx context.Context, tick int64) error
}
