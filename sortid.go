// Package sortid holds what the five packages for time-sortable unique IDs share: the generators'
// options and errors, the parse error, and the Lease interface. To make or parse IDs, import a
// format's package:
//   - [github.com/sortid/sortid/scru128]: 128 bits, unique without any coordination
//   - [github.com/sortid/sortid/scru64]: 64 bits, unique through assigned node IDs
//   - [github.com/sortid/sortid/scru160]: 160 bits, 111 of them random
//   - [github.com/sortid/sortid/euid]: 128 bits with a check value and 15 bits for the user
//   - [github.com/sortid/sortid/uid60]: 60 bits in ten characters that look random
//
// All five have the same functions, types and methods, as far as the formats allow. Package
// [github.com/sortid/sortid/format] is for programs that learn the format only at run time.
package sortid

import (
	"context"
	"io"
	"time"
)

// DefaultRollbackAllowance is used if [GeneratorOptions.RollbackAllowance] is 0.
const DefaultRollbackAllowance = 10 * time.Second

// A RollbackPolicy says what a generator does when the clock is behind the timestamp of
// its last ID by more than the rollback allowance.
type RollbackPolicy uint8

const (
	// RollbackDefault is the format's default: RollbackReset for scru128, scru160 and
	// euid, RollbackAbort for scru64 and uid60 and for any generator on a lease.
	RollbackDefault RollbackPolicy = iota

	// RollbackReset starts again at the clock's time, with new random bits. IDs are then out of
	// order. They are unique only through their random bits, as between any two generators.
	//
	// DANGER: SCRU64 AND UID60 CAN THEN REPEAT EXISTING IDS. The generator passes through ticks
	// that it has used before, with the same node ID and few random bits or none. Use it with
	// these formats only if you know by other means that no ID of those ticks is left anywhere.
	RollbackReset

	// RollbackAbort returns ErrClockRollback until the clock has caught up.
	RollbackAbort

	// RollbackWait blocks until the clock is back within the allowance or the context ends. With a
	// lease, it also waits for an expired lease to be renewed.
	RollbackWait
)

// GeneratorOptions are the options common to all formats. The zero value means the defaults.
type GeneratorOptions struct {
	// Clock is called for each ID, in Fill for each batch, and while a call waits. It may be
	// called from several goroutines at once. It must not panic: the generator would stay locked.
	// If Clock is nil, the generator reads the system clock, at most 0.1 ms late.
	Clock func() time.Time

	// Entropy is the source of random bits. The generator reads it in full or the call fails, and
	// never reads it from two goroutines at once. It must be cryptographically strong, except for
	// scru64, where uniqueness does not depend on it. If Entropy is nil, the generator uses
	// ChaCha8, seeded from the operating system at least once in each second of use.
	Entropy io.Reader

	// RollbackAllowance is how far the clock may fall behind the last timestamp while the
	// generator keeps using that timestamp. It counts in whole ticks of the format. Zero means
	// DefaultRollbackAllowance; negative means none.
	RollbackAllowance time.Duration

	// RollbackPolicy says what happens when the clock is further behind.
	RollbackPolicy RollbackPolicy
}

// A Lease grants generators a node ID and the ticks that IDs with this node ID may carry.
// *lease.Lease implements it; a program may have its own. The Options of scru64, scru160 and uid60
// take a Lease instead of a node ID.
//
// A generator claims a tick before it makes the first ID in that tick. Until its next claim, all
// its IDs carry the claimed tick and the node ID that came with it. So a lease costs one call of
// ClaimTick per tick, and nothing per ID.
//
// The node ID may change from one tick to the next. The timestamp may be ahead of the clock, which
// counts as a rollback of that size. When the lease has expired, a generator fails with
// [ErrLeaseExpired], or blocks with [RollbackWait], until the lease is renewed. After the lease is
// closed, it fails with [ErrLeaseClosed] once the current tick has passed. Generators may share a
// lease. Each tick goes to one of them, so n generators run up to n-1 ticks ahead of the clock.
//
// Uniqueness depends on ClaimTick alone. Among all leases that share a set of node IDs, no pair of
// node ID and tick may ever be granted twice. All methods must be safe for concurrent use, and
// they must not call the generator.
type Lease interface {
	// NodeBits returns the size of the node IDs in bits. It never changes.
	NodeBits() int

	// TickLength returns the length of a tick, and Epoch the time at which tick 0 begins. Both
	// depend on the ID format: 256 ms from 1970 for scru64, 1 ms from 1970 for scru160, 1 ms from
	// 2018-03-01 for uid60.
	TickLength() time.Duration
	Epoch() time.Time

	// ClaimTick gives the caller a tick that no caller has had before, and the node ID for it. It
	// is the requested tick, or a later one if the lease begins later or another generator has
	// claimed it. A later call may return another node ID, but never an earlier tick.
	//
	// If there is no such tick, the error matches ErrLeaseExpired if a renewal will bring one, and
	// ErrLeaseClosed if there will be none. ClaimTick must not block: the generator is locked
	// meanwhile.
	ClaimTick(tick int64) (nodeID uint32, claimed int64, err error)

	// WaitTick blocks until ClaimTick(tick) may succeed, and then returns nil. It returns an error
	// that matches ErrLeaseClosed if ClaimTick never will. If ctx ends first, the error matches
	// both ErrLeaseExpired and the error of ctx.
	WaitTick(ctx context.Context, tick int64) error
}
