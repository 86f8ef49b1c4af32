package sqltext

import (
	"cmp"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testids"
	"github.com/sortid/sortid/internal/testserver"
)

// otherFormats returns the formats of other projects that have SQL for a database, and a Snowflake
// with an epoch, a unit and a layout of its own.
func otherFormats(text func([]*spec.Format) (string, error)) []*spec.Format {
	own := gencore.Must(gencore.Must(spec.Lookup("snowflake-flake")).With(spec.Variant{Name: "own",
		Epoch: time.Date(2020, 2, 1, 0, 0, 0, 0, time.UTC), Tick: 10 * time.Millisecond,
		Bits: []int{39, 8, 16}}))
	list := slices.DeleteFunc(WithOthers(text), func(f *spec.Format) bool { return f.Generates })
	return append(list, own)
}

func wantedOthers(t *testing.T, list []*spec.Format, least int, names ...string) {
	t.Helper()
	if len(list) < least {
		t.Errorf("only %d formats", len(list))
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(f *spec.Format) bool { return f.Name == name }) {
			t.Errorf("%s is missing", name)
		}
	}
}

var popular = []string{"uuidv1", "uuidv6", "uuidv7", "ulid", "xid", "objectid", "typeid", "tsid",
	"snowflake-twitter", "snowflake-discord", "sonyflake", "snowflake-instagram"}

// manyOthers returns how many IDs of each format to read.
const manyOthers = 1000

func TestPostgresOthers(t *testing.T) {
	d := install(t)
	list := otherFormats(func(f []*spec.Format) (string, error) { return Postgres("x", f) })
	wantedOthers(t, list, 30, append(popular, "ksuid", "timeflake", "flake")...)
	text := check.Must(Postgres(d.schema, list))(t)
	d.run(text)
	d.run(text) // a second time
	r := rand.New(rand.NewPCG(7, 8))
	types := map[spec.Encoding]string{spec.UUID: "uuid", spec.Int: "bigint"}
	for _, f := range list {
		for _, s := range testids.Columns(f) {
			typ := types[s.Encoding]
			if typ == "" {
				typ = "text"
			}
			var values []string
			var want []string
			for _, id := range testids.IDs(f, r, manyOthers) {
				if s.Fits(id.Words) {
					values = append(values, s.Value(id.Words))
					want = append(want, id.At("2006-01-02 15:04:05.000000"))
				}
			}
			got := d.query(fmt.Sprintf("SELECT to_char(sortid.%s(x::%s) AT TIME ZONE 'UTC', "+
				"'FMYYYY-MM-DD HH24:MI:SS.US') FROM unnest($1::text[]) WITH ORDINALITY AS x(x, i) ORDER BY i",
				s.Time, typ), values)
			sameRows(t, s.Time+" of "+string(s.Encoding), values, got, want)
			if got := d.one(fmt.Sprintf("sortid.%s(NULL::%s)", s.Time, typ)); got != "NULL" {
				t.Errorf("%s(NULL) is %s", s.Time, got)
			}
			for _, bad := range s.Invalid() {
				if got := d.one(fmt.Sprintf("sortid.%s($1::text::%s)", s.Time, typ), bad); got != "NULL" {
					t.Errorf("%s(%q) is %s, want NULL", s.Time, bad, got)
				}
			}
			if s.First == "" {
				continue
			}
			values, want = nil, nil
			for _, at := range testids.Times(f, r, 200) {
				values = append(values, at.Format("2006-01-02 15:04:05.000000+00"))
				want = append(want, s.FirstID(at))
			}
			got = d.query(fmt.Sprintf("SELECT sortid.%s(x::timestamptz) "+
				"FROM unnest($1::text[]) WITH ORDINALITY AS x(x, i) ORDER BY i", s.First), values)
			sameRows(t, s.First, values, got, want)
			for extreme, year := range map[string]int{"infinity": 200_000, "-infinity": 1000} {
				want := s.FirstID(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
				if got := d.one(fmt.Sprintf("sortid.%s($1::text::timestamptz)", s.First),
					extreme); got != want {
					t.Errorf("%s(%s) is %s, want %s", s.First, extreme, got, want)
				}
			}
			if got := d.one(fmt.Sprintf("sortid.%s(NULL)", s.First)); got != "NULL" {
				t.Errorf("%s(NULL) is %s", s.First, got)
			}
		}
	}
}

func sameRows(t *testing.T, what string, inputs, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
	wrong := 0
	for i := range got {
		if got[i] != want[i] {
			if wrong++; wrong <= 3 {
				t.Errorf("%s(%s) is %s, want %s", what, inputs[i], got[i], want[i])
			}
		}
	}
	if wrong > 3 {
		t.Errorf("%s: %d of %d are wrong", what, wrong, len(got))
	}
}

// A time range of an ID uses the index, also if its bounds are parameters.
func TestPostgresOthersIndex(t *testing.T) {
	d := install(t)
	d.run(check.Must(Postgres(d.schema, otherFormats(func(f []*spec.Format) (string, error) {
		return Postgres("x", f)
	})))(t))
	for _, c := range []struct{ first, typ string }{{"ulid_first", `text COLLATE "C"`},
		{"ulid_first_uuid", "uuid"}, {"uuidv7_first", "uuid"}, {"ksuid_first", `text COLLATE "C"`},
		{"snowflake_twitter_first", "bigint"}, {"objectid_first", `text COLLATE "C"`}} {
		d.run("DROP TABLE IF EXISTS ranged; CREATE TABLE ranged (id " + c.typ + " PRIMARY KEY)")
		d.run("INSERT INTO ranged SELECT sortid." + c.first +
			"('2026-01-01'::timestamptz + i * interval '1 minute') FROM generate_series(1, 20000) i; " +
			"ANALYZE ranged")
		for _, bounds := range [][2]string{{"'2026-01-02'", "'2026-01-03'"},
			{"now() - interval '1 hour'", "now()"}, {"$1", "$2"}} {
			query := fmt.Sprintf("EXPLAIN SELECT * FROM ranged WHERE id >= sortid.%[1]s(%[2]s) "+
				"AND id < sortid.%[1]s(%[3]s)", c.first, bounds[0], bounds[1])
			var args []any
			if bounds[0] == "$1" {
				args = []any{time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
					time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)}
			}
			plan := strings.Join(d.query(query, args...), "\n")
			if !strings.Contains(plan, "Index Cond: ((id >= ") || !strings.Contains(plan, "AND (id < ") {
				t.Errorf("%s: no index condition:\n%s", query, plan)
			}
		}
	}
	if got := d.one("count(*) FROM ranged WHERE id >= sortid.objectid_first('2026-01-02+00') " +
		"AND id < sortid.objectid_first('2026-01-03+00')"); got != "1440" {
		t.Errorf("%s rows of a day, want 1440", got)
	}
}

func TestMySQLOthers(t *testing.T) {
	db, _ := openMySQL(t)
	list := otherFormats(MySQL)
	wantedOthers(t, list, 30, append(popular, "ksuid", "timeflake", "flake")...)
	text := statements(check.Must(MySQL(list))(t))
	execAll(t, db, text)
	execAll(t, db, text) // a second time
	execAll(t, db, []string{"CREATE TEMPORARY TABLE wanted (i INT PRIMARY KEY, id VARBINARY(255), " +
		"at VARCHAR(40), first VARCHAR(40))"})
	r := rand.New(rand.NewPCG(9, 10))
	for _, f := range list {
		all := testids.Columns(f)
		for _, s := range all {
			if s.Encoding == spec.Int && len(all) > 1 {
				s.Time += "_int"
			}
			stored := func(text string) string {
				if s.Encoding == spec.UUID {
					b, _ := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
					return string(b)
				}
				return text
			}
			fill(t, db, s, testids.IDs(f, r, manyOthers), stored)
			query := fmt.Sprintf("SELECT COUNT(*), SUM(NOT at <=> DATE_FORMAT(%[1]s(id), "+
				"'%%Y-%%m-%%d %%H:%%i:%%s.%%f')), MIN(IF(at <=> DATE_FORMAT(%[1]s(id), "+
				"'%%Y-%%m-%%d %%H:%%i:%%s.%%f'), NULL, CONCAT(id, ' ', at, ' ', %[1]s(id)))) "+
				"FROM wanted", s.Time)
			got, err := row(t, db, query)
			if err != nil || got[1] != "0" || len(got[0]) < 3 {
				t.Errorf("%s: rows, wrong ones, example: %q, %v", s.Time, got, err)
			}
			bad := s.Invalid()
			if s.Encoding == spec.UUID && s.Encodings[0] != spec.UUID {
				bad = nil
			}
			for _, bad := range append(bad, "NULL") {
				var arg any = bad
				if bad == "NULL" {
					arg = nil
				}
				if got, err := row(t, db, "SELECT "+s.Time+"(?)", arg); err != nil || got[0] != "NULL" {
					t.Errorf("%s(%q) is %q, %v; want NULL", s.Time, bad, got, err)
				}
			}
			if s.First == "" {
				continue
			}
			var b strings.Builder
			for i, at := range testids.Times(f, r, 200) {
				if at.Year() > 9999 || at.Year() < 1000 {
					continue
				}
				fmt.Fprintf(&b, ", (%d, NULL, '%s', '%s')", i, at.Format("2006-01-02 15:04:05.000000"),
					s.FirstID(at))
			}
			execAll(t, db, []string{"DELETE FROM wanted", "INSERT INTO wanted VALUES" + b.String()[1:]})
			first := s.First + "(at)"
			if s.Encoding == spec.UUID {
				first = mysqlStored(tested{typ: "uuid"}, first)
			}
			got, err = row(t, db, fmt.Sprintf("SELECT COUNT(*), SUM(NOT BINARY first <=> BINARY %[1]s), "+
				"MIN(IF(BINARY first <=> BINARY %[1]s, NULL, CONCAT(at, ' ', first, ' ', %[1]s))) FROM wanted",
				first))
			if err != nil || got[1] != "0" || len(got[0]) < 3 {
				t.Errorf("%s: rows, wrong ones, example: %q, %v", s.First, got, err)
			}
			if got, err := row(t, db, "SELECT "+s.First+"(NULL)"); err != nil || got[0] != "NULL" {
				t.Errorf("%s(NULL) is %q, %v", s.First, got, err)
			}
		}
	}
}

// fill writes IDs and their times to the table wanted.
func fill(t *testing.T, db *sql.DB, s testids.Column, ids []testids.ID,
	stored func(string) string) {
	t.Helper()
	execAll(t, db, []string{"DELETE FROM wanted"})
	var b strings.Builder
	for i, id := range ids {
		if !s.Fits(id.Words) {
			continue
		}
		at := "NULL"
		if id.Time.Year() <= 9999 {
			at = id.At("'2006-01-02 15:04:05.000000'")
		}
		fmt.Fprintf(&b, ", (%d, X'%x', %s, NULL)", i, stored(s.Value(id.Words)), at)
	}
	execAll(t, db, []string{"INSERT INTO wanted VALUES" + b.String()[1:]})
}

func TestMySQLOthersIndex(t *testing.T) {
	db, _ := openMySQL(t)
	execAll(t, db, statements(check.Must(MySQL(otherFormats(MySQL)))(t)))
	for _, c := range []struct{ first, typ string }{
		{"ulid_first", "CHAR(26) CHARACTER SET ascii COLLATE ascii_bin"},
		{"ulid_first", "VARCHAR(26)"}, {"uuidv7_first", "BINARY(16)"},
		{"snowflake_twitter_first", "BIGINT"}} {
		execAll(t, db, []string{"DROP TABLE IF EXISTS ranged",
			"CREATE TABLE ranged (id " + c.typ + " PRIMARY KEY)",
			"INSERT INTO ranged SELECT " + c.first +
				"(TIMESTAMP'2026-01-01 00:00:00' + INTERVAL seq MINUTE) FROM seq_1_to_20000",
			"ANALYZE TABLE ranged"})
		got, err := row(t, db, fmt.Sprintf("EXPLAIN SELECT * FROM ranged "+
			"WHERE id >= %[1]s('2026-01-02') AND id < %[1]s('2026-01-03')", c.first))
		if err != nil || len(got) < 6 || got[3] != "range" || got[5] != "PRIMARY" {
			t.Errorf("%s of %s: %q, %v; want a range of the index", c.first, c.typ, got, err)
		}
		got, err = row(t, db, fmt.Sprintf("SELECT COUNT(*) FROM ranged "+
			"WHERE id >= %[1]s('2026-01-02') AND id < %[1]s('2026-01-03')", c.first))
		if err != nil || got[0] != "1440" {
			t.Errorf("%s of %s: %q rows of a day, %v; want 1440", c.first, c.typ, got, err)
		}
	}
}

func TestSQLiteOthers(t *testing.T) {
	t.Parallel()
	testserver.Long(t, "tests the functions of all formats in SQLite")
	db := check.Must(sql.Open("sqlite", ":memory:"))(t)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	list := otherFormats(SQLite)
	wantedOthers(t, list, 28, popular...)
	if _, err := SQLite([]*spec.Format{check.Must(spec.Lookup("ksuid"))(t)}); err == nil ||
		!strings.Contains(err.Error(), "sortid bounds") {
		t.Errorf("SQL for KSUIDs: %v", err)
	}
	text := check.Must(SQLite(list))(t)
	execAll(t, db, []string{text, text})
	r := rand.New(rand.NewPCG(11, 12))
	for _, f := range list {
		tables := 0
		for i, s := range testids.Columns(f) {
			table := "events_" + strings.ReplaceAll(f.Name, "-", "_")
			if i > 0 && tables > 0 {
				table += "_" + string(s.Encoding)
			}
			typ := map[spec.Encoding]string{spec.UUID: "BLOB", spec.Int: "INTEGER"}[s.Encoding]
			if !strings.Contains(text, "TABLE IF NOT EXISTS "+table+" (\n  id   "+cmp.Or(typ, "TEXT")) {
				continue // the texts need large integers
			}
			tables++
			testSQLiteTable(t, db, s, table, text, r)
		}
		if tables == 0 {
			t.Errorf("%s has no table", f.Name)
		}
	}
}

// Without an ID, the error names the constraint, not an expression of the column "at".
func TestSQLiteWithoutAnID(t *testing.T) {
	t.Parallel()
	db := check.Must(sql.Open("sqlite", ":memory:"))(t)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	execAll(t, db, []string{check.Must(SQLite(append(spec.Ours(), otherFormats(SQLite)...)))(t)})
	tables := check.Must(row(t, db,
		"SELECT group_concat(name) FROM sqlite_master WHERE type = 'table'"))(t)
	for table := range strings.SplitSeq(tables[0], ",") {
		_, err := db.ExecContext(t.Context(), "INSERT INTO "+table+" (id, what) VALUES (NULL, 'x')")
		if err == nil || !strings.Contains(err.Error(), "NOT NULL constraint failed: "+table+".id") {
			t.Errorf("%s: %v", table, err)
		}
	}
}

func testSQLiteTable(t *testing.T, db *sql.DB, s testids.Column, table, text string, r *rand.Rand) {
	t.Helper()
	literal := func(text string) string {
		switch s.Encoding {
		case spec.Int:
			return text
		case spec.UUID:
			return "X'" + strings.ReplaceAll(text, "-", "") + "'"
		}
		return "'" + text + "'"
	}
	for _, bad := range s.Invalid() {
		var got sql.NullString
		err := db.QueryRowContext(t.Context(), "INSERT OR IGNORE INTO "+table+" VALUES ("+
			strings.ReplaceAll(literal(bad), "\n", "'||char(10)||'")+", 'bad') RETURNING at").Scan(&got)
		if err != nil || got.Valid {
			t.Errorf("%s: the time of %q is %v, %v", table, bad, got, err)
		}
	}
	check.Must(db.ExecContext(t.Context(), "DELETE FROM "+table))(t)
	for _, id := range testids.IDs(s.Format, r, manyOthers) {
		if !s.Fits(id.Words) {
			continue
		}
		at := id.At("2006-01-02 15:04:05.000")
		if id.Time.Year() > 9999 {
			at = "NULL"
		}
		check.Must(db.ExecContext(t.Context(), "INSERT OR IGNORE INTO "+table+" VALUES ("+
			literal(s.Value(id.Words))+", ?)", at))(t)
	}
	got, err := row(t, db, "SELECT count(*), sum(coalesce(at, 'NULL') <> what), "+
		"min(iif(coalesce(at, 'NULL') <> what, id || ' ' || what || ' ' || coalesce(at, 'NULL'), "+
		"NULL)) FROM "+table)
	if err != nil || got[1] != "0" || len(got[0]) < 3 {
		t.Errorf("%s: rows, wrong ones, example: %q, %v", table, got, err)
	}
	if s.First == "" {
		return
	}
	_, query, _ := strings.Cut(text, "\nSELECT * FROM "+table+"\n")
	query, _, _ = strings.Cut(query, ";")
	detail := ""
	check.OK(t, db.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN SELECT * FROM "+table+"\n"+query).
		Scan(new(int), new(int), new(int), &detail))
	if !strings.Contains(detail, "USING PRIMARY KEY (id>? AND id<?)") {
		t.Errorf("%s: the plan does not use the index: %s", table, detail)
	}
	_, expression, _ := strings.Cut(query, "WHERE id >= ")
	expression, _, _ = strings.Cut(expression, "\n  AND id < ")
	prefix := ""
	if s.Text.Prefix != nil && s.Encoding == spec.Text {
		prefix = "user_"
	}
	for _, at := range testids.Times(s.Format, r, 100) {
		at = at.Truncate(time.Second)
		if at.Year() > 9999 || at.Year() < 1000 {
			continue
		}
		want := prefix + s.FirstID(at)
		column := expression
		if s.Encoding == spec.UUID {
			column, want = "lower(hex("+expression+"))", strings.ReplaceAll(want, "-", "")
		}
		got, err := row(t, db, "SELECT "+strings.ReplaceAll(column, "2026-11-17",
			at.Format(time.DateTime)))
		if err != nil || got[0] != want {
			t.Errorf("%s: the first ID of %v is %q, %v; want %s", table, at, got, err, want)
		}
	}
}

// The parser of sqlc refuses a comment between the lines of one literal.
func TestNoCommentInLiteral(t *testing.T) {
	t.Parallel()
	all := WithOthers(func(f []*spec.Format) (string, error) { return Postgres("x", f) })
	text := check.Must(Postgres(DefaultSchema, all))(t)
	broken := regexp.MustCompile(`(?m)^ *(\w+ )?'[^'\n]*' *--.*\n *'`)
	if found := broken.FindString("  'a' -- b\n  'c'"); found == "" {
		t.Fatal("the expression does not find an example")
	}
	if found := broken.FindString(text); found != "" {
		t.Errorf("a comment in a literal:\n%s", found)
	}
}
