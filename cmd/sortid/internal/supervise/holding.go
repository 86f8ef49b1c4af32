package supervise

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/lease"
)

// A holding is all leases of one program.
type holding struct {
	leases []*lease.Lease // in the order of the node IDs
	nodes  Nodes
}

// acquire leases count node IDs, or none.
func acquire(ctx context.Context, count int, one func(context.Context) (*lease.Lease, error)) (
	*holding, error) {
	h := &holding{}
	for range count {
		l, err := one(ctx)
		if err != nil {
			if n := len(h.leases); n > 0 {
				err = &partError{n, count, err}
			}
			// These leases were never used, so others can have the node IDs at once.
			return nil, errors.Join(err, h.close())
		}
		h.leases = append(h.leases, l)
	}
	slices.SortFunc(h.leases, func(a, b *lease.Lease) int {
		return cmp.Compare(a.NodeID(), b.NodeID())
	})
	for _, l := range h.leases {
		h.nodes.IDs = append(h.nodes.IDs, l.NodeID())
	}
	return h, nil
}

// A partError says that only some of the node IDs could be leased.
type partError struct {
	n, count int
	err      error
}

func (e *partError) Error() string {
	if errors.Is(e.err, lease.ErrFull) { // which names the leases of this program, too
		return fmt.Sprintf("%d of %d node IDs are free; "+
			"\"sortid lease list\" shows who has the others", e.n, e.count)
	}
	return fmt.Sprintf("%d of %d node IDs could be leased: %v", e.n, e.count, e.err)
}

func (e *partError) Unwrap() error { return e.err }

// start returns when the program may begin: after the start of a tick that all leases grant, and
// when no other program uses the node IDs.
func (h *holding) start() (start time.Time, err error) {
	for _, l := range h.leases {
		_, tick, err := l.ClaimTick(tickOf(l, time.Now()))
		if err != nil {
			return start, err
		}
		sole, _ := l.SoleUse()
		for _, at := range []time.Time{timeOf(l, tick), sole} {
			if at.After(start) {
				start = at
			}
		}
	}
	return start, nil
}

func tickOf(l *lease.Lease, at time.Time) int64 {
	return at.Sub(l.Epoch()).Milliseconds() / l.TickLength().Milliseconds()
}

func timeOf(l *lease.Lease, tick int64) time.Time {
	return l.Epoch().Add(time.Duration(tick) * l.TickLength())
}

// until returns the end of the lease that ends first.
func (h *holding) until() time.Time {
	var first time.Time
	for _, l := range h.leases {
		if _, until := l.SoleUse(); first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

// err returns why a lease was not renewed, or nil.
func (h *holding) err() error {
	for _, l := range h.leases {
		if err := l.Err(); err != nil {
			return err
		}
	}
	return nil
}

// lost returns why a lease is lost, or nil.
func (h *holding) lost() error {
	for i, l := range h.leases {
		if err := l.Err(); errors.Is(err, lease.ErrLost) {
			return err
		}
		if l.NodeID() != h.nodes.IDs[i] {
			return fmt.Errorf("the lease of node ID %s was lost", h.nodes.one(i))
		}
	}
	return nil
}

// receipts returns what is needed to give the node IDs back after this process was killed.
func (h *holding) receipts() (all []json.RawMessage) {
	for _, l := range h.leases {
		if r := l.Receipt(); r != nil {
			all = append(all, r)
		}
	}
	return all
}

// release gives the node IDs back. No ID has a time after last; if last is zero, IDs can have all
// times up to the ends of the leases.
func (h *holding) release(last time.Time) error {
	for _, l := range h.leases {
		tick := tickOf(l, l.Until()) - 1
		if !last.IsZero() {
			tick = min(tick, tickOf(l, last))
		}
		l.ClaimTick(tick) // fails if the tick is over or lost, which is fine
	}
	return h.close()
}

func (h *holding) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), nodeid.ReleasePatience)
	defer cancel()
	var wg sync.WaitGroup
	errs := make([]error, len(h.leases))
	for i, l := range h.leases {
		wg.Go(func() { errs[i] = l.Close(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
