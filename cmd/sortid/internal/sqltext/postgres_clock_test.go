package sqltext

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sortid/sortid/scru64"
)

// setClock replaces the generators' clock by one that only moveClock moves.
func (d *database) setClock() {
	d.run(`CREATE TABLE sortid.test_clock (ms bigint);
		INSERT INTO sortid.test_clock SELECT sortid.clock_ms();
		CREATE OR REPLACE FUNCTION sortid.clock_ms() RETURNS bigint LANGUAGE plpgsql VOLATILE STRICT
		AS 'BEGIN RETURN (SELECT ms FROM sortid.test_clock); END'`)
}

func (d *database) moveClock(by time.Duration) {
	d.run("UPDATE sortid.test_clock SET ms = ms + " + fmt.Sprint(by.Milliseconds()))
}

// locks returns how many locks of the schema's generators all sessions have.
func (d *database) locks() string {
	return d.one(`count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
		WHERE locktype = 'advisory' AND datname = current_database() AND classid = 1936683636
		AND objid IN (SELECT oid FROM pg_class WHERE relnamespace = $1::regnamespace)`,
		`"`+d.schema+`"`)
}

// If the clock is set back too far, the generator raises an error, and leaves no lock.
func TestPostgresRefusesClockSetBack(t *testing.T) {
	d := install(t)
	d.setClock()
	for _, g := range generators {
		if !g.ordered {
			continue
		}
		call := g.text()
		ids := []string{d.one(call)}
		d.moveClock(-9 * time.Second)
		ids = append(ids, d.one(call), d.one(call))
		d.moveClock(-2 * time.Second)
		for range 3 {
			if code, message := d.code("SELECT " + call); code != "55000" ||
				!strings.Contains(message, "more than 10 seconds") {
				t.Errorf("%s, 11 s after the clock: code %s, %q; want 55000", g.name, code, message)
			}
		}
		d.moveClock(4 * time.Second)
		ids = append(ids, d.one(call))
		d.moveClock(time.Minute)
		ids = append(ids, d.one(call))
		if !increases(ids) {
			t.Errorf("%s: out of order: %q", g.name, ids)
		}
		// The generator leaves no lock even if the transaction continues.
		d.run("BEGIN")
		d.moveClock(-time.Hour)
		d.run("SAVEPOINT a")
		d.code("SELECT " + call)
		d.run("ROLLBACK TO a")
		if n := d.locks(); n != "0" {
			t.Errorf("%s: %s locks after an error", g.name, n)
		}
		d.moveClock(2 * time.Hour)
		d.one(call)
		if n := d.locks(); n != "0" {
			t.Errorf("%s: %s locks after a new tick", g.name, n)
		}
		d.run("ROLLBACK")
	}
	for _, at := range []string{"-1", "0", "281474976710656", "-62135596800000"} {
		d.run("UPDATE sortid.test_clock SET ms = " + at)
		for _, g := range generators {
			if code, _ := d.code("SELECT " + g.name); code != "22008" && code != "23514" &&
				!(g.ordered && code == "55000") {
				t.Errorf("%s, clock at %s ms: code %s, want 22008 or 23514", g.name, at, code)
			}
		}
	}
}

func TestPostgresFullCounterTakesNextTick(t *testing.T) {
	d := install(t)
	d.setClock()
	d.one("sortid.scru64_new(1, 23)")
	// A generator that is far ahead of the clock waits at each tick. So the test begins when it is
	// already nine of the allowed ten seconds ahead.
	d.moveClock(-9 * time.Second)
	ids := d.query("SELECT sortid.scru64_text(sortid.scru64_new(1, 23)) FROM generate_series(1, 7)")
	if !increases(ids) {
		t.Errorf("out of order: %q", ids)
	}
	first, last := scru64.MustParse(ids[0]), scru64.MustParse(ids[len(ids)-1])
	if ticks := last.Timestamp() - first.Timestamp(); ticks != 3 && ticks != 4 {
		t.Errorf("7 IDs with counters of one bit took %d ticks", ticks)
	}
	if code, _ := d.code(
		"SELECT sortid.scru64_new(1, 23) FROM generate_series(1, 20)"); code != "55000" {
		t.Errorf("more than ten seconds ahead: code %s, want 55000", code)
	}
	d.moveClock(20 * time.Second)
	if id := scru64.MustParse(d.one("sortid.scru64_text(sortid.scru64_new(1, 23))")); id <= last {
		t.Errorf("20 s later: %v, want an ID above %v", id, last)
	}
	for _, id := range d.query(
		"SELECT sortid.scru128_new_ordered() FROM generate_series(1, 60000)")[59_990:] {
		if !strings.HasPrefix(id, "0") {
			t.Errorf("%s does not begin with 0, so its timestamp has overflowed", id)
		}
	}
}

func TestPostgresCancelledCallLeavesNoLock(t *testing.T) {
	d := install(t)
	other := connect(t, d.url, d.schema)
	d.run(
		"BEGIN; SELECT pg_advisory_xact_lock(1936683636, 'sortid.scru64_state'::regclass::oid::int)")
	if n := d.locks(); n != "1" {
		t.Errorf("while a session holds the lock: %s locks, want 1", n)
	}
	// The error of the second statement also undoes the first.
	_, err := other.PgConn().Exec(t.Context(),
		other.in("SET statement_timeout = 50; SELECT sortid.scru64_new(1, 8)")).ReadAll()
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "57014" {
		t.Errorf("while another session holds the lock: %v", err)
	}
	d.run("ROLLBACK")
	if timeout := other.one("current_setting('statement_timeout')"); timeout != "0" {
		t.Errorf("statement_timeout is %s after the error, want 0 as before", timeout)
	}
	other.run("BEGIN")
	other.one("sortid.scru64_new(1, 8)")
	if n := d.locks(); n != "0" {
		t.Errorf("after a call within a transaction: %s locks, want none", n)
	}
}

// One call with a clock a year ahead is refused. Without earlier IDs, it cannot be refused, and
// recover sets the generators back.
func TestPostgresRecoversFromClockAhead(t *testing.T) {
	const year = 365 * 24 * time.Hour
	d := install(t)
	d.setClock()
	d.run(`CREATE TABLE made (id bigint DEFAULT sortid.scru64_new(1, 8), n int);
		CREATE TABLE sorted (id uuid DEFAULT sortid.scru128_new_ordered(), n int)`)
	insert := "INSERT INTO made (n) VALUES (1); INSERT INTO sorted (n) VALUES (1)"
	refuses := func(when string) {
		t.Helper()
		for _, table := range []string{"made", "sorted"} {
			_, err := d.Exec(t.Context(), "INSERT INTO "+table+" (n) VALUES (1)")
			var e *pgconn.PgError
			if !errors.As(err, &e) || e.Code != "55000" ||
				!strings.Contains(e.Hint, "The last ID has the time 20") ||
				!strings.Contains(e.Hint, "recover") {
				t.Errorf("%s: insert into %s: %v; want 55000, and a hint with the last ID's time",
					when, table, err)
			}
		}
	}
	d.moveClock(year) // no earlier ID shows that this clock is wrong
	d.run(insert)
	d.moveClock(-year)
	refuses("a year behind")
	if code, message := d.code("SELECT sortid.recover()"); code != "55000" ||
		!strings.Contains(message, "made(id) has 1 rows") {
		t.Errorf("recover with a row of next year: code %s, %s; want 55000 and the column", code,
			message)
	}
	refuses("after a failed recover")
	d.run("DELETE FROM made; DELETE FROM sorted")
	if n := d.one("count(*) FROM sortid.recover() WHERE time_now < time_before"); n != "2" {
		t.Errorf("recover has set %s generators back, want 2", n)
	}
	d.run(insert)
	if n := d.one(`count(*) FROM made, sorted, sortid.test_clock
		WHERE abs(extract(epoch FROM sortid.scru64_time(made.id)) * 1000 - ms) <= 3000
		  AND abs(extract(epoch FROM sortid.scru128_time(sorted.id)) * 1000 - ms) <= 3000`); n != "1" {
		t.Error("after recover, the times of new IDs are not the clock's")
	}

	d.moveClock(year) // the earlier IDs show that this clock may be wrong
	refuses("a year ahead")
	d.moveClock(-year)
	d.run(insert)
	d.moveClock(year)
	if n := d.one("count(*) FROM sortid.recover() WHERE time_now > time_before"); n != "2" {
		t.Errorf("recover has moved %s generators to a clock that is right, want 2", n)
	}
	d.run(insert)
	if n := d.one("count(*) FROM sortid.recover() WHERE time_now = time_before"); n != "2" {
		t.Errorf("recover left %s generators alone, want 2", n)
	}

	d.moveClock(-year)
	if n := d.one("count(*) FROM sortid.recover(true) WHERE time_now < time_before"); n != "2" {
		t.Errorf("recover(true) has set %s generators back, want 2", n)
	}
	d.run(insert)
	d.moveClock(99 * 24 * time.Hour)
	d.run(insert) // 99 days without an ID
}
