package postgres_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/store/postgres"
)

func Example() {
	ctx := context.Background()
	store, err := postgres.Open(ctx, "postgres://localhost/ids")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU64(),
		NodeBits: 8})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close(context.Background())
	g, err := scru64.NewGenerator(scru64.Options{Lease: l})
	if err != nil {
		log.Fatal(err)
	}
	id, err := g.Generate()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}
