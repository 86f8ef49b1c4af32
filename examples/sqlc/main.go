// Command sqlc stores events under SCRU128 keys in PostgreSQL, with code that sqlc generates from
// schema.sql and queries.sql:
//
//	go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
//	sortid sql postgres | psql "$DATABASE_URL"
//	DATABASE_URL=postgres://... go run .
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sortid/sortid/examples/sqlc/db"
	"github.com/sortid/sortid/pgxid"
	"github.com/sortid/sortid/scru128"
)

//go:embed schema.sql
var schema string

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string) error {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		pgxid.Register(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, schema); err != nil {
		return err
	}
	queries := db.New(pool)

	old := db.InsertEventParams{ID: scru128.First(time.Now().Add(-48 * time.Hour)), What: "moved"}
	if err := queries.InsertEvent(ctx, old); err != nil {
		return err
	}
	events := make([]db.CopyEventsParams, 249)
	for i := range events {
		events[i] = db.CopyEventsParams{ID: scru128.New(), What: fmt.Sprint("event ", i)}
	}
	if _, err := queries.CopyEvents(ctx, events); err != nil {
		return err
	}
	newest, err := queries.AddEvent(ctx, "event 249")
	if err != nil {
		return err
	}

	now := time.Now()
	recent, err := queries.EventsBetween(ctx, db.EventsBetweenParams{
		First: scru128.First(now.Add(-time.Hour)),
		End:   scru128.First(now.Add(time.Second)),
	})
	if err != nil {
		return err
	}
	fmt.Printf("the database made an ID: %t\n", recent[len(recent)-1].ID == newest)
	fmt.Printf("%d events of the last hour\n", len(recent))

	// Each page begins after the last ID of the page before. With OFFSET, later pages would take
	// longer.
	var last scru128.ID
	for number := 1; ; number++ {
		events, err := queries.EventsAfter(ctx, db.EventsAfterParams{After: last, Limit: 100})
		if err != nil || len(events) == 0 {
			return err
		}
		fmt.Printf("page %d: %d events, first %s\n", number, len(events), events[0].What)
		last = events[len(events)-1].ID
	}
}
