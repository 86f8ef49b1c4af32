package sqltext

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/sortid/sortid/internal/check"
)

// The statements of docs/migration.md lose no row and leave no reference that dangles, while other
// sessions write and read. No statement reads a table under a lock that stops them, and a statement
// that waits for such a lock lets them continue.
func TestPostgresMigratesWhileOthersWrite(t *testing.T) {
	m := startPostgresMigration(t, oldRows(t, 50_000))
	m.waits = true
	for _, s := range m.steps {
		if strings.HasPrefix(s.name, "8. ") { // drops the old IDs
			m.forgets.Store(true)
		}
		m.do(s.name, s.do)
	}
	last := m.steps[len(m.steps)-1]
	m.do("undo "+last.name, last.goBack)
	m.check()
	if n := m.d.one(`count(*) FROM events
		WHERE abs(extract(epoch FROM sortid.scru128_time(id) - created_at)) > 1
		  AND what LIKE 'old %'`); n != "0" {
		t.Errorf("%s old rows have IDs of other times", n)
	}
}

// After each step, the way back leads to the tables of the beginning.
func TestPostgresMigrationGoesBack(t *testing.T) {
	m := startPostgresMigration(t, 2000)
	before := m.definitions()
	for _, last := range []int{3, 7} {
		for _, s := range m.steps[:last] {
			m.do(s.name, s.do)
		}
		m.forgets.Store(true)
		for _, s := range slices.Backward(m.steps[:last]) {
			m.do("undo "+s.name, s.goBack)
		}
		if after := m.definitions(); after != before {
			t.Fatalf("steps 1 to %d, undone, leave\n%s\nwant\n%s", last, after, before)
		}
	}
	m.check()
}

// In docs/migration.md, 112 of a million UUIDv4 are in the time range of each year.
func TestPostgresUUIDv4InTimeRange(t *testing.T) {
	d := install(t)
	n := check.Must(strconv.Atoi(d.one(`count(*)
		FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 500000)) AS ids
		WHERE id >= sortid.scru128_first('2007-01-01 00:00+00')
		  AND id < sortid.scru128_first('2027-01-01 00:00+00')`)))(t)
	// The standard deviation is the root of 1120.
	if want := 112 * 20 / 2; n < want-200 || n > want+200 {
		t.Errorf("of 500,000 UUIDv4, %d are in the time range of 20 years, want about %d", n, want)
	}
}

type postgresMigration struct {
	programs
	d, w  *database // w watches d's locks
	steps []step
	waits bool // short_lock must wait for a program's transaction
}

func startPostgresMigration(t *testing.T, rows int) *postgresMigration {
	d := install(t)
	tables, steps := migration(t, "PostgreSQL")
	m := &postgresMigration{d: d, w: connect(t, d.url, d.schema), steps: steps,
		programs: programs{t: t, rows: rows, db: check.Must(sql.Open("pgx", d.url))(t), sql: programSQL{
			touch: `UPDATE events SET what = what
				WHERE ctid = ANY (ARRAY(SELECT ctid FROM events TABLESAMPLE SYSTEM (1) LIMIT 1))`,
			add:    "INSERT INTO events (what) VALUES ($1) RETURNING id::text",
			note:   "INSERT INTO notes (event_id, note) VALUES ($1, $2)",
			remove: "DELETE FROM events WHERE id = $1",
			rejected: func(err error) bool {
				var e *pgconn.PgError
				return errors.As(err, &e) && (e.Code == "23502" || e.Code == "23503")
			},
		}}}
	t.Cleanup(func() { m.db.Close() })
	d.run(strings.Join(tables[:3], ";"))
	d.run(fmt.Sprintf(`INSERT INTO events (created_at, what)
		SELECT now() - n * interval '1 minute', 'old ' || n FROM generate_series(1, %d) AS n;
		INSERT INTO notes (event_id, note) SELECT id, what FROM events`, m.rows))
	if n := d.query(tables[3])[0]; n != "0" {
		t.Fatalf("%s rows cannot be migrated", n)
	}
	m.start()
	return m
}

// do runs statements, and fails if one of them can block programs.
func (m *postgresMigration) do(name string, statements []string) {
	m.t.Helper()
	if len(statements) == 0 {
		m.t.Fatalf("%s: no statements", name)
	}
	for _, s := range statements {
		begin := time.Now()
		switch {
		case strings.HasPrefix(s, "CALL short_lock"):
			m.short(name, s)
		case strings.Contains(s, "CONCURRENTLY"), strings.HasPrefix(s, "CALL fill"):
			m.long(name, s)
		default:
			m.d.run("BEGIN")
			m.d.run(s)
			if got := m.d.one(stops, m.d.PgConn().PID()); got != "NULL" {
				m.t.Errorf("%s: %s\ntakes %s", name, s, got)
			}
			m.d.run("COMMIT")
		}
		if m.t.Failed() {
			m.t.Fatalf("%s: %s", name, s)
		}
		m.t.Logf("%s: %.60q in %v", name, s, time.Since(begin).Round(time.Millisecond))
	}
}

// stops is an expression: the locks of a session that stop readers or writers of the tables.
const stops = `string_agg(mode || ' on ' || relation::regclass, ', ') FROM pg_locks
	WHERE pid = $1 AND granted AND locktype = 'relation'
	  AND relation IN (to_regclass('events'), to_regclass('notes'))
	  AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`

// rowsRead is an expression: how many rows the session has read of the tables, lately.
const rowsRead = `coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)
	FROM pg_stat_xact_user_tables
	WHERE schemaname = current_schema AND relname ~ '^(events|notes)'`

// short runs a statement that takes such locks. It must read no row under them. While a program's
// transaction makes it wait, the other programs must continue.
func (m *postgresMigration) short(name, statement string) {
	m.t.Helper()
	release := func() error { return nil }
	if m.waits {
		tables := regexp.MustCompile(`'([\w, ]+)'`).FindStringSubmatch(statement)[1]
		tx := check.Must(m.db.Begin())(m.t)
		check.Must(tx.Exec("LOCK TABLE " + tables + " IN ROW EXCLUSIVE MODE"))(m.t)
		release = tx.Rollback
	}
	m.d.run("BEGIN")
	read := m.d.one(rowsRead)
	done := m.begin(statement)
	if m.waits {
		waits := check.Soon(func() bool {
			return m.w.one("count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'",
				m.d.PgConn().PID()) == "1"
		})
		if !waits || !m.continues() {
			m.t.Errorf("%s: %s\nwaits for an open transaction: %v, but then stops other programs",
				name, statement, waits)
		}
	}
	check.OK(m.t, release())
	if err := <-done; err != nil {
		m.t.Fatalf("%s: %v\n%s", name, err, statement)
	}
	if n := m.d.one(rowsRead); n != read {
		m.t.Errorf("%s: %s\nreads rows under its locks: the count goes from %s to %s", name, statement,
			read, n)
	}
	if m.d.one(stops, m.d.PgConn().PID()) == "NULL" {
		m.t.Errorf("%s: %s\ntakes no lock that stops others, so it needs no short_lock", name, statement)
	}
	m.d.run("COMMIT")
}

// long runs a statement that must not take such locks.
func (m *postgresMigration) long(name, statement string) {
	m.t.Helper()
	for done := m.begin(statement); ; {
		select {
		case err := <-done:
			if err != nil {
				m.t.Fatalf("%s: %v\n%s", name, err, statement)
			}
			return
		case <-time.After(5 * time.Millisecond):
			if got := m.w.one(stops, m.d.PgConn().PID()); got != "NULL" {
				m.t.Errorf("%s: %s\ntakes %s", name, statement, got)
			}
		}
	}
}

func (m *postgresMigration) begin(statement string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := m.d.PgConn().Exec(context.Background(), m.d.in(statement)).ReadAll()
		done <- err
	}()
	return done
}

func (m *postgresMigration) definitions() string {
	m.t.Helper()
	server, _, _ := strings.Cut(m.d.url, "?")
	dump := output(m.t, "", "pg_dump", "--schema-only", "--schema="+m.d.one("current_schema"), server)
	return regexp.MustCompile(`(?m)^\\.*$`).ReplaceAllString(dump, "")
}
