package testserver

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A place is empty and the test's own; a server that was stopped and started again has
// what was committed.
func TestPostgres(t *testing.T) {
	a, b := Postgres(t), Postgres(t)
	execPostgres(t, a, "CREATE TABLE here (x int)")
	execPostgres(t, b, "CREATE TABLE here (x int)")

	s := StartPostgres(t, "work_mem=77MB")
	execPostgres(t, s.URL, "CREATE TABLE here (x int)")
	s.Stop()
	if err := postgresServes(t.Context(), s.URL); err == nil {
		t.Fatal("a server that was stopped serves")
	}
	s.Start()
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var set string
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('work_mem') FROM (SELECT count(*) FROM here) c").Scan(&set); err != nil || set != "77MB" {
		t.Errorf("after a stop: %q, %v", set, err)
	}
}

func TestMySQL(t *testing.T) {
	a, b := MySQL(t), MySQL(t)
	if a == b {
		t.Fatal("two tests have one place")
	}
	s := StartMySQL(t, "max-connections=77")
	db, err := openMySQL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	execMySQL(t, s.URL, "CREATE TABLE test.here (x int)")
	s.Stop()
	if err := mysqlServes(t.Context(), s.URL); err == nil {
		t.Fatal("a server that was stopped serves")
	}
	s.Start()
	var set sql.NullString
	if err := db.QueryRowContext(t.Context(), "SELECT @@max_connections FROM (SELECT count(*) FROM test.here) c").Scan(&set); err != nil || set.String != "77" {
		t.Errorf("after a stop: %q, %v", set.String, err)
	}
}
