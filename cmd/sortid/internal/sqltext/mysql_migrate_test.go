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

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
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

// After an interruption of any statement, its step can run again. The swap continues instead.
func TestMySQLMigrationSurvivesInterruptions(t *testing.T) {
	m := startMySQLMigration(t, 2000)
	before := m.definitions()
	for _, s := range m.steps[:5] {
		m.survive(s.name, s.do)
	}
	for _, s := range slices.Backward(m.steps[:5]) {
		m.survive("undo "+s.name, s.goBack)
	}
	if after := m.definitions(); after != before {
		t.Fatalf("steps 1 to 5, undone, leave\n%s\nwant\n%s", after, before)
	}
	for _, s := range m.steps[:5] {
		m.do(s.name, s.do)
	}
	m.stop()
	swap := m.steps[5]
	m.survivesSwap(swap.do, "id", "old_id")
	m.survivesSwap(swap.goBack, "id", "new_id")
	m.survivesSwap(swap.do, "id", "old_id")
	m.survive(m.steps[6].name, m.steps[6].do)
	m.check()
}

func (m *mysqlMigration) survive(name string, statements []string) {
	m.t.Helper()
	for i, s := range statements {
		m.interrupt(name, s)
		m.do("again "+name, statements[:i+1])
		check.Must(m.conn.ExecContext(m.t.Context(), "UNLOCK TABLES"))(m.t) // as a lost connection does
		m.move()
	}
}

// interrupt ends the session of a statement while it runs, if it does not end before.
func (m *mysqlMigration) interrupt(name, statement string) {
	m.t.Helper()
	tx := check.Must(m.db.Begin())(m.t) // lets many statements wait
	defer tx.Rollback()
	for _, table := range []string{"events WHERE what", "notes WHERE note"} {
		check.Must(tx.Exec("SELECT id FROM " + table + " = 'old 1000' FOR UPDATE"))(m.t)
	}
	conn := check.Must(m.db.Conn(m.t.Context()))(m.t)
	defer conn.Close()
	var id int
	check.OK(m.t, conn.QueryRowContext(m.t.Context(), "SELECT CONNECTION_ID()").Scan(&id))
	done := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(context.Background(), statement)
		done <- err
	}()
	check.Soon(func() bool {
		if len(done) > 0 {
			return true
		}
		n := check.Must(m.row(fmt.Sprintf(`SELECT COUNT(*) FROM information_schema.PROCESSLIST
			WHERE ID = %d AND (STATE LIKE 'Waiting%%' OR %t)`, id,
			strings.HasPrefix(statement, "CALL fill"))))(m.t)
		return n[0] == "1"
	})
	m.db.Exec(fmt.Sprintf("KILL %d", id))
	m.t.Logf("%s: %.60q is interrupted: %v", name, statement, <-done)
}

// survivesSwap loses the connection after each statement of a swap. A program that then adds or moves
// a note gets an error, or the note has the IDs of the right event. The programs know the events by
// either of two IDs.
func (m *mysqlMigration) survivesSwap(statements []string, id, other string) {
	m.t.Helper()
	for _, s := range statements[1 : len(statements)-1] {
		conn := check.Must(m.db.Conn(m.t.Context()))(m.t)
		for _, s := range []string{statements[0], s, "UNLOCK TABLES"} {
			check.Must(conn.ExecContext(m.t.Context(), s))(m.t)
		}
		check.OK(m.t, conn.Close())
		for _, known := range []string{id, other} {
			m.moves++
			from, to := fmt.Sprintf("'old %d'", 1999-m.moves), fmt.Sprintf("'old %d'", 999-m.moves)
			_, err1 := m.db.Exec("UPDATE notes SET event_id = (SELECT " + known +
				" FROM events WHERE what = " + to + "), note = " + to + " WHERE note = " + from)
			_, err2 := m.db.Exec("INSERT INTO notes (event_id, note) SELECT " + known +
				", what FROM events WHERE what = " + to)
			m.t.Logf("after %.60q, with %s: %v, %v", s, known, err1, err2)
		}
	}
	got := check.Must(m.row(`SELECT COUNT(*) FROM notes LEFT JOIN events ON events.id = event_id
		WHERE NOT (what <=> note AND ` + other + ` <=> ` +
		strings.Replace(other, "_id", "_event_id", 1) + ")"))(m.t)
	if got[0] != "0" {
		m.t.Errorf("after interruptions of the swap, %s notes have wrong events", got[0])
	}
}

// Stale statistics mislead the optimizer, but fill still reads, and so locks, only its batches.
func TestMySQLFillReadsOnlyItsBatches(t *testing.T) {
	m := startMySQLMigration(t, 10_000)
	m.stop()
	for _, s := range m.steps[:4] {
		before := m.reads()
		m.do(s.name, s.do)
		if n := m.reads() - before; n > 30*m.rows {
			t.Errorf("%s reads %d rows, for %d", s.name, n, m.rows)
		}
	}
}

func TestMySQLMigrationFindsWrongParents(t *testing.T) {
	m := startMySQLMigration(t, 2000)
	for _, s := range m.steps[:4] {
		m.do(s.name, s.do)
	}
	execAll(t, m.db, []string{"DROP TRIGGER notes_new_event_id_update",
		"UPDATE notes SET new_event_id = (SELECT MIN(new_id) FROM events) WHERE note = 'old 1999'"})
	key := m.steps[4]
	last := len(key.do) - 1
	m.do(key.name, key.do[:last])
	if got := check.Must(m.row(key.do[last]))(t); got[0] == "0" {
		t.Errorf("%s\nfinds no wrong parent", key.do[last])
	}
}

// The list of docs/migration.md names everything that the steps would lose, or cannot change.
func TestMySQLMigrationListsWhatItDoesNotHandle(t *testing.T) {
	t.Parallel()
	db, _ := openMySQL(t)
	tables, _ := migration(t, "MariaDB")
	for _, object := range []struct{ make, name, advice string }{
		{"ALTER TABLE events ADD KEY x (created_at, id)", "index x of events", "with the new column"},
		{"ALTER TABLE notes ADD UNIQUE x (event_id, note)", "index x of notes", "with the new column"},
		{"ALTER TABLE events ADD CONSTRAINT x CHECK (id <> what)", "constraint x of events", "DROP it"},
		{"ALTER TABLE notes ADD CONSTRAINT x CHECK (event_id <> note)", "constraint x of notes",
			"DROP it"},
		{`CREATE TABLE other (id BINARY(16), CONSTRAINT x FOREIGN KEY (id) REFERENCES events (id))`,
			"foreign key x of other", "treat its table as notes"},
		{`ALTER TABLE events ADD parent BINARY(16),
			ADD CONSTRAINT x FOREIGN KEY (parent) REFERENCES events (id)`,
			"foreign key x of events", "not for this"},
		{`ALTER TABLE notes DROP FOREIGN KEY notes_event,
			ADD CONSTRAINT x FOREIGN KEY (event_id) REFERENCES events (id)`,
			"foreign key x of notes", "options"},
		{"ALTER TABLE events ADD x VARCHAR(32) AS (HEX(id)) VIRTUAL", "column x of events",
			"not for this"},
		{"ALTER TABLE events ADD x VARCHAR(32) AS (LEFT(what, 1)) STORED", "column x of events",
			"not for this"},
		{"ALTER TABLE notes ADD FULLTEXT x (note)", "index x of notes", "not for this"},
		{"ALTER TABLE events ADD g POINT NOT NULL, ADD SPATIAL x (g)", "index x of events",
			"not for this"},
		{"ALTER TABLE notes ADD new_event_id INT", "column new_event_id of notes", "rename it"},
		{"ALTER TABLE notes DROP FOREIGN KEY notes_event, MODIFY event_id CHAR(36)",
			"column event_id of notes", "only for BINARY(16)"},
		{"ALTER TABLE notes DROP PRIMARY KEY, ADD PRIMARY KEY (note, id), ADD KEY (id)",
			"index PRIMARY of notes", "primary key (id)"},
		{"ALTER TABLE notes ADD SYSTEM VERSIONING", "table notes", "not for this"},
		{"ALTER TABLE notes ROW_FORMAT=COMPRESSED", "table notes", "not for this"},
	} {
		execAll(t, db, []string{"DROP TABLE IF EXISTS other, notes, events"})
		execAll(t, db, append(tables[:2:2], object.make))
		got := queryPairs(t, db, tables[3])
		if len(got) != 1 || got[0][0] != object.name || !strings.Contains(got[0][1], object.advice) {
			t.Errorf("%s: the list is %q; want %s: %s", object.make, got, object.name, object.advice)
		}
	}
}

// Before the steps, a query counts rows without a time or an event. fill does not try them forever.
func TestMySQLMigrationRefusesRowsWithoutATimeOrAnEvent(t *testing.T) {
	m := startMySQLMigration(t, 2000)
	m.stop()
	tables, _ := migration(t, "MariaDB")
	run := func(statement string) error {
		_, err := m.conn.ExecContext(t.Context(), statement)
		return err
	}
	counts := []string{check.Must(m.row(tables[2]))(t)[0]}
	for _, s := range []string{"SET foreign_key_checks = 0",
		"INSERT INTO notes (event_id, note) VALUES (RANDOM_BYTES(16), 'alone')",
		"SET foreign_key_checks = 1", "ALTER TABLE events MODIFY created_at DATETIME(3)",
		"INSERT INTO events (created_at, what) VALUES (NULL, 'never'), ('9000-01-01', 'late')"} {
		check.OK(t, run(s))
	}
	counts = append(counts, check.Must(m.row(tables[2]))(t)[0])
	if !slices.Equal(counts, []string{"0", "3"}) {
		t.Errorf("%s is %q; want 0, and 3 with bad rows", tables[2], counts)
	}
	for _, s := range m.steps[:2] {
		m.do(s.name, s.do)
	}
	const find = "SELECT * FROM events WHERE new_id IS NULL"
	if err := run(m.steps[2].do[0]); err == nil || !strings.Contains(err.Error(), find) {
		t.Errorf("%s: %v; want an error with a query that finds the row", m.steps[2].do[0], err)
	}
	check.OK(t, run("UPDATE events SET created_at = UTC_TIMESTAMP(3) WHERE what = 'never'"))
	for _, s := range m.steps[2:4] {
		m.do(s.name, s.do)
	}
	key := m.steps[4]
	last := len(key.do) - 1
	m.do(key.name, key.do[:last])
	if got := check.Must(m.row(key.do[last]))(t); got[0] != "1" {
		t.Errorf("%s is %s for a note without an event, want 1", key.do[last], got[0])
	}
}

// As in TestPostgresMigrationKeepsNull.
func TestMySQLMigrationKeepsNull(t *testing.T) {
	m := startMySQLMigration(t, 2000)
	m.stop()
	execAll(t, m.db, []string{"ALTER TABLE notes DROP FOREIGN KEY notes_event, MODIFY event_id BINARY(16)",
		`ALTER TABLE notes ADD CONSTRAINT notes_event
			FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE SET NULL`})
	gone := 0
	lose := func(columns ...string) {
		execAll(t, m.db, []string{fmt.Sprintf("DELETE FROM events WHERE what = 'old %d'", 1900+gone),
			fmt.Sprintf("UPDATE notes SET event_id = NULL WHERE note = 'old %d'", 1901+gone)})
		gone += 2
		for _, column := range columns {
			got := check.Must(m.row("SELECT COUNT(*) FROM notes WHERE " + column + " IS NULL"))(t)
			if got[0] != fmt.Sprint(gone) {
				t.Fatalf("%s is NULL in %s notes, want %d", column, got[0], gone)
			}
		}
	}
	nullable := strings.NewReplacer("CASCADE", "SET NULL", " NOT NULL DEFAULT ''", "")
	do := func(name string, statements []string) {
		var list []string
		for _, s := range statements {
			if !strings.Contains(s, "notes ALTER COLUMN") {
				list = append(list, nullable.Replace(s))
			}
		}
		m.do(name, list)
	}
	for _, s := range m.steps[:5] {
		do(s.name, s.do)
	}
	lose("event_id", "new_event_id")
	do(m.steps[5].name, m.steps[5].do)
	lose("event_id", "old_event_id")
	do("undo "+m.steps[5].name, m.steps[5].goBack)
	lose("event_id", "new_event_id")
}

// With the advice of the list, other indexes have the new IDs at the end.
func TestMySQLMigrationKeepsOtherIndexes(t *testing.T) {
	m := startMySQLMigration(t, 2000)
	execAll(t, m.db, []string{"ALTER TABLE events ADD KEY events_time (created_at, id)",
		"ALTER TABLE notes ADD UNIQUE notes_once (event_id, id)"})
	for _, s := range m.steps[:5] {
		m.do(s.name, s.do)
	}
	m.do("before step 6", []string{
		"ALTER TABLE events WAIT 1 ADD KEY events_new_time (created_at, new_id), ALGORITHM=INPLACE, LOCK=NONE",
		"ALTER TABLE notes WAIT 1 ADD UNIQUE notes_new_once (new_event_id, id), ALGORITHM=INPLACE, LOCK=NONE",
	})
	m.do(m.steps[5].name, m.steps[5].do)
	m.do("before step 7", []string{
		"ALTER TABLE events WAIT 1 DROP KEY events_time, ALGORITHM=INPLACE, LOCK=NONE",
		"ALTER TABLE notes WAIT 1 DROP KEY notes_once, ALGORITHM=INPLACE, LOCK=NONE"})
	m.forgets.Store(true)
	m.do(m.steps[6].name, m.steps[6].do)
	m.check()
	got := m.definitions()
	for _, want := range []string{"KEY `events_new_time` (`created_at`,`id`)",
		"UNIQUE KEY `notes_new_once` (`event_id`,`id`)"} {
		if !strings.Contains(got, want) {
			t.Errorf("the tables at the end are\n%s\nwant %s", got, want)
		}
	}
}

// The steps also work for two child tables, if the event_id of one can be NULL.
func TestMySQLMigratesTwoChildTables(t *testing.T) {
	m := startMySQLMigration(t, 2000)
	execAll(t, m.db, []string{`CREATE TABLE tags (
			id BIGINT AUTO_INCREMENT PRIMARY KEY, event_id BINARY(16), tag VARCHAR(100),
			KEY tags_event_id (event_id), CONSTRAINT tags_event
			FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE SET NULL)`,
		"INSERT INTO tags (event_id, tag) SELECT id, what FROM events WHERE what LIKE 'old %'",
		"INSERT INTO tags (event_id) VALUES (NULL)"})
	tables, _ := migration(t, "MariaDB")
	got := queryPairs(t, m.db, tables[3])
	if len(got) != 1 || got[0][0] != "foreign key tags_event of tags" {
		t.Errorf("the list is %q, want only the foreign key of tags", got)
	}
	tags := strings.NewReplacer("notes", "tags", "CASCADE", "SET NULL", " NOT NULL DEFAULT ''", "")
	for _, s := range m.steps {
		var list []string
		for _, statement := range s.do {
			copied := tags.Replace(statement)
			switch {
			case strings.HasPrefix(statement, "LOCK TABLES"):
				list = append(list, statement+", tags WRITE")
			case copied == statement || strings.Contains(copied, "tags ALTER COLUMN"):
				list = append(list, statement)
			default:
				list = append(list, statement, copied)
			}
		}
		m.forgets.Store(strings.HasPrefix(s.name, "7. ")) // drops the old IDs
		m.do(s.name, list)
	}
	m.check()
	if got := check.Must(m.row(`SELECT COUNT(*), SUM(what <=> tag) FROM tags
		LEFT JOIN events ON events.id = event_id`))(t); got[0] != "2001" || got[1] != got[0] {
		t.Errorf("of %s tags, %s have the events of before, want 2001 of 2001", got[0], got[1])
	}
}

// queryPairs returns the rows of a query of two columns.
func queryPairs(t *testing.T, db *sql.DB, query string) (list [][2]string) {
	t.Helper()
	rows := check.Must(db.Query(query))(t)
	defer rows.Close()
	for rows.Next() {
		var r [2]string
		check.OK(t, rows.Scan(&r[0], &r[1]))
		list = append(list, r)
	}
	check.OK(t, rows.Err())
	return list
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
	execAll(t, db, statements(check.Must(MySQL([]*spec.Format{
		gencore.Must(spec.Lookup("scru128"))}))(t)))
	tables, steps := migration(t, "MariaDB")
	execAll(t, db, tables[:2])
	if list := queryPairs(t, db, tables[3]); len(list) > 0 {
		t.Fatalf("the steps do not handle their example: %q", list)
	}
	execAll(t, db, []string{"INSERT INTO events (what) VALUES ('')",
		"INSERT INTO notes (event_id, note) SELECT id, what FROM events",
		"ANALYZE TABLE events, notes PERSISTENT FOR ALL", "DELETE FROM events"}) // stale statistics
	m := &mysqlMigration{conn: check.Must(db.Conn(t.Context()))(t), steps: steps,
		programs: programs{t: t, db: db, rows: rows, sql: programSQL{
			touch:    "UPDATE events SET what = what WHERE id >= UNHEX(SHA1(RAND())) ORDER BY id LIMIT 1",
			add:      "INSERT INTO events (what) VALUES (?) RETURNING HEX(id)",
			note:     "INSERT INTO notes (event_id, note) VALUES (UNHEX(?), ?)",
			remove:   "DELETE FROM events WHERE id = UNHEX(?)",
			rejected: func(err error) bool { return number(err) == 1452 },
			// docs/migration.md says that a prepared INSERT can get 1146 while a trigger is made.
			deadlock: func(err error) bool { return number(err) == 1213 || number(err) == 1146 },
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
		if !locked {
			m.move()
		}
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

// reads returns how many rows the steps' session has read.
func (m *mysqlMigration) reads() (n int) {
	m.t.Helper()
	check.OK(m.t, m.conn.QueryRowContext(m.t.Context(), `SELECT SUM(VARIABLE_VALUE)
		FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME LIKE 'Handler_read%'`).Scan(&n))
	return n
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
