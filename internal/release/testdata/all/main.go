package main

import (
	"context"
	"fmt"
	"log"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

func main() {
	ctx := context.Background()
	s, err := store.Open(ctx, "bolt:leases.db")
	if err != nil {
		log.Fatal(err)
	}
	l, err := lease.Acquire(ctx, s, lease.Config{Realm: "orders", Format: lease.SCRU64,
		NodeBits: 8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.NodeID())
	if err := l.Close(ctx); err != nil {
		log.Fatal(err)
	}
}
