// Command bun stores events under SCRU128 keys in PostgreSQL, with Bun.
//
//	sortid sql postgres | psql "$DATABASE_URL"
//	DATABASE_URL=postgres://... go run .
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/sortid/sortid/scru128"
)

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

// An Event has a scru128.UUID for a column of type uuid. If it is zero, the database makes the ID.
type Event struct {
	ID   scru128.UUID `bun:"type:uuid,pk,nullzero,default:sortid.scru128_new()"`
	What string       `bun:",notnull"`
}

func run(ctx context.Context, url string) error {
	pool, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer pool.Close()
	db := bun.NewDB(pool, pgdialect.New())

	if _, err := db.NewCreateTable().Model((*Event)(nil)).IfNotExists().Exec(ctx); err != nil {
		return err
	}
	old := Event{ID: scru128.UUID(scru128.First(time.Now().Add(-48 * time.Hour))), What: "moved"}
	if _, err := db.NewInsert().Model(&old).Exec(ctx); err != nil {
		return err
	}
	events := make([]Event, 249)
	for i := range events {
		events[i] = Event{ID: scru128.UUID(scru128.New()), What: fmt.Sprint("event ", i)}
	}
	if _, err := db.NewInsert().Model(&events).Exec(ctx); err != nil {
		return err
	}
	newest := Event{What: "event 249"}
	if _, err := db.NewInsert().Model(&newest).Exec(ctx); err != nil { // also reads the ID
		return err
	}

	now := time.Now()
	recent, err := between(ctx, db, now.Add(-time.Hour), now.Add(time.Second))
	if err != nil {
		return err
	}
	fmt.Printf("the database made an ID: %t\n", recent[len(recent)-1].ID == newest.ID)
	fmt.Printf("%d events of the last hour\n", len(recent))

	var last scru128.UUID
	for number := 1; ; number++ {
		events, err := page(ctx, db, last, 100)
		if err != nil || len(events) == 0 {
			return err
		}
		fmt.Printf("page %d: %d events, first %s\n", number, len(events), events[0].What)
		last = events[len(events)-1].ID
	}
}

func between(ctx context.Context, db *bun.DB, from, to time.Time) (events []Event, err error) {
	err = db.NewSelect().Model(&events).
		Where("id >= ? AND id < ?", scru128.UUID(scru128.First(from)),
			scru128.UUID(scru128.First(to))).
		Order("id").Scan(ctx)
	return events, err
}

// page returns the next events after an ID. With OFFSET, later pages would take longer.
func page(ctx context.Context, db *bun.DB, after scru128.UUID,
	limit int64) (events []Event, err error) {
	err = db.NewSelect().Model(&events).Where("id > ?", after).Order("id").Limit(limit).Scan(ctx)
	return events, err
}
