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
		Realm: "orders", Format: lease.SCRU64, NodeBits: 8, Name: "host-1",
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

func ExampleRecords() {
	ctx := context.Background()
	store := lease.NewMemory()
	for _, size := range []int{1, 2} {
		l, err := lease.Acquire(ctx, store, lease.Config{
			Realm: "orders", Format: lease.SCRU64, NodeBits: size, Name: fmt.Sprint("host-", size),
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
