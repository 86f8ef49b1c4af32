// Package sortid holds what the five formats share. To make or parse IDs, import one of these:
//   - [github.com/sortid/sortid/scru128]: 128 bits, unique without coordination
//   - [github.com/sortid/sortid/scru64]: 64 bits, unique through assigned node IDs
//   - [github.com/sortid/sortid/scru160]: 160 bits, 111 of them random
//   - [github.com/sortid/sortid/euid]: 128 bits, with a check value and up to 15 bits of your own
//   - [github.com/sortid/sortid/uid60]: 60 bits in ten characters that look random
//
// If the format is known only at run time, use [github.com/sortid/sortid/format].
package sortid

import (
	"context"
	"io"
	"time"
)

// DefaultRollbackAllowance is the default of [GeneratorOptions.RollbackAllowance].
const DefaultRollbackAllowance = 10 * time.Second

// A RollbackPolicy says what happens when the clock is behind by more than the allowance.
type RollbackPolicy uint8

const (
	// RollbackDefault is RollbackReset for scru128, scru160 and euid, and RollbackAbort for scru64,
	// uid60 and leases.
	RollbackDefault RollbackPolicy = iota

	// RollbackReset continues at the clock's time, out of order. Only new random bits keep the IDs
	// unique.
	//
	// DANGER: SCRU64 AND UID60 CAN THEN REPEAT EXISTING IDS. The generator uses the same ticks and
	// node ID again, with few random bits or none. Use it there only if no ID of those ticks still
	// exists.
	RollbackReset

	// RollbackAbort returns ErrClockRollback until the clock catches up.
	RollbackAbort

	// RollbackWait blocks until the clock is within the allowance. It also waits for the renewal of
	// an expired lease. A context can end the wait.
	RollbackWait
)

// GeneratorOptions are for all formats. Zero values mean the defaults.
type GeneratorOptions struct {
	// The generator calls Clock for each ID or batch of Fill, and while it waits. Several
	// goroutines may call Clock at once. If Clock panics, the generator stays locked. The default
	// is the system clock; a reading is at most 0.1 ms old.
	Clock func() time.Time

	// Entropy is the source of random bits. Except for scru64, it must be cryptographically strong.
	// It is never read from two goroutines at once. The default is ChaCha8, seeded by the operating
	// system each second.
	Entropy io.Reader

	// RollbackAllowance is how far the clock may be behind the last timestamp. Within it, the
	// generator keeps that timestamp. The allowance is rounded down to whole ticks. Zero means
	// DefaultRollbackAllowance, a negative value none.
	RollbackAllowance time.Duration

	RollbackPolicy RollbackPolicy
}

// A Lease grants node IDs and ticks to generators of scru64, scru160 and uid60. *lease.Lease
// implements it.
//
// A generator claims a tick before its first ID in that tick. Until its next claim, its IDs carry
// this tick, which may be ahead of the clock, and its node ID. Without a tick it fails with
// [ErrLeaseExpired] or [ErrLeaseClosed]; with [RollbackWait] it waits while the lease is expired.
// If n generators share a lease, they run up to n-1 ticks ahead of the clock.
//
// Uniqueness depends on ClaimTick alone. Leases that share node IDs must never grant the same node
// ID and tick twice. Methods must be safe for concurrent use, and must not call the generator.
type Lease interface {
	// NodeBits returns the constant size of node IDs in bits.
	NodeBits() int

	// Epoch is the start of tick 0. TickLength and Epoch must be 256 ms and 1970 for scru64, 1 ms
	// and 1970 for scru160, and 1 ms and 2018-03-01 for uid60.
	TickLength() time.Duration
	Epoch() time.Time

	// ClaimTick claims the first free tick that is not before tick, and returns it with its node
	// ID. Later calls may return other node IDs, but never earlier ticks.
	//
	// The error matches ErrLeaseExpired if no tick is free until a renewal, and ErrLeaseClosed if
	// none will ever be. ClaimTick must not block, because the generator is locked.
	ClaimTick(tick int64) (nodeID uint32, claimed int64, err error)

	// WaitTick blocks until ClaimTick(tick) may succeed. If it never will, the error matches
	// ErrLeaseClosed. If ctx ends first, it matches ErrLeaseExpired and the error of ctx.
	WaitTick(ctx context.Context, tick int64) error
}
