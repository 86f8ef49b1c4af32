// Command pgx stores events and their users under SCRU128 keys in PostgreSQL, with pgx.
//
//	sortid sql postgres | psql "$DATABASE_URL"
//	DATABASE_URL=postgres://... go run .
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sortid/sortid/pgxid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/typed"
)

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL")); err != nil {
		log.Fatal(err)
	}
}

// A User has a typed ID, such as user_0372ijojuxuhjsfkeryi2mrtm.
type User struct {
	ID   UserID
	Name string
}

func (User) Prefix() string { return "user" }

type UserID = typed.ID[User, scru128.ID]

type Event struct {
	ID   scru128.ID
	User UserID
	What string
}

// The columns have IDs without prefixes. The database makes the users' IDs.
const schema = `
CREATE TABLE IF NOT EXISTS users (
	id uuid PRIMARY KEY DEFAULT sortid.scru128_new(), name text NOT NULL);
CREATE TABLE IF NOT EXISTS events (
	id uuid PRIMARY KEY, user_id uuid NOT NULL REFERENCES users, what text NOT NULL);`

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
	user := User{Name: "Ada"}
	if err := pool.QueryRow(ctx, `INSERT INTO users (name) VALUES ($1) RETURNING id`, user.Name).
		Scan(&user.ID); err != nil {
		return err
	}
	old := Event{ID: scru128.First(time.Now().Add(-48 * time.Hour)), User: user.ID, What: "moved"}
	if _, err := pool.Exec(ctx, `INSERT INTO events (id, user_id, what) VALUES ($1, $2, $3)`,
		old.ID, old.User, old.What); err != nil {
		return err
	}
	events := make([]Event, 250)
	for i := range events {
		events[i] = Event{ID: scru128.New(), User: user.ID, What: fmt.Sprint("event ", i)}
	}
	rows := pgx.CopyFromSlice(len(events), func(i int) ([]any, error) {
		return []any{events[i].ID, events[i].User, events[i].What}, nil
	})
	if _, err := pool.CopyFrom(ctx, pgx.Identifier{"events"}, []string{"id", "user_id", "what"},
		rows); err != nil {
		return err
	}

	now := time.Now()
	recent, err := between(ctx, pool, now.Add(-time.Hour), now.Add(time.Second))
	if err != nil {
		return err
	}
	fmt.Printf("%d events of the last hour\n", len(recent))

	id, err := typed.Parse[UserID](user.ID.String())
	if err != nil {
		return err
	}
	var count int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM events WHERE user_id = $1`, id).
		Scan(&count); err != nil {
		return err
	}
	fmt.Printf("%d events of the user\n", count)

	var last scru128.ID
	for number := 1; ; number++ {
		events, err := page(ctx, pool, last, 100)
		if err != nil || len(events) == 0 {
			return err
		}
		fmt.Printf("page %d: %d events, first %s\n", number, len(events), events[0].What)
		last = events[len(events)-1].ID
	}
}

func between(ctx context.Context, pool *pgxpool.Pool, from, to time.Time) ([]Event, error) {
	rows, err := pool.Query(ctx,
		`SELECT id, user_id, what FROM events WHERE id >= $1 AND id < $2 ORDER BY id`,
		scru128.First(from), scru128.First(to))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
}

// page returns the next events after an ID. With OFFSET, later pages would take longer.
func page(ctx context.Context, pool *pgxpool.Pool, after scru128.ID, limit int) ([]Event, error) {
	rows, err := pool.Query(ctx,
		`SELECT id, user_id, what FROM events WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
}
