// Command snowflake makes Snowflake IDs with github.com/bwmarrin/snowflake on a leased node ID.
// Make the realm once, and then run as many of these programs as the realm has node IDs:
//
//	sortid lease create bolt:leases.db --realm orders --node-bits 10
//	go run . bolt:leases.db
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/bwmarrin/snowflake"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: snowflake URL-OF-STORE-OR-SERVER")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// newGuard makes IDs only in the milliseconds that are granted to the lease's node ID.
func newGuard(l *lease.Lease) *lease.Guard[snowflake.ID] {
	return lease.NewGuard(l, lease.Generator[snowflake.ID]{
		New: func(nodeID uint32) (func() (snowflake.ID, error), error) {
			node, err := snowflake.NewNode(int64(nodeID))
			if err != nil {
				return nil, err
			}
			return func() (snowflake.ID, error) { return node.Generate(), nil }, nil
		},
		Time: func(id snowflake.ID) time.Time { // id.Time must not run beside NewNode
			return time.UnixMilli(int64(id)>>22 + snowflake.Epoch)
		},
		Tick: time.Millisecond,
	})
}

func run(url string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	source, err := store.OpenSource(ctx, url)
	if err != nil {
		return err
	}
	defer source.Close()
	l, err := source.Acquire(ctx, lease.Config{Realm: "orders", NodeBits: 10, MustExist: true})
	if err != nil {
		return err
	}
	defer l.Close(context.Background())
	ids := newGuard(l)
	for range 10 {
		id, err := ids.Next(ctx) // waits if the lease has ended and the store is away
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
	return nil
}
