//go:build cgo && (amd64 || arm64) && (linux || darwin)

package duckdb

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testids"
	"github.com/sortid/sortid/internal/testserver"
)

// open returns a new database with our macros.
func open(t *testing.T, flags ...string) *sql.DB {
	t.Helper()
	testserver.Long(t, "builds the command and DuckDB")
	db := check.Must(sql.Open("duckdb", ""))(t)
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	cmd := exec.Command(testserver.Sortid(t), append([]string{"sql", "duckdb"}, flags...)...)
	cmd.Stderr = os.Stderr
	text := string(check.Must(cmd.Output())(t))
	execute(t, db, text)
	execute(t, db, text) // a second time
	execute(t, db, "SET TimeZone = 'America/Caracas'")
	return db
}

func execute(t *testing.T, db *sql.DB, text string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatalf("%v\n%.500s", err, text)
	}
}

// column returns the values of a query's only column.
func column(t *testing.T, db *sql.DB, query string, args ...any) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%v\n%.500s", err, query)
	}
	defer rows.Close()
	for rows.Next() {
		var s sql.NullString
		check.OK(t, rows.Scan(&s))
		if !s.Valid {
			s.String = "NULL"
		}
		list = append(list, s.String)
	}
	check.OK(t, rows.Err())
	return list
}

// compare runs an expression over inputs x.
func compare(t *testing.T, db *sql.DB, expression string, inputs, want []string) {
	t.Helper()
	b := check.Must(json.Marshal(inputs))(t)
	got := column(t, db, "SELECT CAST("+expression+" AS VARCHAR) FROM (SELECT "+
		"unnest(CAST(CAST($1 AS JSON) AS VARCHAR[])) AS x, generate_subscripts("+
		"CAST(CAST($1 AS JSON) AS VARCHAR[]), 1) AS i) ORDER BY i", string(b))
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%s: %d rows, want %d", expression, len(got), len(want))
	}
	wrong := 0
	for i := range got {
		if got[i] != want[i] {
			if wrong++; wrong < 4 {
				t.Errorf("%s of %q is %s, want %s", expression, inputs[i], got[i], want[i])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d are wrong", expression, wrong, len(got))
	}
}

const utc = "strftime(%s AT TIME ZONE 'UTC', '%%Y-%%m-%%d %%H:%%M:%%S.%%f')"

const layout = "2006-01-02 15:04:05.000000"

var types = map[spec.Encoding]string{spec.UUID: "UUID", spec.Int: "BIGINT"}

func TestOthers(t *testing.T) {
	t.Parallel()
	db := open(t)
	tested := 0
	for _, f := range spec.All() {
		r := rand.New(rand.NewPCG(13, 14))
		if f.Generates || f.Tick == 0 && f.Within == nil || strings.HasPrefix(f.Name, "unix-") {
			continue
		}
		tested++
		for _, c := range testids.Columns(f) {
			var values, want []string
			for _, id := range testids.IDs(f, r, 1000) {
				if c.Fits(id.Words) {
					values, want = append(values, c.Value(id.Words)), append(want, id.At(layout))
				}
			}
			typ, found := types[c.Encoding]
			if !found {
				typ = "VARCHAR"
			}
			compare(t, db, fmt.Sprintf(utc, c.Time+"(CAST(x AS "+typ+"))"), values, want)
			bad := c.Invalid()
			if len(bad) > 0 {
				compare(t, db, c.Time+"(TRY_CAST(x AS "+typ+"))", bad,
					slices.Repeat([]string{"NULL"}, len(bad)))
			}
			if got := column(t, db, "SELECT "+c.Time+"(NULL)"); got[0] != "NULL" {
				t.Errorf("%s(NULL) is %s", c.Time, got)
			}
			if c.First != "" {
				testFirst(t, db, c, r, nil)
			}
		}
	}
	if tested < 30 {
		t.Errorf("only %d formats", tested)
	}
}

func testFirst(t *testing.T, db *sql.DB, c testids.Column, r *rand.Rand,
	stored func(string) string) {
	t.Helper()
	var values, want []string
	for _, at := range testids.Times(c.Format, r, 1000) {
		values = append(values, at.Format(layout+"+00"))
		id := c.FirstID(at)
		if stored != nil {
			id = stored(id)
		}
		want = append(want, id)
	}
	compare(t, db, c.First+"(CAST(x AS TIMESTAMPTZ))", values, want)
	if got := column(t, db, "SELECT "+c.First+"(NULL)"); got[0] != "NULL" {
		t.Errorf("%s(NULL) is %s", c.First, got)
	}
}

func TestOurs(t *testing.T) {
	t.Parallel()
	db := open(t)
	for _, f := range spec.Ours() {
		r := rand.New(rand.NewPCG(15, 16))
		// A stored value: a UUID, an integer or bytes.
		stored := func(id integer.Words) string {
			switch {
			case slices.Contains(f.Encodings, spec.UUID):
				return f.In(id, spec.UUID)
			case f.Bits <= 64:
				return f.In(id, spec.Int)
			}
			return blob(f.In(id, spec.Hex))
		}
		var texts, values, times []string
		for _, id := range testids.IDs(f, r, 1000) {
			texts, values, times = append(texts, id.String()), append(values, stored(id.Words)),
				append(times, id.At(layout))
		}
		parse, text := f.Name+"_parse(x)", f.Name+"_text("+f.Name+"_parse(x))"
		compare(t, db, parse, texts, values)
		compare(t, db, text, texts, texts)
		compare(t, db, fmt.Sprintf(utc, f.Name+"_time(x)"), texts, times)
		compare(t, db, fmt.Sprintf(utc, f.Name+"_time("+f.Name+"_parse(x))"), texts, times)
		testVectors(t, db, f, stored)
		for _, function := range []string{"_parse", "_text", "_time", "_first"} {
			if got := column(t, db, "SELECT "+f.Name+function+"(NULL)"); got[0] != "NULL" {
				t.Errorf("%s%s(NULL) is %s", f.Name, function, got)
			}
		}
		columns := testids.Columns(f)
		c := columns[len(columns)-1]
		c.First = f.Name + "_first"
		if c.Encoding == spec.Text {
			c.Encoding = spec.Hex
			testFirst(t, db, c, r, blob)
			continue
		}
		testFirst(t, db, c, r, nil)
	}
}

// blob returns how DuckDB shows bytes.
func blob(digits string) string {
	b, _ := hex.DecodeString(digits)
	var text strings.Builder
	for _, c := range b {
		if c >= ' ' && c <= '~' && c != '\\' && c != '\'' && c != '"' {
			text.WriteByte(c)
		} else {
			fmt.Fprintf(&text, "\\x%02X", c)
		}
	}
	return text.String()
}

// testVectors runs the vectors of a format's package.
func testVectors(t *testing.T, db *sql.DB, f *spec.Format, stored func(integer.Words) string) {
	t.Helper()
	var v struct{ Valid, Invalid []struct{ Text string } }
	b := check.Must(os.ReadFile("../../" + f.Name + "/testdata/vectors.json"))(t)
	check.OK(t, json.Unmarshal(b, &v))
	var texts, values, bad []string
	for _, v := range v.Valid {
		texts = append(texts, v.Text)
		values = append(values, stored(check.Must(f.Parse(v.Text))(t)))
	}
	for _, v := range v.Invalid {
		if len(v.Text) != 36 || stored(testids.Largest(f))[8] != '-' { // a UUID's text is valid
			bad = append(bad, v.Text)
		}
	}
	compare(t, db, f.Name+"_parse(x)", texts, values)
	compare(t, db, f.Name+"_parse(x)", bad, slices.Repeat([]string{"NULL"}, len(bad)))
	compare(t, db, f.Name+"_time(x)", bad, slices.Repeat([]string{"NULL"}, len(bad)))
}

// The example of the document: a time range of log rows in files.
func TestFiles(t *testing.T) {
	t.Parallel()
	db := open(t, "--formats", "ulid,uuidv7,scru128")
	dir := t.TempDir()
	const rows = 100_000
	execute(t, db, fmt.Sprintf(`CREATE TABLE log AS SELECT
		ulid_first(t) AS ulid, uuidv7_first(t) AS uuid,
		scru128_text(scru128_first(t)) AS scru128, 'what' AS what
		FROM (SELECT TIMESTAMPTZ '2026-01-01 00:00:00+00' + to_seconds(i) AS t FROM range(%d) AS r(i))`,
		rows))
	for _, file := range []string{"log.parquet", "log.csv"} {
		path := filepath.Join(dir, file)
		execute(t, db, "COPY log TO '"+path+"'")
		for _, condition := range []string{
			"ulid >= ulid_first('2026-01-01 01:00:00+00') AND ulid < ulid_first('2026-01-01 02:00:00+00')",
			"CAST(uuid AS UUID) >= uuidv7_first('2026-01-01 01:00:00+00') " +
				"AND CAST(uuid AS UUID) < uuidv7_first('2026-01-01 02:00:00+00')",
			"scru128 >= scru128_text(scru128_first('2026-01-01 01:00:00+00')) " +
				"AND scru128 < scru128_text(scru128_first('2026-01-01 02:00:00+00'))",
			"scru128_time(scru128) >= '2026-01-01 01:00:00+00' " +
				"AND scru128_time(scru128) < '2026-01-01 02:00:00+00'",
		} {
			if got := column(t, db, "SELECT count(*) FROM '"+path+"' WHERE "+condition); got[0] != "3600" {
				t.Errorf("%s: %s rows of an hour with %s", file, got[0], condition)
			}
		}
	}
	// The bounds are constants, so the file's statistics can skip row groups.
	var key, plan string
	check.OK(t, db.QueryRowContext(t.Context(), "EXPLAIN SELECT what FROM '"+
		filepath.Join(dir, "log.parquet")+"' WHERE ulid >= ulid_first('2026-01-01 01:00:00+00')").
		Scan(&key, &plan))
	first := column(t, db, "SELECT ulid_first('2026-01-01 01:00:00+00')")[0]
	if !strings.Contains(strings.ReplaceAll(plan, "\n", ""), "ulid>='"+first[:10]) {
		t.Errorf("the filter has no constant %s:\n%s", first, plan)
	}
}
