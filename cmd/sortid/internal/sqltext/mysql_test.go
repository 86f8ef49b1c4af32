package sqltext

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
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
	"github.com/sortid/sortid/internal/spec"
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

var bodyQuote = regexp.MustCompile(`\$\w*\$`)

// statements returns the statements of a file. A line ends a statement with the delimiter, unless
// it is in a body between $$.
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
		s := strings.TrimSpace(statement.String())
		if strings.HasSuffix(s, delimiter) && len(bodyQuote.FindAllString(s, -1))%2 == 0 {
			list = append(list, strings.TrimSpace(strings.TrimSuffix(s, delimiter)))
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
	text := check.Must(MySQL(spec.Ours()))(t)
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
		for range manyIDs(t) / 20 {
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
	execAll(t, db, statements(check.Must(MySQL(spec.Ours()))(t)))
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

// IDs at a given time have this time, are unique, and are random in all other bits.
func TestMySQLMakesIDsAtGivenTime(t *testing.T) {
	db, _ := openMySQL(t)
	execAll(t, db, statements(check.Must(MySQL(spec.Ours()))(t)))
	const n = 2000
	for _, name := range []string{"scru128", "scru160", "euid"} {
		f := formatOf(name)
		for _, at := range []string{"1970-01-01 00:00:00.001", "2020-02-29 23:59:59.9996",
			"2100-01-01 00:00:00"} {
			got, err := row(t, db, fmt.Sprintf(f.here("SELECT COUNT(DISTINCT id), "+
				"SUM(F_time(id) = F_time(F_first('%s'))), GROUP_CONCAT(HEX(id) SEPARATOR '') "+
				"FROM (SELECT F_new('%s') AS id FROM seq_1_to_%d) AS ids"), at, at, n))
			if err != nil || got[0] != fmt.Sprint(n) || got[1] != got[0] {
				t.Errorf("%s at %s: %s are different, %s have the time, %v", name, at, got[0], got[1], err)
				continue
			}
			checkRandomBits(t, f, check.Must(hex.DecodeString(got[2]))(t))
		}
		for _, at := range []string{"1970-01-01 00:00:00", "1969-12-31", "9999-12-31"} {
			got, err := row(t, db, f.here("SELECT F_new('"+at+"')"))
			var e *mysql.MySQLError
			if refuses := errors.As(err, &e) && string(e.SQLState[:]) == "22008"; refuses !=
				(at < "1971" || name == "euid") {
				t.Errorf("%s at %s: %q, %v", name, at, got, err)
			}
		}
		if got, err := row(t, db, f.here("SELECT F_new(NULL)")); err != nil || got[0] != "NULL" {
			t.Errorf("%s_new(NULL): %q, %v; want NULL", name, got, err)
		}
	}

	// The rules in the comments of the other formats make unique IDs.
	for name, call := range map[string]string{"scru64": "scru64_new(5, 8, UTC_TIMESTAMP())",
		"uid60": "uid60_new(UTC_TIMESTAMP())"} {
		f := formatOf(name)
		_, err := row(t, db, "SELECT "+call)
		var e *mysql.MySQLError
		if !errors.As(err, &e) || string(e.SQLState[:]) != "0A000" {
			t.Errorf("%s: %v, want 0A000", call, err)
		}
		comment := check.Must(row(t, db, "SELECT ROUTINE_COMMENT FROM information_schema.ROUTINES "+
			"WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_NAME = '"+name+"_new'"))(t)[0]
		_, rule, _ := strings.Cut(comment, " t: ")
		rule, _, _ = strings.Cut(rule, ". ")
		rule = strings.NewReplacer("node_id", "5", "node_bits", "8").Replace(
			strings.TrimSuffix(rule, "."))
		got, err := row(t, db, f.here("SELECT COUNT(DISTINCT id), SUM(F_time(id) = F_time(F_first(t))) "+
			"FROM (SELECT t, "+rule+" AS id FROM (SELECT TIMESTAMP'2020-02-29 00:00:00' + "+
			"INTERVAL seq DIV 100 * 7000 MICROSECOND AS t FROM seq_1_to_10000) AS old) AS ids"))
		if err != nil || got[0] != "10000" || got[1] != "10000" {
			t.Errorf("%s: of 10000, %q are different and have the time, %v", rule, got, err)
		}
	}
}

// checkRandomBits checks that each bit behind the time is 1 in about half of the IDs, or is 0 in
// all of them if the format says so.
func checkRandomBits(t *testing.T, f tested, ids []byte) {
	t.Helper()
	n := len(ids) / f.Size
	from := map[string]int{"scru128": 48, "scru160": 48, "euid": 42}[f.name]
	for i := from; i < 8*f.Size; i++ {
		ones := 0
		for id := range slices.Chunk(ids, f.Size) {
			ones += int(id[i/8] >> (7 - i%8) & 1)
		}
		least, most := n*2/5, n*3/5
		if f.name == "scru160" && i == 48 || f.name == "euid" && 57 <= i && i < 64 {
			least, most = 0, 0
		}
		if ones < least || ones > most {
			t.Errorf("%s: bit %d is 1 in %d of %d IDs", f.name, i, ones, n)
		}
	}
}

func TestMySQLExamples(t *testing.T) {
	db, _ := openMySQL(t)
	execAll(t, db, statements(check.Must(MySQL(spec.Ours()))(t)))
	for _, f := range formats {
		list := example(check.Must(read("mysql", []string{f.name}, nil, nil, nil))(t))
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
		text := check.Must(MySQL([]*spec.Format{gencore.Must(spec.Lookup("euid")), gencore.Must(spec.Lookup("scru64"))}))(t)
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// A dump has the functions only with --routines.
func TestMySQLDump(t *testing.T) {
	db, u := openMySQL(t)
	execAll(t, db, statements(check.Must(MySQL(spec.Ours()))(t)))
	other, v := openMySQL(t)
	server := []string{"-h", u.Hostname(), "-P", u.Port(), "-u", u.User.Username(), "--protocol=tcp"}
	program := testserver.Program(t, "mariadb-dump", "mysqldump")
	client := testserver.Program(t, "mariadb", "mysql")
	for _, routines := range []bool{false, true} {
		args := append(slices.Clone(server), u.Path[1:])
		if routines {
			args = append(args, "--routines")
		}
		dump := output(t, "", program, args...)
		output(t, dump, client, append(slices.Clone(server), v.Path[1:])...)
		got, err := row(t, other, "SELECT scru128_text(scru128_parse('0372ijojuxuhjsfkeryi2mrtm'))")
		if (err == nil) != routines || routines && got[0] != "0372ijojuxuhjsfkeryi2mrtm" {
			t.Errorf("after a dump, with --routines: %v: %q, %v", routines, got, err)
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
		execAll(t, db, statements(check.Must(SQLite(spec.Ours()))(t)))
	}
	return db
}

// IDs at a given time, as the file's comments say, have this time, are unique, and are random in
// all other bits.
func TestSQLiteMakesIDsAtGivenTime(t *testing.T) {
	db := openSQLite(t)
	for _, name := range []string{"scru128", "scru160", "euid"} {
		f := formatOf(name)
		_, expression, _ := strings.Cut(check.Must(read("sqlite", []string{name}, nil, nil, nil))(t),
			"A new ID of this time is")
		expression, _, _ = strings.Cut(expression, ".\n")
		at := time.Date(2020, 2, 29, 23, 59, 59, 999e6, time.UTC)
		got, err := row(t, db, fmt.Sprintf("WITH RECURSIVE n(n, ms) AS (SELECT 1, %d "+
			"UNION ALL SELECT n + 1, ms FROM n WHERE n < 2000), ids AS MATERIALIZED (SELECT %s AS id FROM n) "+
			"SELECT COUNT(DISTINCT id), MIN(typeof(id)), GROUP_CONCAT(hex(id), '') FROM ids", at.UnixMilli(),
			strings.TrimPrefix(expression, "\n--")))
		if err != nil || got[0] != "2000" || got[1] != "blob" {
			t.Errorf("%s: %s of 2000 are different, a %s, %v", name, got[0], got[1], err)
			continue
		}
		ids := check.Must(hex.DecodeString(got[2]))(t)
		checkRandomBits(t, f, ids)
		for id := range slices.Chunk(ids, f.Size) {
			if id, err := f.FromBytes(id); err != nil || !f.Time(&id).Equal(at) {
				t.Fatalf("%s: %v, %v; want an ID of %v", name, id, err, at)
			}
		}
	}
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
			stores(textOf(f.Format, id), at)
		}
		for range manyIDs(t) / 10 {
			stores(f.random(r), "")
		}
		for _, at := range mysqlTimes(f) {
			if !at.Before(f.epoch) && at.Before(f.last) {
				id, _ := f.Parse(f.first(at))
				stores(f.first(at), f.Time(&id).Format("2006-01-02 15:04:05.000"))
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
			id, err := check.Must(format.Lookup(f.name))(t).Parse(text)
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
		load.Stdin = strings.NewReader(check.Must(SQLite(spec.Ours()))(t))
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

// The functions load and work in sessions with any sql_mode.
func TestMySQLModes(t *testing.T) {
	text := statements(check.Must(MySQL(append(spec.Ours(), otherFormats(MySQL)...)))(t))
	for _, mode := range []string{"ORACLE", "ANSI,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH", ""} {
		db, _ := openMySQL(t)
		set := []string{"SET SESSION sql_mode = '" + mode + "'"}
		execAll(t, db, set)
		execAll(t, db, text)
		execAll(t, db, set)
		const id = "0372ijojuxuhjsfkeryi2mrtm"
		got, err := row(t, db, "SELECT scru128_text(scru128_parse('"+id+"')), "+
			"ulid_time('01ARZ3NDEKTSV4RRFFQ69G5FAV')")
		if err != nil || got[0] != id || !strings.HasPrefix(got[1], "2016-07-30 23:54:10.259") {
			t.Errorf("sql_mode %q: %q, %v", mode, got, err)
		}
	}
}

// The server refuses functions of a user without SUPER, as the header says.
func TestMySQLNeedsSuper(t *testing.T) {
	server := testserver.StartMySQL(t, "log-bin=bin")
	admin := check.Must(url.Parse(server.URL))(t)
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.DBName = "tcp", admin.Host, "root", "test"
	root := sql.OpenDB(check.Must(mysql.NewConnector(config))(t))
	t.Cleanup(func() { root.Close() })
	execAll(t, root, []string{"CREATE USER plain@'127.0.0.1'", "CREATE USER plain@localhost",
		"GRANT ALL ON test.* TO plain@'127.0.0.1'", "GRANT ALL ON test.* TO plain@localhost"})
	config = config.Clone()
	config.User = "plain"
	plain := sql.OpenDB(check.Must(mysql.NewConnector(config))(t))
	t.Cleanup(func() { plain.Close() })
	const create = "CREATE FUNCTION f() RETURNS INT DETERMINISTIC NO SQL RETURN 1"
	if _, err := plain.ExecContext(t.Context(), create); err == nil ||
		!strings.Contains(err.Error(), "Error 1419") {
		t.Errorf("log_bin_trust_function_creators is 0: %v, want error 1419", err)
	}
	execAll(t, root, []string{"SET GLOBAL log_bin_trust_function_creators = 1"})
	execAll(t, plain, []string{create})
}
