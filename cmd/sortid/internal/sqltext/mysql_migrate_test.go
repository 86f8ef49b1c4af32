package sqltext

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
)

// As in TestPostgresMigratesWhileOthersWrite. MariaDB refuses a statement that does not hold what
// its ALGORITHM and LOCK promise.
func TestMySQLMigratesWhileOthersWrite(t *testing.T) {
	m := startMySQLMigration(t, oldRows(t, 10_000))
	m.waits = true
	for _, s := range m.steps {
		if strings.HasPrefix(s.name, "7. ") { // drops the old IDs
			m.forgets.Store(true)
		}
		m.do(s.name, s.do)
	}
	m.check()
	got, err := m.row(`SELECT COUNT(*) FROM events
		WHERE ABS(TIMESTAMPDIFF(MICROSECOND, scru128_time(id), created_at)) > 1000000
		  AND what LIKE 'old %'`)
	if err != nil || got[0] != "0" {
		t.Errorf("%s old rows have IDs of other times, %v", got, err)
	}
}

func TestMySQLMigrationGoesBack(t *testing.T) {
	m := startMySQLMigration(t, 2000)
	before := m.definitions()
	for _, s := range m.steps[:6] {
		m.do(s.name, s.do)
	}
	m.forgets.Store(true)
	for _, s := range slices.Backward(m.steps[:6]) {
		m.do("undo "+s.name, s.goBack)
	}
	if after := m.definitions(); after != before {
		t.Errorf("steps 1 to 6, undone, leave\n%s\nwant\n%s", after, before)
	}
	m.check()
}

type mysqlMigration struct {
	programs
	conn  *sql.Conn
	steps []step
	waits bool // statements must wait for a program's transaction
}

func startMySQLMigration(t *testing.T, rows int) *mysqlMigration {
	t.Parallel()
	db, _ := openMySQL(t)
	db.SetMaxOpenConns(0)
	execAll(t, db, statements(check.Must(MySQL([]*format.Format{
		gencore.Must(format.Lookup("scru128"))}))(t)))
	tables, steps := migration(t, "MariaDB")
	execAll(t, db, tables)
	m := &mysqlMigration{conn: check.Must(db.Conn(t.Context()))(t), steps: steps,
		programs: programs{t: t, db: db, rows: rows, sql: programSQL{
			touch:  "UPDATE events SET what = what WHERE id >= UNHEX(SHA1(RAND())) ORDER BY id LIMIT 1",
			add:    "INSERT INTO events (what) VALUES (?) RETURNING HEX(id)",
			note:   "INSERT INTO notes (event_id, note) VALUES (UNHEX(?), ?)",
			remove: "DELETE FROM events WHERE id = UNHEX(?)",
			rejected: func(err error) bool {
				return number(err) == 1048 || number(err) == 1452
			},
			deadlock: func(err error) bool { return number(err) == 1213 },
		}}}
	t.Cleanup(func() { m.conn.Close() })
	execAll(t, db, []string{fmt.Sprintf(`INSERT INTO events (created_at, what)
		SELECT UTC_TIMESTAMP(3) - INTERVAL seq MINUTE, CONCAT('old ', seq) FROM seq_1_to_%d`, m.rows),
		"INSERT INTO notes (event_id, note) SELECT id, what FROM events"})
	m.start()
	return m
}

// number returns the number of a server's error.
func number(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// refused reports whether a statement did not get its locks, or was the victim of a deadlock.
func refused(err error) bool { return number(err) == 1205 || number(err) == 1213 }

var (
	online  = regexp.MustCompile(`ALGORITHM=INSTANT$|WAIT 1\s(?s:.*)ALGORITHM=INPLACE, LOCK=NONE$`)
	mayWait = regexp.MustCompile(`^(ALTER TABLE|LOCK TABLES|CREATE TRIGGER|DROP TRIGGER) `)
)

// do runs statements, and fails if one of them can block programs.
func (m *mysqlMigration) do(name string, statements []string) {
	m.t.Helper()
	if len(statements) == 0 {
		m.t.Fatalf("%s: no statements", name)
	}
	locked := false
	for _, s := range statements {
		begin := time.Now()
		alter := strings.HasPrefix(s, "ALTER TABLE")
		if alter && !online.MatchString(s) || locked && strings.Contains(s, "INPLACE") {
			m.t.Fatalf("%s: %s\ncan block others for long", name, s)
		}
		if m.waits && mayWait.MatchString(s) && !locked {
			m.mustNotBlock(name, s)
		}
		var err error
		if !check.Soon(func() bool {
			var n sql.NullInt64
			if strings.HasPrefix(s, "SELECT") {
				err = m.conn.QueryRowContext(context.Background(), s).Scan(&n)
			} else {
				_, err = m.conn.ExecContext(context.Background(), s)
			}
			if n.Int64 > 0 {
				m.t.Errorf("%s: %s is %d, want 0", name, s, n.Int64)
			}
			return !refused(err)
		}) || err != nil {
			m.t.Fatalf("%s: %v\n%s", name, err, s)
		}
		locked = strings.HasPrefix(s, "LOCK TABLES") || locked && !strings.HasPrefix(s, "UNLOCK")
		m.t.Logf("%s: %.60q in %v", name, s, time.Since(begin).Round(time.Millisecond))
		if m.t.Failed() {
			m.t.FailNow()
		}
	}
}

// mustNotBlock runs a statement while a program's transaction makes it fail. The other programs
// must continue.
func (m *mysqlMigration) mustNotBlock(name, statement string) {
	m.t.Helper()
	tx := check.Must(m.db.Begin())(m.t)
	defer tx.Rollback()
	for _, table := range []string{"events", "notes"} {
		var n int
		check.OK(m.t, tx.QueryRow("SELECT COUNT(*) FROM (SELECT 1 FROM "+table+" LIMIT 1) AS x").Scan(&n))
	}
	done := make(chan error, 1)
	go func() {
		_, err := m.conn.ExecContext(context.Background(), statement)
		done <- err
	}()
	if !m.continues() {
		m.t.Errorf("%s: %s\nwaits for an open transaction, and stops other programs", name, statement)
		check.OK(m.t, tx.Rollback())
	}
	if err := <-done; !refused(err) {
		m.t.Errorf("%s: while a transaction is open, %s\n%v; want error 1205", name, statement, err)
	}
}

func (m *mysqlMigration) row(query string) ([]string, error) { return row(m.t, m.db, query) }

func (m *mysqlMigration) definitions() string {
	m.t.Helper()
	text := ""
	for _, query := range []string{"SHOW CREATE TABLE events", "SHOW CREATE TABLE notes",
		"SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()",
		"SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()"} {
		text += strings.Join(check.Must(m.row(query))(m.t), "\n") + "\n"
	}
	return regexp.MustCompile(` AUTO_INCREMENT=\d+`).ReplaceAllString(text, "")
}
