package lease_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sortid/sortid/lease"
)

func ExampleAcquire() {
	ctx := context.Background()
	store := lease.NewMemory()
	l, err := lease.Acquire(ctx, store, lease.Config{
		Realm: "orders", Format: lease.SCRU64(), NodeBits: 8, Name: "host-1",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close(ctx)
	fmt.Println("node IDs of", l.NodeBits(), "bits; below 256:", l.NodeID() < 256)
	fmt.Println("good for", time.Until(l.Until()).Round(time.Minute), "and renewed")
	// Output:
	// node IDs of 8 bits; below 256: true
	// good for 1m0s and renewed
}

// A ticket is an ID of a generator that knows nothing of leases.
type ticket struct {
	ms     int64
	nodeID uint32
	seq    int
}

func newTickets(nodeID uint32) (func() (ticket, error), error) {
	var last ticket
	return func() (ticket, error) {
		next := ticket{ms: time.Now().UnixMilli(), nodeID: nodeID}
		if next.ms == last.ms {
			next.seq = last.seq + 1
		}
		last = next
		return next, nil
	}, nil
}

func ExampleNewGuard() {
	ctx := context.Background()
	store := lease.NewMemory()
	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "workers", NodeBits: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close(ctx)
	guard := lease.NewGuard(l, lease.Generator[ticket]{
		New:  newTickets,
		Time: func(id ticket) time.Time { return time.UnixMilli(id.ms) },
		Tick: time.Millisecond,
	})
	id, err := guard.Next(ctx)
	fmt.Println(id.nodeID == l.NodeID(), err)
	// Output: true <nil>
}

func ExampleLease_Context() {
	ctx := context.Background()
	store := lease.NewMemory()
	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "workers", NodeBits: 10,
		Window: 165 * time.Second, Renew: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close(ctx)
	// 10 s for a generator that runs ahead of the clock, 5 s to stop.
	working, stop := l.Context(ctx, 15*time.Second)
	defer stop()
	time.Sleep(time.Until(l.From()))
	for n := 0; working.Err() == nil; n++ {
		if n == 3 {
			fmt.Println("the work is done")
			return
		}
	}
	fmt.Println("stopped, because", context.Cause(working))
	// Output: the work is done
}

func ExampleRecords() {
	ctx := context.Background()
	store := lease.NewMemory()
	for _, size := range []int{1, 2} {
		l, err := lease.Acquire(ctx, store, lease.Config{
			Realm: "orders", Format: lease.SCRU64(), NodeBits: size, Name: fmt.Sprint("host-", size),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer l.Close(ctx)
	}
	realm, blocks, err := lease.Records(ctx, store, "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("windows of", realm.Terms.Rounded(realm.Terms.Window))
	for _, r := range blocks {
		if r.Name != "" {
			// r.Block is the node ID. The lease ends at realm.Terms.Time(r.HWM).
			fmt.Println(r.Name, r.State)
		}
	}
	// Unordered output:
	// windows of 1m0s
	// host-1 whole
	// host-2 whole
}
