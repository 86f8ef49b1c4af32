package main

import (
	"database/sql"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/testserver"
)

// With nullzero the zero ID means the column's DEFAULT. The database's ID is read back.
func TestDefault(t *testing.T) {
	type Note struct {
		ID   scru128.UUID `bun:"type:uuid,pk,nullzero,default:gen_random_uuid()"`
		What string
	}
	pool, err := sql.Open("pgx", testserver.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	db := bun.NewDB(pool, pgdialect.New())
	if _, err := db.NewCreateTable().Model((*Note)(nil)).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	note := Note{What: "made by the database"}
	if _, err := db.NewInsert().Model(&note).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	var back Note
	if err := db.NewSelect().Model(&back).Scan(t.Context()); err != nil ||
		scru128.ID(back.ID).IsZero() || back.ID != note.ID {
		t.Errorf("%v, stored %v, %v", note.ID, back.ID, err)
	}
}
