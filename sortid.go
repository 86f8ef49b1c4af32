// Package sortid defines what the packages of the five formats share. To make or parse IDs, import
// one of these:
//   - [github.com/sortid/sortid/scru128]: 128 bits, unique without coordination
//   - [github.com/sortid/sortid/scru64]: 64 bits, unique through assigned node IDs
//   - [github.com/sortid/sortid/scru160]: 160 bits, 111 of them random
//   - [github.com/sortid/sortid/euid]: 128 bits, with a check value and up to 15 bits of your own
//   - [github.com/sortid/sortid/uid60]: 60 bits in ten characters that look random
//
// These packages use them:
//   - [github.com/sortid/sortid/typed]: IDs with a prefix, and a Go type for each kind of object
//   - [github.com/sortid/sortid/lease]: a node ID for each process, from a shared store
//   - [github.com/sortid/sortid/format]: reads IDs of formats that a program learns only at run time
//   - [github.com/sortid/sortid/generate]: makes IDs of such formats
//   - [github.com/sortid/sortid/verify]: tests a generator by its IDs
package sortid

import (
	"context"
	"io"
	"time"
)

// DefaultRollbackAllowance is the default of [GeneratorOptions.RollbackAllowance].
const DefaultRollbackAllowance = 10 * time.Second

// A RollbackPolicy says what a generator does when the clock is behind the last timestamp by more
// than [GeneratorOptions.RollbackAllowance].
type RollbackPolicy uint8

const (
	// RollbackDefault is RollbackReset for scru128, scru160 and euid, and RollbackAbort for scru64
	// and uid60. With a lease it is RollbackAbort.
	RollbackDefault RollbackPolicy = iota

	// RollbackReset follows the clock, so the next IDs are smaller. Only random bits distinguish
	// them from earlier IDs with the same timestamp.
	//
	// DANGER: SCRU64 AND UID60 CAN THEN REPEAT EXISTING IDS. The generator uses the same timestamps
	// again, with the same node ID and few random bits or none. Before you use RollbackReset with
	// these formats, delete all IDs whose timestamps will repeat.
	RollbackReset

	// RollbackAbort fails with ErrClockRollback while the clock is behind by more than the
	// allowance.
	RollbackAbort

	// RollbackWait blocks while the clock is behind by more than the allowance. It also waits for
	// the renewal of an expired lease. If the call's context ends during a wait, the call fails.
	RollbackWait
)

// GeneratorOptions are the options that all formats share. Zero values mean the defaults.
type GeneratorOptions struct {
	// The generator calls Clock for each ID, for each batch of Fill, and while it waits. Clock must
	// be safe for concurrent use. If Clock panics, later calls block forever. If Clock is nil, the
	// generator uses a time that the system clock showed at most 0.1 ms ago.
	Clock func() time.Time

	// Entropy is the source of random bits. It must be cryptographically strong, except for scru64.
	// The generator never reads it from two goroutines at once. The default is ChaCha8 with a new
	// seed from the operating system in each second of use, combined with package math/rand/v2.
	Entropy io.Reader

	// RollbackAllowance is how far the clock may be behind the last timestamp. Within the
	// allowance, the generator keeps that timestamp. The allowance is rounded down to whole ticks,
	// the units of the timestamp. Zero means DefaultRollbackAllowance; a negative value means no
	// allowance.
	RollbackAllowance time.Duration

	RollbackPolicy RollbackPolicy
}

// A Lease grants node IDs and ticks to generators. Ticks are the timestamps of IDs.
// *lease.Lease implements this interface. In the Options of scru64, scru160 and uid60, a Lease
// replaces the node ID.
//
// A generator claims a tick before its first ID in that tick. Until its next claim, all its IDs
// have the claimed tick and node ID. The tick may be ahead of the clock. If the lease grants no
// tick, the generator fails with [ErrLeaseExpired] or [ErrLeaseClosed]. With [RollbackWait], it
// waits for the renewal of an expired lease. Generators may share a lease. Each tick goes to only
// one of them, so n generators run up to n-1 ticks ahead of the clock.
//
// Uniqueness depends on ClaimTick alone. Leases that share a set of node IDs must never grant the
// same pair of node ID and tick twice. All methods must be safe for concurrent use, and must not
// call the generator.
type Lease interface {
	// NodeBits returns the size of the node IDs in bits. This size must never change.
	NodeBits() int

	// TickLength returns the length of a tick. Epoch returns the start of tick 0. They must be 256
	// ms and 1970 for scru64, 1 ms and 1970 for scru160, and 1 ms and 2018-03-01 for uid60.
	TickLength() time.Duration
	Epoch() time.Time

	// ClaimTick claims the first free tick that is not before the given tick. It returns the
	// claimed tick and its node ID. A later call may return another node ID, but never an earlier
	// tick.
	//
	// If no tick is free until a renewal, the error matches ErrLeaseExpired. If no tick will ever
	// be free, the error matches ErrLeaseClosed. ClaimTick must not block, because the generator is
	// locked.
	ClaimTick(tick int64) (nodeID uint32, claimed int64, err error)

	// WaitTick blocks until ClaimTick(tick) can succeed. If ClaimTick will never succeed, the error
	// matches ErrLeaseClosed. If ctx ends first, the error matches both ErrLeaseExpired and the
	// error of ctx.
	WaitTick(ctx context.Context, tick int64) error
}
