package nodefield_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
)

// This program makes a realm for generators of Sonyflake IDs, and leases one of its node IDs.
func Example() {
	f, err := nodefield.Lookup("sonyflake")
	if err != nil {
		log.Fatal(err)
	}
	config, err := nodefield.Config(f, 0)
	if err != nil {
		log.Fatal(err)
	}
	ctx, store := context.Background(), lease.NewMemory() // a program shares a store of package store
	config.Realm = "orders"
	if _, err := lease.Create(ctx, store, config); err != nil {
		log.Fatal(err)
	}
	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders",
		Format: nodefield.LeaseFormat(f), NodeBits: nodefield.Bits(f)})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close(ctx)
	fmt.Println(f.Name(), l.NodeBits(), l.TickLength())
	// Output: sonyflake 16 10ms
}
