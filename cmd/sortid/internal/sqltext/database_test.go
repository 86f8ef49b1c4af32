package sqltext

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testserver"
)

type database struct {
	t      testing.TB
	url    string
	schema string
	*pgx.Conn
}

// install returns a connection to a new schema with our functions. The test runs in parallel.
func install(t *testing.T) *database {
	t.Helper()
	t.Parallel()
	testserver.Long(t, "tests functions of a database")
	place := testserver.Postgres(t)
	u := check.Must(url.Parse(place))(t)
	schema := "Sortid_" + u.Query().Get("search_path")
	d := connect(t, place, schema)
	d.run(check.Must(Postgres(schema, spec.Ours()))(t))
	t.Cleanup(func() { d.run(`DROP SCHEMA "` + schema + `" CASCADE`) })
	return d
}

func connect(t testing.TB, place, schema string) *database {
	t.Helper()
	conn := check.Must(pgx.Connect(context.Background(), place))(t)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return &database{t: t, url: place, schema: schema, Conn: conn}
}

func (d *database) in(statement string) string { return inSchema(statement, d.schema) }

func (d *database) run(statements string) {
	d.t.Helper()
	if _, err := d.PgConn().Exec(context.Background(), d.in(statements)).ReadAll(); err != nil {
		d.t.Fatalf("%v\n%.500s", err, statements)
	}
}

func (d *database) query(query string, args ...any) []string {
	d.t.Helper()
	rows, err := d.queryError(query, args...)
	if err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	return rows
}

func (d *database) queryError(query string, args ...any) ([]string, error) {
	args = append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)
	rows, err := d.Query(context.Background(), d.in(query), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		value := row.RawValues()[0]
		if value == nil {
			return "NULL", nil
		}
		return string(value), nil
	})
}

func (d *database) one(expression string, args ...any) string {
	d.t.Helper()
	return d.query("SELECT "+expression, args...)[0]
}

func (d *database) code(query string, args ...any) (code, message string) {
	rows, err := d.queryError(query, args...)
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		d.t.Errorf("%s %v: %v, %v; want an error of the server", query, args, rows, err)
		return "", ""
	}
	return e.Code, e.Message
}

func output(t *testing.T, in string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(testserver.Program(t, name), args...)
	cmd.Stdin = strings.NewReader(in)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, errs.String())
	}
	return out.String()
}
