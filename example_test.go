package sortid_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/scru64"
)

// A shiftLease grants one node ID of 8 bits during one shift, a period of time. Shifts must not
// overlap.
type shiftLease struct {
	nodeID uint32

	mu       sync.Mutex
	next, to int64 // the first free tick, and the first tick after the shift
}

func (l *shiftLease) NodeBits() int             { return 8 }
func (l *shiftLease) TickLength() time.Duration { return scru64.Tick }
func (l *shiftLease) Epoch() time.Time          { return time.UnixMilli(0) }

func (l *shiftLease) ClaimTick(tick int64) (nodeID uint32, claimed int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	claimed = max(tick, l.next)
	if claimed >= l.to {
		return 0, 0, fmt.Errorf("the shift is over: %w", sortid.ErrLeaseClosed)
	}
	l.next = claimed + 1 // no other claim gets this tick
	return l.nodeID, claimed, nil
}

// WaitTick returns at once, because nobody renews a shift.
func (l *shiftLease) WaitTick(ctx context.Context,
	tick int64) error {
	return sortid.ErrLeaseClosed
}

// A program can implement a lease itself. This one grants node ID 42 for one hour.
func ExampleLease() {
	now := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	tick := func(t time.Time) int64 { return t.UnixMilli() / scru64.Tick.Milliseconds() }
	o := scru64.Options{Lease: &shiftLease{nodeID: 42, next: tick(now),
		to: tick(now.Add(time.Hour))}}
	o.Clock = func() time.Time { return now }
	g, err := scru64.NewGenerator(o)
	if err != nil {
		panic(err)
	}
	id, err := g.Generate()
	fmt.Println(id.Time(), id.NodeID(8), err)

	now = now.Add(time.Hour)
	_, err = g.Generate()
	fmt.Println(err, errors.Is(err, sortid.ErrLeaseClosed))
	// Output:
	// 2024-02-29 12:00:00 +0000 UTC 42 <nil>
	// the shift is over: lease: closed true
}
