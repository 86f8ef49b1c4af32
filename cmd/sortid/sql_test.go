package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// verify accepts the IDs of a dump, and convert prints the database's texts.
func TestSQLDump(t *testing.T) {
	ctx := context.Background()
	place := testserver.Postgres(t)
	u := check.Must(url.Parse(place))(t)
	schema := "sortid_" + u.Query().Get("search_path")
	conn := check.Must(pgx.Connect(ctx, place))(t)
	defer conn.Close(ctx)
	run := func(statements string) {
		t.Helper()
		check.Must(conn.PgConn().Exec(ctx, statements).ReadAll())(t)
	}
	run(sortid(t, "", "sql", "postgres", "--schema", schema))
	defer run("DROP SCHEMA " + schema + " CASCADE")
	for _, g := range []struct{ format, generator, flags string }{
		{"scru64", "scru64_new(5, 8)", "--node 5/8"},
		{"scru128", "scru128_new()", "--unordered --stateless"},
		// These counters differ from the format's document; see docs/databases.md.
		{"scru128", "scru128_new_counted()", "--unique"},
		{"scru128", "scru128_new_ordered()", "--unique"},
		{"scru160", "scru160_new()", "--unordered"},
		{"euid", "euid_new()", "--unordered --stateless"},
	} {
		const n = 20_000
		column := func(of string) string {
			rows := check.Must(conn.Query(ctx, fmt.Sprintf("SELECT %s FROM ids ORDER BY n", of)))(t)
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil || len(lines) != n {
				t.Fatalf("%d lines, %v", len(lines), err)
			}
			return strings.Join(lines, "\n") + "\n"
		}
		run(fmt.Sprintf("DROP TABLE IF EXISTS ids; CREATE TABLE ids AS "+
			"SELECT n, %s.%s AS id FROM generate_series(1, %d) AS n", schema, g.generator, n))
		dump := column("id::text")
		out := sortid(t, dump, "convert", "--format", g.format, "--to", "text")
		if out != column(schema+"."+g.format+"_text(id)") {
			t.Errorf("%s: convert: %.200s", g.generator, out)
		}
		sortid(t, dump, strings.Fields("verify "+g.format+" - "+g.flags)...)
	}
}
