// Command typedpgx stores users and their orders under typed IDs in PostgreSQL, with pgx.
//
//	DATABASE_URL=postgres://... go run .
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sortid/sortid/pgxid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/typed"
)

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL"), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// An ID is the ID of a row of type T. The program has one format for all its types.
type ID[T typed.Prefixer] = typed.ID[T, scru128.ID]

// A User has an ID such as user_0372ijojuxuhjsfkeryi2mrtm.
type User struct {
	ID   ID[User] `json:"id"`
	Name string   `json:"name"`
}

func (User) Prefix() string { return "user" }

// An Order has an ID such as order_0372ijojuxuhjsfkeryi2mrtm.
type Order struct {
	ID   ID[Order] `json:"id"`
	User ID[User]  `json:"user"`
}

func (Order) Prefix() string { return "order" }

// The columns hold the IDs without their prefixes.
const schema = `
CREATE TABLE IF NOT EXISTS users (id uuid PRIMARY KEY, name text NOT NULL);
CREATE TABLE IF NOT EXISTS orders (id uuid PRIMARY KEY, user_id uuid NOT NULL REFERENCES users);`

func run(ctx context.Context, url string, out io.Writer) error {
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

	user := User{ID: typed.New[ID[User]](), Name: "Ada"}
	if _, err := pool.Exec(ctx, `INSERT INTO users (id, name) VALUES ($1, $2)`, user.ID,
		user.Name); err != nil {
		return err
	}
	for range 2 {
		order := Order{ID: typed.New[ID[Order]](), User: user.ID}
		if _, err := pool.Exec(ctx, `INSERT INTO orders (id, user_id) VALUES ($1, $2)`, order.ID,
			order.User); err != nil {
			return err
		}
	}

	// A text from outside, with the prefix.
	id, err := typed.Parse[ID[User]](user.ID.String())
	if err != nil {
		return err
	}
	orders, err := ordersOf(ctx, pool, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d orders\n", len(orders))
	return json.NewEncoder(out).Encode(orders[0])
}

// ordersOf returns the orders of a user. The ID of an order does not compile as its argument.
func ordersOf(ctx context.Context, pool *pgxpool.Pool, user ID[User]) ([]Order, error) {
	rows, err := pool.Query(ctx, `SELECT id, user_id FROM orders WHERE user_id = $1 ORDER BY id`,
		user)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Order])
}
