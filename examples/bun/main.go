// Command bun stores events under SCRU128 keys in PostgreSQL, with Bun.
//
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

// An Event has a scru128.UUID for a column of type uuid.
type Event struct {
	ID   scru128.UUID `bun:"type:uuid,pk"`
	What string       `bun:",notnull"`
}

var _ bun.BeforeAppendModelHook = (*Event)(nil)

func (e *Event) BeforeAppendModel(_ context.Context, query bun.Query) error {
	if _, ok := query.(*bun.InsertQuery); ok && scru128.ID(e.ID).IsZero() {
		e.ID = scru128.UUID(scru128.New())
	}
	return nil
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
	events := make([]Event, 250)
	for i := range events {
		events[i].What = fmt.Sprint("event ", i)
	}
	if _, err := db.NewInsert().Model(&events).Exec(ctx); err != nil {
		return err
	}

	now := time.Now()
	recent, err := between(ctx, db, now.Add(-time.Hour), now.Add(time.Second))
	if err != nil {
		return err
	}
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
