// Package sortid holds what the packages of the five formats share. To make or parse IDs, import
// one of these:
//   - [github.com/sortid/sortid/scru128]: 128 bits, unique without coordination
//   - [github.com/sortid/sortid/scru64]: 64 bits, unique through assigned node IDs
//   - [github.com/sortid/sortid/scru160]: 160 bits, 111 of them random
//   - [github.com/sortid/sortid/euid]: 128 bits with a check value and 15 bits of yours
//   - [github.com/sortid/sortid/uid60]: 60 bits in ten characters that look random
//
// Package [github.com/sortid/sortid/format] is for programs that learn the format at run time.
package sortid

import (
	"context"
	"io"
	"time"
)

// DefaultRollbackAllowance is the default of [GeneratorOptions.RollbackAllowance].
const DefaultRollbackAllowance = 10 * time.Second

// A RollbackPolicy says what a generator does when the clock is further behind its last timestamp
// than the allowance.
type RollbackPolicy uint8

const (
	// RollbackDefault is RollbackReset for scru128, scru160 and euid, and RollbackAbort for scru64,
	// uid60 and any generator on a lease.
	RollbackDefault RollbackPolicy = iota

	// RollbackReset starts again at the clock's time, out of order. Only new random bits make the
	// IDs unique, as between any two generators.
	//
	// DANGER: SCRU64 AND UID60 CAN THEN REPEAT EXISTING IDS. The generator uses ticks again, with
	// the same node ID and few random bits or none. Use it with these formats only if no ID of
	// those ticks is left anywhere.
	RollbackReset

	// RollbackAbort returns ErrClockRollback until the clock catches up.
	RollbackAbort

	// RollbackWait blocks until the clock is within the allowance, and an expired lease is renewed,
	// or until the context ends.
	RollbackWait
)

// GeneratorOptions are the options of all formats. Zero values mean the defaults.
type GeneratorOptions struct {
	// Clock is called for each ID, in Fill for each batch, and while a call waits, also from
	// several goroutines at once. If it panics, the generator stays locked. If Clock is nil, the
	// generator reads the system clock, at most 0.1 ms late.
	Clock func() time.Time

	// Entropy is the source of random bits. Except for scru64, it must be cryptographically strong.
	// It is never read from two goroutines at once. The default is ChaCha8, seeded from the
	// operating system in each second of use.
	Entropy io.Reader

	// RollbackAllowance is how far the clock may be behind, in whole ticks of the format, while the
	// generator keeps the last timestamp. Zero means DefaultRollbackAllowance; negative means none.
	RollbackAllowance time.Duration

	RollbackPolicy RollbackPolicy
}

// A Lease grants generators node IDs, and the ticks that IDs with them may carry. *lease.Lease
// implements it. The Options of scru64, scru160 and uid60 take a Lease instead of a node ID.
//
// A generator claims a tick before its first ID in that tick. Until its next claim, all its IDs
// carry this tick, which may be ahead of the clock, and its node ID. Without a tick, the generator
// fails with [ErrLeaseExpired] or [ErrLeaseClosed], or waits with [RollbackWait]. Generators may
// share a lease; n of them run up to n-1 ticks ahead of the clock.
//
// Uniqueness depends on ClaimTick alone. Among all leases that share a set of node IDs, no pair of
// node ID and tick may ever be granted twice. All methods must be safe for concurrent use, and must
// not call the generator.
type Lease interface {
	// NodeBits returns the size of the node IDs in bits. It never changes.
	NodeBits() int

	// TickLength returns the length of a tick, and Epoch the start of tick 0: 256 ms from 1970 for
	// scru64, 1 ms from 1970 for scru160, 1 ms from 2018-03-01 for uid60.
	TickLength() time.Duration
	Epoch() time.Time

	// ClaimTick gives the caller the first free tick at or after the given one, and its node ID. A
	// later call may return another node ID, but never an earlier tick.
	//
	// If there is no such tick, the error matches ErrLeaseExpired if a renewal will bring one, and
	// otherwise ErrLeaseClosed. ClaimTick must not block: the generator is locked.
	ClaimTick(tick int64) (nodeID uint32, claimed int64, err error)

	// WaitTick blocks until ClaimTick(tick) may succeed. The error matches ErrLeaseClosed if it
	// never will. If ctx ends first, the error matches both ErrLeaseExpired and the error of ctx.
	WaitTick(ctx context.Context, tick int64) error
}
