//go:build generated

// Command ent stores events under SCRU128 keys in PostgreSQL, with code that ent generates from
// ent/schema:
//
//	go run entgo.io/ent/cmd/ent@v0.14.5 generate ./ent/schema
//	DATABASE_URL=postgres://... go run -tags generated .
//
// If the generated code is in your repository, you need no tag.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/sortid/sortid/examples/ent/ent"
	"github.com/sortid/sortid/examples/ent/ent/event"
	"github.com/sortid/sortid/scru128"
)

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string) error {
	pool, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	client := ent.NewClient(ent.Driver(entsql.OpenDB(dialect.Postgres, pool)))
	defer client.Close()

	if err := client.Schema.Create(ctx); err != nil {
		return err
	}
	old := scru128.UUID(scru128.First(time.Now().Add(-48 * time.Hour)))
	if err := client.Event.Create().SetID(old).SetWhat("moved").Exec(ctx); err != nil {
		return err
	}
	err = client.Event.MapCreateBulk(make([]struct{}, 250), func(e *ent.EventCreate, i int) {
		e.SetWhat(fmt.Sprint("event ", i)) // the schema's DefaultFunc makes the ID
	}).Exec(ctx)
	if err != nil {
		return err
	}

	now := time.Now()
	recent, err := between(ctx, client, now.Add(-time.Hour), now.Add(time.Second))
	if err != nil {
		return err
	}
	fmt.Printf("%d events of the last hour\n", len(recent))

	var last scru128.UUID
	for number := 1; ; number++ {
		events, err := page(ctx, client, last, 100)
		if err != nil || len(events) == 0 {
			return err
		}
		fmt.Printf("page %d: %d events, first %s\n", number, len(events), events[0].What)
		last = events[len(events)-1].ID
	}
}

func between(ctx context.Context, client *ent.Client, from, to time.Time) ([]*ent.Event, error) {
	return client.Event.Query().
		Where(event.IDGTE(scru128.UUID(scru128.First(from))),
			event.IDLT(scru128.UUID(scru128.First(to)))).
		Order(event.ByID()).All(ctx)
}

// page returns the next events after an ID. With OFFSET, later pages would take longer.
func page(ctx context.Context, client *ent.Client, after scru128.UUID,
	limit int) ([]*ent.Event, error) {
	return client.Event.Query().Where(event.IDGT(after)).Order(event.ByID()).Limit(limit).All(ctx)
}
