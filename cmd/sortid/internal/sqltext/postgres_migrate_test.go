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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testserver"
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

func TestPostgresMigrationFindsWrongParents(t *testing.T) {
	m := startPostgresMigration(t, 2000)
	for _, s := range m.steps[:5] {
		m.do(s.name, s.do)
	}
	m.d.run(`UPDATE notes SET new_event_id = (SELECT min(new_id::text)::uuid FROM events)
		WHERE note = 'old 1999'`)
	key := m.steps[5]
	last := len(key.do) - 1
	m.do(key.name, key.do[:last])
	if n := m.d.query(key.do[last])[0]; n != "1" {
		t.Errorf("%s\nfinds %s wrong parents, want 1", key.do[last], n)
	}
}

// After an interruption of any statement, its step can run again.
func TestPostgresMigrationSurvivesInterruptions(t *testing.T) {
	m := startPostgresMigration(t, 2000)
	before := m.definitions()
	for _, s := range m.steps[:7] {
		m.survive(s.name, s.do)
	}
	m.forgets.Store(true)
	for _, s := range slices.Backward(m.steps[:7]) {
		m.survive("undo "+s.name, s.goBack)
	}
	if after := m.definitions(); after != before {
		t.Fatalf("steps 1 to 7, undone, leave\n%s\nwant\n%s", after, before)
	}
	for _, s := range m.steps {
		m.survive(s.name, s.do)
	}
	if m.d.one("to_regclass('notes_event_id')") == "NULL" {
		t.Error("the index on the new event_id is gone")
	}
	last := m.steps[len(m.steps)-1]
	m.survive("undo "+last.name, last.goBack)
	m.check()
}

// survive interrupts each statement, and runs it again with those before it, but not before a swap.
func (m *postgresMigration) survive(name string, statements []string) {
	m.t.Helper()
	first := 0
	for i, s := range statements {
		m.interrupt(name, s)
		m.do("again "+name, statements[first:i+1])
		if strings.Contains(s, "RENAME") {
			first = i + 1
		}
	}
}

// interrupt ends the session of a statement while it runs, if it does not end before.
func (m *postgresMigration) interrupt(name, statement string) {
	m.t.Helper()
	tx := check.Must(m.db.Begin())(m.t) // lets most statements wait
	defer tx.Rollback()
	for _, lock := range []string{"LOCK TABLE events, notes IN ROW EXCLUSIVE MODE",
		"SELECT FROM events WHERE what = 'old 1000' FOR UPDATE",
		"SELECT FROM notes WHERE note = 'old 1000' FOR UPDATE"} {
		check.Must(tx.Exec(lock))(m.t)
	}
	d := connect(m.t, m.d.url, m.d.schema)
	defer d.Close(context.Background())
	pid, done := d.PgConn().PID(), begin(d, statement)
	check.Soon(func() bool {
		return len(done) > 0 || m.w.one("query LIKE 'CALL fill%' OR wait_event_type = 'Lock' "+
			"FROM pg_stat_activity WHERE pid = $1", pid) == "t"
	})
	m.w.one("pg_terminate_backend($1)", pid)
	err := <-done
	m.t.Logf("%s: %.60q is interrupted: %v", name, statement, err)
}

// The list of docs/migration.md names everything that contains an old key.
func TestPostgresMigrationListsWhatItDoesNotHandle(t *testing.T) {
	d := install(t)
	tables, _ := migration(t, "PostgreSQL")
	d.run(strings.Join(tables[:3], ";"))
	checkList(d, tables[4], []listed{
		{"CREATE INDEX x ON events (created_at, id)", "index x", "with the new column"},
		{"CREATE INDEX x ON events (created_at) INCLUDE (id)", "index x", "with the new column"},
		{"CREATE INDEX x ON events ((id::text))", "index x", "with the new column"},
		{"CREATE INDEX x ON notes (note) WHERE event_id IS NOT NULL", "index x",
			"with the new column"},
		{"CREATE STATISTICS x ON created_at, id FROM events", "statistics object x",
			"with the new column"},
		{"ALTER TABLE notes ADD CONSTRAINT x UNIQUE (event_id, note)", "constraint x on table notes",
			"USING the new INDEX"},
		{"ALTER TABLE notes ADD CONSTRAINT x CHECK (event_id::text <> note)",
			"constraint x on table notes", "NOT VALID"},
		{"CREATE TABLE other (id uuid CONSTRAINT x REFERENCES events)", "constraint x on table other",
			"treat its table as notes"},
		{"ALTER TABLE events ADD parent uuid CONSTRAINT x REFERENCES events",
			"constraint x on table events", "not for this"},
		{`ALTER TABLE notes DROP CONSTRAINT notes_event_id_fkey, ADD CONSTRAINT x
			FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE CASCADE DEFERRABLE`,
			"constraint x on table notes", "not for this"},
		{`ALTER TABLE notes DROP CONSTRAINT notes_event_id_fkey, ADD CONSTRAINT x
			FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE CASCADE NOT VALID`,
			"constraint x on table notes", "VALIDATE"},
		{`ALTER TABLE notes DROP CONSTRAINT notes_event_id_fkey, ADD CONSTRAINT x
			FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE SET NULL`,
			"constraint x on table notes", "options"},
		{"ALTER TABLE events ADD x text GENERATED ALWAYS AS (id::text) STORED",
			"default value for column x of table events", "DROP EXPRESSION"},
		{"CREATE VIEW x AS SELECT * FROM events", "rule _RETURN on view x", "step 7"},
		{`CREATE FUNCTION x(uuid) RETURNS bigint LANGUAGE sql
			BEGIN ATOMIC SELECT id FROM notes WHERE event_id = $1; END`, "function x(uuid)", "step 7"},
		{"CREATE POLICY x ON events USING (id IS NOT NULL)", "policy x on table events", "step 7"},
		{`CREATE TRIGGER x BEFORE UPDATE OF event_id ON notes
			FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
			"trigger x on table notes", "step 7"},
		{"GRANT SELECT (id) ON events TO pg_monitor", "rights for column id of table events", "GRANT"},
		{"ALTER TABLE notes ADD new_event_id uuid", "column new_event_id of table notes", "rename it"},
		{"CREATE TABLE more () INHERITS (notes)", "table notes", "not for"},
		{`ALTER TABLE notes DROP CONSTRAINT notes_event_id_fkey, ALTER event_id TYPE text`,
			"type of column event_id of table notes", "only for uuid"},
		{"ALTER TABLE events REPLICA IDENTITY USING INDEX events_pkey",
			"replica identity of table events", "REPLICA IDENTITY DEFAULT"},
	})
}

// The list of the step for partitions names everything that the new table would lack.
func TestPostgresMigrationListsWhatPartitionsLack(t *testing.T) {
	d := install(t)
	tables, steps := migration(t, "PostgreSQL")
	d.run(strings.Join(tables[:3], ";"))
	checkList(d, steps[8].do[0], []listed{
		{"ALTER TABLE events ADD x int GENERATED ALWAYS AS IDENTITY", "sequence events_x_seq", "not for"},
		{"CREATE TABLE other (id int PRIMARY KEY); ALTER TABLE events ADD x int REFERENCES other",
			"constraint events_x_fkey on table events", "events_by_month"},
		{"CREATE TABLE other (id uuid CONSTRAINT x REFERENCES events)", "constraint x on table other",
			"foreign key of notes"},
		{"CREATE VIEW x AS SELECT what FROM events", "rule _RETURN on view x", "after ATTACH"},
		{`CREATE FUNCTION x() RETURNS bigint LANGUAGE sql
			BEGIN ATOMIC SELECT count(*) FROM events; END`, "function x()", "after ATTACH"},
		{"CREATE FUNCTION x() RETURNS SETOF events LANGUAGE sql AS 'SELECT * FROM events'",
			"function x()", "after ATTACH"},
		{"CREATE POLICY x ON events USING (true)", "policy x on table events", "events_by_month"},
		{"ALTER TABLE events ENABLE ROW LEVEL SECURITY", "row level security", "events_by_month"},
		{`CREATE TRIGGER x BEFORE UPDATE ON events
			FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
			"trigger x on table events", "before ATTACH"},
		{"GRANT SELECT ON events TO pg_monitor", "rights", "GRANT"},
		{"GRANT SELECT (what) ON events TO pg_monitor", "rights", "GRANT"},
	})
}

// Later partitions have the indexes and constraints of the table.
func TestPostgresPartitionsAreLikeTheTable(t *testing.T) {
	m := startPostgresMigration(t, 2000)
	m.d.run(`CREATE INDEX events_time ON events (created_at);
		ALTER TABLE events ADD length int GENERATED ALWAYS AS (length(what)) STORED,
			ADD CONSTRAINT events_named CHECK (what <> '')`)
	for _, s := range m.steps {
		if strings.HasPrefix(s.name, "8. ") { // drops the old IDs
			m.forgets.Store(true)
		}
		m.do(s.name, s.do)
	}
	m.check()
	partitions := m.d.query(`SELECT inhrelid::regclass FROM pg_inherits
		WHERE inhparent = 'events'::regclass`)
	const like = `concat_ws('; ', (SELECT string_agg(
			substring(pg_get_indexdef(indexrelid) FROM 'USING.*'), ', ' ORDER BY indkey::text)
			FROM pg_index WHERE indrelid = $1::text::regclass),
		(SELECT attgenerated FROM pg_attribute
			WHERE attrelid = $1::text::regclass AND attname = 'length'),
		(SELECT pg_get_constraintdef(oid) FROM pg_constraint
			WHERE conrelid = $1::text::regclass AND conname = 'events_named'))`
	want := "USING btree (created_at), USING btree (id); s; CHECK ((what <> ''::text))"
	for _, partition := range append(partitions, "events") {
		got := strings.ReplaceAll(m.d.one(like, partition), "ONLY ", "")
		if got != want {
			t.Errorf("%s has %s, want %s", partition, got, want)
		}
	}
	if len(partitions) != 2 {
		t.Errorf("events has the partitions %q, want 2", partitions)
	}
}

type listed struct{ make, name, advice string }

// checkList makes one object at a time, and checks that a query lists it.
func checkList(d *database, query string, objects []listed) {
	d.t.Helper()
	for _, object := range objects {
		d.run("BEGIN; " + object.make)
		rows := check.Must(d.Query(context.Background(), d.in(query)))(d.t)
		got := check.Must(pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Object, Advice string }]))(d.t)
		if len(got) != 1 || got[0].Object != object.name ||
			!strings.Contains(got[0].Advice, object.advice) {
			d.t.Errorf("%s: the list is %q; want %s: %s", object.make, got, object.name, object.advice)
		}
		d.run("ROLLBACK")
	}
}

// Rows that cannot get a value end fill with an error. Otherwise it would never end.
func TestPostgresFillReportsRowsWithoutAnEvent(t *testing.T) {
	m := startPostgresMigration(t, 2000)
	m.stop()
	m.d.run(`ALTER TABLE notes DROP CONSTRAINT notes_event_id_fkey;
		INSERT INTO notes (event_id, note) VALUES (gen_random_uuid(), 'alone');
		ALTER TABLE notes ADD CONSTRAINT notes_event_id_fkey
			FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE CASCADE NOT VALID`)
	for _, s := range m.steps[:4] {
		m.do(s.name, s.do)
	}
	child := m.steps[4]
	fills := slices.IndexFunc(child.do, func(s string) bool { return strings.HasPrefix(s, "CALL fill") })
	m.do(child.name, child.do[:fills])
	var e *pgconn.PgError
	_, err := m.d.Exec(context.Background(), child.do[fills])
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "SELECT * FROM notes WHERE new_event_id IS NULL") {
		t.Errorf("%s: %v; want an error with a query that finds the row", child.do[fills], err)
	}
}

// With ON DELETE SET NULL and the changes of the steps that docs/migration.md names for it, both
// IDs of a note become NULL.
func TestPostgresMigrationKeepsNull(t *testing.T) {
	m := startPostgresMigration(t, 2000)
	m.stop()
	m.d.run(`ALTER TABLE notes ALTER event_id DROP NOT NULL, DROP CONSTRAINT notes_event_id_fkey,
		ADD CONSTRAINT notes_event_id_fkey FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE SET NULL`)
	nullable := strings.NewReplacer("ON DELETE CASCADE", "ON DELETE SET NULL",
		"CHECK (new_event_id IS NOT NULL)", "CHECK ((event_id IS NULL) = (new_event_id IS NULL))",
		"ALTER TABLE notes ALTER COLUMN new_event_id SET NOT NULL;", "")
	do := func(name string, statements []string) {
		for _, s := range statements {
			m.do(name, []string{nullable.Replace(s)})
		}
	}
	gone := 0
	lose := func() {
		m.d.run(fmt.Sprintf(`DELETE FROM events WHERE what = 'old %d';
			UPDATE notes SET event_id = NULL WHERE note = 'old %d'`, 1900+gone, 1901+gone))
		gone += 2
		column := m.d.one(`string_agg(attname, ',' ORDER BY attname) FROM pg_attribute
			WHERE attrelid = 'notes'::regclass AND attname ~ 'event_id$'`)
		for _, column := range strings.Split(column, ",") {
			if n := m.d.one("count(*) FROM notes WHERE " + column + " IS NULL"); n != fmt.Sprint(gone) {
				t.Fatalf("%s is NULL in %s notes, want %d", column, n, gone)
			}
		}
	}
	for _, s := range m.steps[:7] {
		do(s.name, s.do)
		if s.name[0] > '4' {
			lose()
		}
	}
	do("undo "+m.steps[6].name, m.steps[6].goBack)
	lose()
}

// A table with two child tables and with everything that the list names migrates with the list's
// advice, while others write and each statement is interrupted.
func TestPostgresMigratesEverythingAtOnce(t *testing.T) {
	m := startPostgresMigration(t, 2000)
	m.setUp(`CREATE TABLE users (id int PRIMARY KEY);
		ALTER TABLE events ADD owner int REFERENCES users, REPLICA IDENTITY USING INDEX events_pkey;
		CREATE INDEX events_time ON events (created_at, id);
		CREATE STATISTICS events_both ON created_at, id FROM events;
		CREATE VIEW latest AS SELECT * FROM events;
		CREATE POLICY known ON events USING (id IS NOT NULL);
		GRANT SELECT (id) ON events TO pg_monitor;
		CREATE TABLE tags (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tag text,
			event_id uuid REFERENCES events (id) ON DELETE SET NULL);
		CREATE INDEX tags_event_id ON tags (event_id);
		INSERT INTO tags (event_id, tag) SELECT id, what FROM events WHERE what LIKE 'old %';
		ALTER TABLE notes ADD CONSTRAINT notes_once UNIQUE (event_id, id),
			ADD CONSTRAINT notes_other CHECK (event_id::text <> note);
		CREATE FUNCTION notes_of(uuid) RETURNS bigint LANGUAGE sql
			BEGIN ATOMIC SELECT count(*) FROM notes WHERE event_id = $1; END;
		CREATE TRIGGER notes_changed BEFORE UPDATE OF event_id ON notes
			FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`)
	tables, _ := migration(t, "PostgreSQL")
	want := []string{"constraint notes_once on table notes", "constraint notes_other on table notes",
		"constraint tags_event_id_fkey on table tags", "function notes_of(uuid)", "index events_time",
		"policy known on table events", "replica identity of table events",
		"rights for column id of table events", "rule _RETURN on view latest",
		"statistics object events_both", "trigger notes_changed on table notes"}
	if got := m.d.query(tables[4]); !slices.Equal(got, want) {
		t.Fatalf("the list is %q, want %q", got, want)
	}

	m.d.run("ALTER TABLE events REPLICA IDENTITY DEFAULT")
	for _, s := range m.steps[:6] {
		m.survive(s.name, alsoTags(s.do))
	}
	m.survive("before step 7", []string{
		"DROP INDEX CONCURRENTLY IF EXISTS events_new_time",
		"CREATE INDEX CONCURRENTLY events_new_time ON events (created_at, new_id)",
		"DROP INDEX CONCURRENTLY IF EXISTS notes_new_once",
		"CREATE UNIQUE INDEX CONCURRENTLY notes_new_once ON notes (new_event_id, id)",
		`CALL short_lock('notes', 'ALTER TABLE notes DROP CONSTRAINT IF EXISTS notes_new_other,
			ADD CONSTRAINT notes_new_other CHECK (new_event_id::text <> note) NOT VALID')`,
		"ALTER TABLE notes VALIDATE CONSTRAINT notes_new_other",
		"CREATE STATISTICS IF NOT EXISTS events_new_both ON created_at, new_id FROM events",
		"GRANT SELECT (new_id) ON events TO pg_monitor"})
	swap := alsoTags(m.steps[6].do)
	last := len(swap) - 1
	swap[last] = strings.Replace(swap[last], "\n$$)", `
		ALTER TABLE notes DROP CONSTRAINT notes_once;
		ALTER TABLE notes ADD CONSTRAINT notes_once UNIQUE USING INDEX notes_new_once;
		CREATE OR REPLACE VIEW latest AS SELECT id, created_at, what, owner FROM events;
		CREATE OR REPLACE FUNCTION notes_of(uuid) RETURNS bigint LANGUAGE sql
			BEGIN ATOMIC SELECT count(*) FROM notes WHERE event_id = $1; END;
		ALTER POLICY known ON events USING (id IS NOT NULL);
		DROP TRIGGER notes_changed ON notes;
		CREATE TRIGGER notes_changed BEFORE UPDATE OF event_id ON notes
			FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger(); $$)`, 1)
	m.survive(m.steps[6].name, swap)
	m.survive("after step 7", []string{"DROP INDEX CONCURRENTLY IF EXISTS events_time",
		"DROP STATISTICS IF EXISTS events_both"})
	m.forgets.Store(true)
	m.survive(m.steps[7].name, alsoTags(m.steps[7].do))
	want = []string{"constraint notes_new_other on table notes", "constraint notes_once on table notes",
		"constraint tags_event_id_fkey on table tags", "function notes_of(uuid)",
		"index events_new_time", "policy known on table events", "rights for column id of table events",
		"rule _RETURN on view latest", "statistics object events_new_both",
		"trigger notes_changed on table notes"}
	if got := m.d.query(tables[4]); !slices.Equal(got, want) {
		t.Errorf("at the end, these contain the new IDs: %q, want %q", got, want)
	}

	partitions := m.steps[8]
	want = []string{"constraint events_owner_fkey on table events",
		"constraint tags_event_id_fkey on table tags", "policy known on table events", "rights",
		"rule _RETURN on view latest"}
	if got := m.d.query(partitions.do[0]); !slices.Equal(got, want) {
		t.Fatalf("the list is %q, want %q", got, want)
	}
	m.do(partitions.name, partitions.do[1:3])
	m.d.run(`ALTER TABLE events_by_month ADD FOREIGN KEY (owner) REFERENCES users;
		CREATE POLICY known ON events_by_month USING (id IS NOT NULL);
		GRANT SELECT (id) ON events_by_month TO pg_monitor`)
	rest := alsoTags(partitions.do[3:])
	swaps := slices.IndexFunc(rest, func(s string) bool { return strings.Contains(s, "ATTACH") })
	rest[swaps] = strings.Replace(rest[swaps], "\n$$)", `
		CREATE OR REPLACE VIEW latest AS SELECT id, created_at, what, owner FROM events; $$)`, 1)
	m.do(partitions.name, rest)
	if got := m.d.query(partitions.do[0]); !slices.Contains(got, "rule _RETURN on view latest") {
		t.Errorf("the view reads another table: the new table has %q", got)
	}
	m.check()
	if n := m.d.one(`count(*) FROM tags FULL JOIN events ON events.id = event_id
		WHERE what LIKE 'old %' AND tag IS DISTINCT FROM what`); n != "0" {
		t.Errorf("%s tags have other events than before", n)
	}
}

// alsoTags adds the commands for another child table, whose event_id can be NULL.
func alsoTags(statements []string) (list []string) {
	tags := strings.NewReplacer("notes", "tags", "CASCADE", "SET NULL",
		"CHECK (new_event_id IS NOT NULL)", "CHECK ((event_id IS NULL) = (new_event_id IS NULL))",
		"ALTER TABLE notes ALTER COLUMN new_event_id SET NOT NULL;", "")
	for _, s := range statements {
		body, both := strings.CutPrefix(s, "CALL short_lock('events, notes', ")
		if !both {
			list = append(list, s)
			if strings.Contains(s, "notes") {
				list = append(list, tags.Replace(s))
			}
			continue
		}
		commands := strings.SplitAfter(strings.TrimSuffix(body, ")"), ";\n")
		for i, c := range commands {
			if strings.Contains(c, "notes") {
				commands[i] += strings.TrimPrefix(tags.Replace(c), "$$\n")
			}
		}
		list = append(list, "CALL short_lock('events, notes, tags', "+strings.Join(commands, "")+")")
	}
	return list
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
	return startPostgresMigrationOn(t, install(t), rows)
}

func startPostgresMigrationOn(t *testing.T, d *database, rows int) *postgresMigration {
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
				return errors.As(err, &e) && e.Code == "23503"
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
	if list := d.query(tables[4]); len(list) > 0 {
		t.Fatalf("the steps do not handle their example: %q", list)
	}
	m.start()
	return m
}

// setUp runs each statement in a transaction of its own, so that it cannot have a deadlock with a
// program.
func (m *postgresMigration) setUp(statements string) {
	m.t.Helper()
	for _, s := range strings.Split(statements, ";\n") {
		m.d.run(s)
	}
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
		case strings.HasPrefix(s, "SELECT"):
			for _, row := range m.d.query(s) {
				if row != "0" {
					m.t.Errorf("%s: %s is %s, want 0 or nothing", name, s, row)
				}
			}
		default:
			m.d.run("BEGIN")
			m.d.run(s)
			if got := m.d.one(stops, m.d.PgConn().PID()); got != "NULL" {
				m.t.Errorf("%s: %s\ntakes %s", name, s, got)
			}
			m.d.run("COMMIT")
		}
		m.move()
		if m.t.Failed() {
			m.t.Fatalf("%s: %s", name, s)
		}
		m.t.Logf("%s: %.60q in %v", name, s, time.Since(begin).Round(time.Millisecond))
	}
}

// stops is an expression: the locks of a session that stop readers or writers of the tables.
const stops = `string_agg(mode || ' on ' || relation::regclass, ', ') FROM pg_locks
	WHERE pid = $1 AND granted AND locktype = 'relation'
	  AND relation IN (to_regclass('events'), to_regclass('notes'), to_regclass('tags'))
	  AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`

// rowsRead is an expression: how many rows of the tables the session has read.
const rowsRead = `coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)
	FROM pg_stat_xact_user_tables
	WHERE schemaname = current_schema AND relname ~ '^(events|notes|tags)'`

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
	d := connect(m.t, m.d.url, m.d.schema) // a new session has read no rows
	defer d.Close(context.Background())
	d.run("BEGIN")
	done := begin(d, statement)
	if m.waits {
		waits := check.Soon(func() bool {
			return m.w.one("count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'",
				d.PgConn().PID()) == "1"
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
	if n := d.one(rowsRead); n != "0" {
		m.t.Errorf("%s: %s\nreads %s rows under its locks", name, statement, n)
	}
	if d.one(stops, d.PgConn().PID()) == "NULL" {
		m.t.Errorf("%s: %s\ntakes no lock that stops others, so it needs no short_lock", name, statement)
	}
	d.run("COMMIT")
}

// long runs a statement that must not take such locks.
func (m *postgresMigration) long(name, statement string) {
	m.t.Helper()
	for done := begin(m.d, statement); ; {
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

func begin(d *database, statement string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := d.PgConn().Exec(context.Background(), d.in(statement)).ReadAll()
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

// In the order of docs/migration.md, a subscriber of logical replication gets all changes.
func TestPostgresMigratesWithASubscriber(t *testing.T) {
	t.Parallel()
	testserver.Long(t, "starts a server")
	server := testserver.StartPostgres(t, "wal_level=logical", "wal_retrieve_retry_interval=100")
	m := startPostgresMigrationOn(t, installDefault(t, server.URL), 2000)
	if m.d.one("current_setting('server_version_num')::int < 150000") == "t" {
		t.Skip("PostgreSQL 14 does not count the errors of a subscription")
	}
	copied := subscribe(t, server, m.d)
	for _, s := range m.steps[:8] {
		if strings.HasPrefix(s.name, "8. ") { // drops the old IDs
			m.forgets.Store(true)
		}
		for _, statement := range s.do {
			if strings.Contains(statement, "ADD COLUMN") {
				copied.run(statement)
			}
			m.do(s.name, []string{statement})
			if !strings.Contains(statement, "ADD COLUMN") && !strings.HasPrefix(statement, "CALL fill") {
				copied.follow()
				copied.run(statement)
			}
		}
	}
	m.check()
	const rows = `md5(string_agg(t::text, ',' ORDER BY t::text)) FROM
		(SELECT e.id, what, n.id, note FROM events AS e LEFT JOIN notes AS n ON event_id = e.id) AS t`
	want := m.d.one(rows)
	if !check.Soon(func() bool { return copied.one(rows) == want }) {
		t.Errorf("the subscriber has other rows than the publisher")
	}
}

// installDefault installs the functions in the schema that docs/migration.md uses.
func installDefault(t *testing.T, place string) *database {
	t.Helper()
	d := connect(t, place, DefaultSchema)
	d.run(check.Must(Postgres(DefaultSchema, spec.Ours()))(t))
	return d
}

type subscriber struct {
	*database
	publisher *database
	errors    string // how many errors its subscription has had
}

// subscribe makes a database that gets all changes of the publisher, which is another database of
// the server.
func subscribe(t *testing.T, server *testserver.Server, publisher *database) *subscriber {
	t.Helper()
	publisher.run("CREATE DATABASE subscriber")
	s := &subscriber{installDefault(t, strings.TrimSuffix(server.URL, "postgres")+"subscriber"),
		publisher, "0"}
	tables, _ := migration(t, "PostgreSQL")
	s.run(strings.Join(tables[:3], ";"))
	publisher.run("CREATE PUBLICATION p FOR TABLE events, notes")
	publisher.run("SELECT pg_create_logical_replication_slot('s', 'pgoutput')")
	s.run("CREATE SUBSCRIPTION s CONNECTION '" + server.URL +
		"' PUBLICATION p WITH (create_slot = false)")
	if !check.Soon(func() bool {
		return s.one("bool_and(srsubstate = 'r') FROM pg_subscription_rel") == "t"
	}) {
		t.Fatal("the subscriber does not get the rows of the beginning")
	}
	return s
}

// follow waits until the subscriber has all changes of the publisher, or stops with an error.
func (s *subscriber) follow() {
	s.t.Helper()
	lsn, errors := s.publisher.one("pg_current_wal_lsn()"), s.errors
	if !check.Soon(func() bool {
		s.errors = s.one("apply_error_count FROM pg_stat_subscription_stats")
		return s.errors != errors || s.publisher.one("confirmed_flush_lsn >= $1::text::pg_lsn "+
			"FROM pg_replication_slots WHERE slot_name = 's'", lsn) == "t"
	}) {
		s.t.Fatal("the subscriber does not follow the publisher")
	}
}

// With the advice of the list, other indexes and constraints have the new IDs at the end.
func TestPostgresMigrationKeepsOtherIndexes(t *testing.T) {
	m := startPostgresMigration(t, 2000)
	m.setUp(`CREATE INDEX events_time ON events (created_at, id);
		ALTER TABLE notes ADD CONSTRAINT notes_once UNIQUE (event_id, id),
			ADD CONSTRAINT notes_other CHECK (event_id::text <> note)`)
	for _, s := range m.steps[:6] {
		m.do(s.name, s.do)
	}
	m.do("before step 7", []string{
		"CREATE INDEX CONCURRENTLY events_new_time ON events (created_at, new_id)",
		"CREATE UNIQUE INDEX CONCURRENTLY notes_new_once ON notes (new_event_id, id)",
		`CALL short_lock('notes', 'ALTER TABLE notes
			ADD CONSTRAINT notes_new_other CHECK (new_event_id::text <> note) NOT VALID')`,
		"ALTER TABLE notes VALIDATE CONSTRAINT notes_new_other"})
	swap := m.steps[6]
	last := len(swap.do) - 1
	swap.do[last] = strings.Replace(swap.do[last], "\n$$)", `
		ALTER TABLE notes DROP CONSTRAINT notes_once;
		ALTER TABLE notes ADD CONSTRAINT notes_once UNIQUE USING INDEX notes_new_once; $$)`, 1)
	m.do(swap.name, swap.do)
	m.do("after step 7", []string{"DROP INDEX CONCURRENTLY events_time"})
	m.forgets.Store(true)
	m.do(m.steps[7].name, m.steps[7].do)
	m.check()
	got := m.d.query(`SELECT pg_get_indexdef('events_new_time'::regclass)
		UNION ALL SELECT string_agg(pg_get_constraintdef(oid), ', ' ORDER BY conname) FROM pg_constraint
		WHERE conrelid = 'notes'::regclass AND contype IN ('c', 'u')`)
	const constraints = "CHECK (((event_id)::text <> note)), UNIQUE (event_id, id)"
	if !strings.HasSuffix(got[0], "(created_at, id)") || got[1] != constraints {
		t.Errorf("at the end, there are %q; want an index on (created_at, id), and %s", got, constraints)
	}
}
