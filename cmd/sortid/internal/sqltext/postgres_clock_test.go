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
