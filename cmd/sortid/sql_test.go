package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sortid/sortid/testserver"
)

// verify accepts a dump's IDs, and convert makes the database's texts of them.
func TestSQLDump(t *testing.T) {
	ctx := context.Background()
	place := testserver.Postgres(t)
	u, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	schema := "sortid_" + u.Query().Get("search_path")
	var text strings.Builder
	if code, stderr := start(nil, &text, "sql", "postgres", "--schema", schema); code != 0 {
		t.Fatal(code, stderr)
	}
	conn, err := pgx.Connect(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	run := func(statements string) {
		t.Helper()
		if _, err := conn.PgConn().Exec(ctx, statements).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	run(text.String())
	defer run("DROP SCHEMA " + schema + " CASCADE")
	for _, g := range []struct {
		format, generator string
		flags             []string
	}{
		{"scru64", "scru64_new(5, 8)", []string{"--node", "5/8"}},
		{"scru128", "scru128_new()", []string{"--unordered", "--stateless"}},
		// These counters differ from the format's document; see docs/databases.md.
		{"scru128", "scru128_new_counted()", []string{"--unique"}},
		{"scru128", "scru128_new_ordered()", []string{"--unique"}},
		{"scru160", "scru160_new()", []string{"--unordered"}},
		{"euid", "euid_new()", []string{"--unordered", "--stateless"}},
	} {
		const n = 20_000
		column := func(of string) string {
			rows, err := conn.Query(ctx, fmt.Sprintf("SELECT %s FROM ids ORDER BY n", of))
			if err != nil {
				t.Fatal(err)
			}
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil || len(lines) != n {
				t.Fatalf("%d lines, %v", len(lines), err)
			}
			return strings.Join(lines, "\n") + "\n"
		}
		run(
			fmt.Sprintf(
				"DROP TABLE IF EXISTS ids; CREATE TABLE ids AS SELECT n, %s.%s AS id FROM generate_series(1, %d) AS n", schema, g.generator, n))
		dump := column("id::text")
		var out strings.Builder
		if code, stderr := start(strings.NewReader(dump), &out, "convert", "--format", g.format,
			"--to", "text"); code != 0 || out.String() != column(schema+"."+g.format+"_text(id)") {
			t.Errorf("%s: convert: code %d, %s\n%.200s", g.generator, code, stderr, out.String())
		}
		out.Reset()
		if code, stderr := start(strings.NewReader(dump), &out,
			append([]string{"verify", g.format, "-"}, g.flags...)...); code != 0 {
			t.Errorf("%s: verify: code %d, %s\n%s", g.generator, code, stderr, out.String())
		}
	}
}
