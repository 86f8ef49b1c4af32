// Command sql stores events under SCRU128 keys in SQLite, MariaDB or MySQL, with database/sql.
//
//	go run . sqlite events.db
//	go run . mysql 'user:password@tcp(127.0.0.1:3306)/database'
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite"

	"github.com/sortid/sortid/scru128"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: sql sqlite FILE, or sql mysql DATA-SOURCE-NAME")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// The DEFAULTs are from "sortid sql sqlite" and "sortid sql mysql". Without STRICT, a column of SQLite also accepts values of other types, which sort before or after
// all IDs.
var tables = map[string]string{
	"sqlite": `CREATE TABLE IF NOT EXISTS events (
		id   BLOB PRIMARY KEY CHECK (length(id) = 16) DEFAULT (CAST(
			unhex(printf('%012x', CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)))
			|| randomblob(10) AS BLOB)),
		what TEXT NOT NULL
	) STRICT, WITHOUT ROWID`,
	"mysql": `CREATE TABLE IF NOT EXISTS events (
		id   BINARY(16) PRIMARY KEY DEFAULT (UNHEX(CONCAT(
			LPAD(HEX(TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00',
				UTC_TIMESTAMP(3)) DIV 1000), 12, '0'), HEX(RANDOM_BYTES(10))))),
		what VARCHAR(100) NOT NULL
	)`,
}

// An Event is a row. A scru128.ID reads bytes from the column, but is stored as text. To store
// bytes, convert the ID to scru128.Bytes.
type Event struct {
	ID   scru128.ID
	What string
}

func run(ctx context.Context, driver, name string) error {
	db, err := sql.Open(driver, name)
	if err != nil {
		return err
	}
	defer db.Close()

	if _, err := db.ExecContext(ctx, tables[driver]); err != nil {
		return err
	}
	if err := insert(ctx, db, []Event{{ID: scru128.First(time.Now().Add(-48 * time.Hour)),
		What: "moved"}}); err != nil {
		return err
	}
	// Here the database makes the ID. MySQL has no RETURNING, but MariaDB has it.
	var made scru128.ID
	if err := db.QueryRowContext(ctx, "INSERT INTO events (what) VALUES ('event 0') RETURNING id").
		Scan(&made); err != nil {
		return err
	}
	fmt.Printf("the database made an ID: %t\n", time.Since(made.Time()) < time.Hour)
	time.Sleep(time.Until(made.Time().Add(time.Millisecond))) // so that the next IDs are greater

	events := make([]Event, 249)
	for i := range events {
		events[i] = Event{ID: scru128.New(), What: fmt.Sprint("event ", i+1)}
	}
	if err := insert(ctx, db, events); err != nil {
		return err
	}

	now := time.Now()
	recent, err := between(ctx, db, now.Add(-time.Hour), now.Add(time.Second))
	if err != nil {
		return err
	}
	fmt.Printf("%d events of the last hour\n", len(recent))

	var last scru128.ID
	for number := 1; ; number++ {
		events, err := page(ctx, db, last, 100)
		if err != nil || len(events) == 0 {
			return err
		}
		fmt.Printf("page %d: %d events, first %s\n", number, len(events), events[0].What)
		last = events[len(events)-1].ID
	}
}

func insert(ctx context.Context, db *sql.DB, events []Event) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	statement, err := tx.PrepareContext(ctx, "INSERT INTO events (id, what) VALUES (?, ?)")
	if err != nil {
		return err
	}
	for _, e := range events {
		if _, err := statement.ExecContext(ctx, scru128.Bytes(e.ID), e.What); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func between(ctx context.Context, db *sql.DB, from, to time.Time) ([]Event, error) {
	return query(ctx, db, "SELECT id, what FROM events WHERE id >= ? AND id < ? ORDER BY id",
		scru128.Bytes(scru128.First(from)), scru128.Bytes(scru128.First(to)))
}

// page returns the next events after an ID. With OFFSET, later pages would take longer.
func page(ctx context.Context, db *sql.DB, after scru128.ID, limit int) ([]Event, error) {
	return query(ctx, db, "SELECT id, what FROM events WHERE id > ? ORDER BY id LIMIT ?",
		scru128.Bytes(after), limit)
}

func query(ctx context.Context, db *sql.DB, query string, args ...any) (events []Event, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e Event
		if err := rows.Scan(&e.ID, &e.What); err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, rows.Err()
}
