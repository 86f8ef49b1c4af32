package sqltext

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/testserver"
)

func openMySQL(t *testing.T) (db *sql.DB, u *url.URL) {
	t.Helper()
	testserver.Long(t, "tests functions of a database")
	u = check.Must(url.Parse(testserver.MySQL(t)))(t)
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.DBName = "tcp", u.Host, u.User.Username(), u.Path[1:]
	config.Passwd, _ = u.User.Password()
	config.MultiStatements = false
	connector := check.Must(mysql.NewConnector(config))(t)
	db = sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db, u
}

func statements(file string) (list []string) {
	delimiter := ";"
	var statement strings.Builder
	for line := range strings.Lines(file) {
		if d, ok := strings.CutPrefix(line, "DELIMITER "); ok {
			delimiter = strings.TrimSpace(d)
			continue
		}
		if strings.HasPrefix(line, "--") {
			continue
		}
		statement.WriteString(line)
		if s := strings.TrimSpace(statement.String()); strings.HasSuffix(s, delimiter) {
			list = append(list, strings.TrimSuffix(s, delimiter))
			statement.Reset()
		}
	}
	return list
}

func example(file string) []string {
	var shown strings.Builder
	for line := range strings.Lines(file) {
		if s, ok := strings.CutPrefix(line, "--   "); ok && !strings.HasPrefix(s, "- ") {
			shown.WriteString(s)
		}
	}
	return statements(shown.String())
}

func execAll(t *testing.T, db *sql.DB, list []string) {
	t.Helper()
	for _, s := range list {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
	}
}

func row(t *testing.T, db *sql.DB, query string, args ...any) ([]string, error) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	columns := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range columns {
		into[i] = &columns[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
	}
	got := make([]string, len(names))
	for i, c := range columns {
		got[i] = c.String
		if !c.Valid {
			got[i] = "NULL"
		}
	}
	return got, rows.Err()
}

func mysqlStored(f tested, id string) string {
	switch f.typ {
	case "uuid":
		return "LOWER(INSERT(INSERT(INSERT(INSERT(HEX(" + id +
			"), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-'))"
	case "bytea":
		return `CONCAT('\\x', LOWER(HEX(` + id + ")))"
	}
	return id
}

func TestMySQLCodecs(t *testing.T) {
	db, _ := openMySQL(t)
	text := check.Must(MySQL(format.Ours()))(t)
	execAll(t, db, statements(text))
	execAll(t, db, statements(text)) // a second time
	r := rand.New(rand.NewPCG(5, 6))
	for _, f := range formats {
		query := f.here("SELECT " + mysqlStored(f, "F_parse(?)") + ", F_text(F_parse(?)), " +
			"DATE_FORMAT(F_time(F_parse(?)), '%Y-%m-%dT%H:%i:%s.%f')")
		v := readVectors(t, f.name)
		for _, v := range v.Valid {
			wants := []string{f.stored(v.Text), v.Canonical,
				strings.TrimSuffix(v.Time, "Z") + "000"}
			if len(v.Time) > 24 { // after the year 9999
				wants[2] = "NULL"
			}
			if got, err := row(t, db, query, v.Text, v.Text, v.Text); err != nil ||
				!slices.Equal(got, wants) {
				t.Errorf("%s %s: %q, %v; want %q", f.name, v.Text, got, err, wants)
			}
		}
		for _, v := range v.Invalid {
			got, err := row(t, db, f.here("SELECT F_parse(?)"), v.Text)
			var e *mysql.MySQLError
			want := map[string]string{"length": "wrong length", "symbol": "a character is none of",
				"check": "check value", "range": "larger than"}[v.Reason]
			if !errors.As(err, &e) || string(e.SQLState[:]) != "22018" ||
				!strings.Contains(e.Message, want) || want == "" {
				t.Errorf("%s %q (%s): %q, %v", f.name, v.Text, v.Note, got, err)
			}
		}
		for range manyIDs(t) / 100 {
			text := f.random(r)
			if got, err := row(t, db, query, text, text, text); err != nil ||
				got[0] != f.stored(text) || got[1] != text {
				t.Fatalf("%s: %s reads as %q, %v", f.name, text, got, err)
			}
		}
		if f.typ == "uuid" {
			text := f.random(r)
			uuid := f.stored(text)
			for _, s := range []string{uuid, strings.ToUpper(uuid)} {
				if got, err := row(t, db, query, s, s, s); err != nil || got[0] != uuid ||
					got[1] != text {
					t.Errorf("%s: %s reads as %q, %v", f.name, s, got, err)
				}
			}
			for _, s := range notUUIDs(uuid) {
				got, err := row(t, db, f.here("SELECT F_parse(?)"), s)
				var e *mysql.MySQLError
				if !errors.As(err, &e) || string(e.SQLState[:]) != "22018" {
					t.Errorf("%s: %q reads as %q, %v; want 22018", f.name, s, got, err)
				}
			}
		}
		for _, call := range []string{"text", "parse", "time", "first"} {
			if got, err := row(t, db, "SELECT "+f.name+"_"+call+"(NULL)"); err != nil ||
				got[0] != "NULL" {
				t.Errorf("%s_%s of NULL: %q, %v", f.name, call, got, err)
			}
		}
	}
	for _, call := range []string{"scru64_text(-1)", "scru64_text(4738381338321616896)",
		"uid60_text(-1)", "scru128_text('')", "euid_text('x')", "scru160_text(REPEAT('x', 21))"} {
		if got, err := row(t, db, "SELECT "+call); err == nil {
			t.Errorf("%s is %q", call, got)
		}
	}
}

func mysqlTimes(f tested) []time.Time {
	last := time.Date(9999, 12, 31, 23, 59, 58, 500e6, time.UTC)
	return slices.DeleteFunc(f.times(), func(at time.Time) bool { return at.After(last) })
}

func TestMySQLTimes(t *testing.T) {
	db, _ := openMySQL(t)
	execAll(t, db, statements(check.Must(MySQL(format.Ours()))(t)))
	execAll(t, db, []string{"SET time_zone = '+05:45'"})
	for _, f := range formats {
		for _, at := range mysqlTimes(f) {
			text := at.Format("2006-01-02 15:04:05.000000")
			got, err := row(t, db, f.here("SELECT F_text(F_first(?)), "+
				"F_first(F_time(F_first(?))) = F_first(?)"), text, text, text)
			inRange := !at.Before(f.epoch) && at.Before(f.last)
			if err != nil || got[0] != f.first(at) || inRange && got[1] != "1" {
				t.Errorf("%s at %s: %q, %v; want %s and 1", f.name, text, got, err, f.first(at))
			}
		}
	}
}

func TestMySQLExamples(t *testing.T) {
	db, _ := openMySQL(t)
	execAll(t, db, statements(check.Must(MySQL(format.Ours()))(t)))
	for _, f := range formats {
		list := example(check.Must(read("mysql", []string{f.name}, nil))(t))
		if len(list) < 4 {
			t.Fatalf("%s: %d statements", f.name, len(list))
		}
		execAll(t, db, list)
		table := "events_" + f.name
		want := []string{"2", "2", "1"}
		if f.typ == "bigint" {
			want = []string{"1", "1", "0"}
			if _, err := db.Exec("INSERT INTO " + table +
				" (id, what) VALUES (-1, '')"); err == nil {
				t.Errorf("%s takes -1", table)
			}
		}
		got, err := row(t, db, f.here("SELECT COUNT(*), SUM(e.at <=> F_time(e.id)), "+
			"MAX(e.at > UTC_TIMESTAMP() - INTERVAL 1 HOUR) FROM "+table+" AS e JOIN "+
			table+"_text AS t ON t.id = F_text(e.id)"))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", f.name, got, err, want)
		}
		for _, at := range mysqlTimes(f) {
			if at.Before(f.epoch) || !at.Before(f.last) {
				continue
			}
			execAll(t, db, []string{"DELETE FROM " + table, f.here("INSERT INTO " + table +
				" (id, what) VALUES (F_first('" + at.Format("2006-01-02 15:04:05.000000") +
				"'), '')")})
			if got, err := row(t, db, f.here("SELECT at = F_time(id) FROM "+table)); err != nil ||
				got[0] != "1" {
				t.Errorf("%s: the generated column of %v: %q, %v", f.name, at, got, err)
			}
		}
	}
}

func TestMySQLClient(t *testing.T) {
	_, u := openMySQL(t)
	name := testserver.Program(t, "mariadb", "mysql")
	for range 2 {
		cmd := exec.CommandContext(context.Background(), name, "-h", u.Hostname(), "-P", u.Port(),
			"-u", u.User.Username(), "--protocol=tcp", u.Path[1:])
		text := check.Must(MySQL([]*format.Format{gencore.Must(format.Lookup("euid")), gencore.Must(format.Lookup("scru64"))}))(t)
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

func openSQLite(t *testing.T) *sql.DB {
	t.Helper()
	testserver.Long(t, "tests functions of a database")
	db := check.Must(sql.Open("sqlite", ":memory:"))(t)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for range 2 {
		execAll(t, db, statements(check.Must(SQLite(format.Ours()))(t)))
	}
	return db
}

func literal(f tested, text string) string {
	s := f.stored(text)
	if f.typ == "bigint" {
		return s
	}
	return "X'" + strings.NewReplacer("-", "", `\x`, "").Replace(s) + "'"
}

func TestSQLite(t *testing.T) {
	db := openSQLite(t)
	r := rand.New(rand.NewPCG(7, 8))
	for _, f := range formats {
		table := "events_" + f.name
		stores := func(text, at string) {
			t.Helper()
			execAll(t, db, []string{"DELETE FROM " + table, "INSERT INTO " + table +
				" (id, what) VALUES (" + literal(f, text) + ", '')"})
			got, err := row(t, db, "SELECT t.id, t.at, typeof(e.id) FROM "+table+"_text AS t, "+
				table+" AS e")
			if err != nil || got[0] != text || at != "" && got[1] != at || got[2] == "text" {
				t.Errorf("%s: %q, %v; want %s and %s", f.name, got, err, text, at)
			}
		}
		for _, v := range readVectors(t, f.name).Valid {
			id := check.Must(f.Parse(v.Text))(t)
			at := strings.NewReplacer("T", " ", "Z", "").Replace(v.Time)
			if len(v.Time) > 24 {
				at = "NULL"
			}
			stores(id.String(), at)
		}
		for range manyIDs(t) / 50 {
			stores(f.random(r), "")
		}
		for _, at := range mysqlTimes(f) {
			if !at.Before(f.epoch) && at.Before(f.last) {
				id, _ := f.Parse(f.first(at))
				stores(f.first(at), id.Time().Format("2006-01-02 15:04:05.000"))
			}
		}
		for _, bad := range []string{"-1", "'x'", "X'00'", "9223372036854775807", "1.5", "NULL"} {
			if _, err := db.Exec("INSERT INTO " + table + " (id, what) VALUES (" + bad +
				", '')"); err == nil {
				t.Errorf("%s takes %s", table, bad)
			}
		}
		if f.typ == "bigint" {
			if _, err := db.Exec("INSERT INTO " + table + " (what) VALUES ('')"); err == nil {
				t.Errorf("%s makes an ID", table)
			}
			continue
		}
		execAll(t, db, []string{"DELETE FROM " + table})
		before := time.Now().Add(-time.Millisecond)
		for range 1000 {
			execAll(t, db, []string{"INSERT INTO " + table + " (what) VALUES ('')"})
		}
		rows := check.Must(db.Query("SELECT id FROM " + table + "_text"))(t)
		seen := 0
		for rows.Next() {
			var text string
			check.OK(t, rows.Scan(&text))
			id, err := f.Parse(text)
			if err != nil || id.Time().Before(before.Truncate(time.Millisecond)) ||
				id.Time().After(time.Now()) {
				t.Errorf("%s: %s at %v, %v", f.name, text, id, err)
			}
			for _, field := range id.Fields() {
				if f.name == "euid" && (field.Name == "version" ||
					field.Name == "extension_length") && field.String() != "0" {
					t.Errorf("%s has a %s of %s", text, field.Name, field)
				}
			}
			seen++
		}
		if seen != 1000 || rows.Err() != nil {
			t.Errorf("%s: %d IDs, %v", f.name, seen, rows.Err())
		}
	}
}

// An old SQLite refuses to make tables that it could not fill. With -bail it makes nothing.
func TestOldSQLite(t *testing.T) {
	program := testserver.Program(t, "sqlite3")
	version := check.Must(exec.Command(program, ":memory:", "SELECT sqlite_version()").Output())(t)
	_, minor, _ := strings.Cut(string(version), ".")
	minor, _, _ = strings.Cut(minor, ".")
	number := check.Must(strconv.Atoi(minor))(t)
	old := number < 42
	for _, bail := range []bool{true, false} {
		file := filepath.Join(t.TempDir(), "db")
		load := exec.Command(program, file)
		if bail {
			load.Args = append(load.Args, "-bail")
		}
		load.Stdin = strings.NewReader(check.Must(SQLite(format.Ours()))(t))
		output, err := load.CombinedOutput()
		if (err != nil) != old || old != strings.Contains(string(output),
			"needs SQLite 3.42 or later") {
			t.Errorf("SQLite %s: %v\n%s", version, err, output)
		}
		query := "SELECT group_concat(name) FROM sqlite_master WHERE type = 'table'"
		if bail {
			query += " OR type = 'view'"
		}
		made, err := exec.Command(program, file, query).Output()
		if err != nil || old == strings.Contains(string(made), "events_scru128") ||
			old && bail && strings.TrimSpace(string(made)) != "" {
			t.Errorf("SQLite %s: made %s, %v", version, made, err)
		}
	}
}
