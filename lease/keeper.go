package lease

import (
	"context"
	"time"
)

// A keeper acquires, extends and releases one lease: a [session] with a store, a [holder] with a
// lessor. It is not safe for concurrent use.
type keeper interface {
	// keep extends the lease to a whole window or, if no node ID is held, acquires one. The
	// parameter used is the last tick that generators have claimed. After an error, call keep
	// again.
	keep(ctx context.Context, used int64) error
	// release gives the node ID back after the last used tick. After an error, call release again.
	release(ctx context.Context, used int64) error
	state() keeperState
	// receipt returns what is needed to give the held node ID back.
	receipt() receipt
	// unsure reports whether a node ID may have been granted in a request without an answer.
	unsure() bool
	// connections returns the store or the lessor.
	connections() any
}

type keeperState struct {
	held      bool
	block     Block
	from, end int64 // the granted ticks: from, up to but not including end
	sole      span
	// The node ID was lost, and none of its ticks may be used. Only if held is false.
	withdrawn bool
	window    int64 // how many ticks ahead a renewal extends the lease
}

// A span is when this process is the only user of the node ID, by its own clock, whatever the clocks
// of other processes show. It needs a store whose clock is right.
type span struct{ from, until time.Time }

// renewed returns the span of a newer grant. If from is zero, the grant only ends later.
func (s span) renewed(from, until time.Time) span {
	if !from.IsZero() {
		s.from = from
	}
	s.until = until
	return s
}

// keep enters the realm first, because only then a missing realm may be created.
func (s *session) keep(ctx context.Context, used int64) error {
	if s.root.Revision == 0 {
		if err := s.enter(ctx, !s.config.MustExist); err != nil {
			return err
		}
	}
	return s.renew(ctx, used)
}

func (s *session) state() keeperState {
	return keeperState{held: s.held.Revision != 0, block: s.held.Block, from: s.held.From,
		end: s.held.HWM, sole: s.sole, withdrawn: s.withdrawn, window: s.window}
}

func (s *session) unsure() bool { return s.pending != nil }

func (s *session) connections() any { return s.store }
