package sqltext

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testids"
	"github.com/sortid/sortid/internal/testserver"
)

func TestPostgresInlinesTimeFunctions(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		plan := strings.Join(d.query(f.sql(
			`EXPLAIN VERBOSE SELECT F_time(id), F_first(at), F_partman_time(id::text)
			FROM (VALUES (NULL::TYPE, now()), (NULL, now())) AS v(id, at)`)), "\n")
		if strings.Contains(plan, f.name+"_") || !strings.Contains(plan, "EXTRACT") {
			t.Errorf("%s: the plan calls functions, want their expressions:\n%s", f.name, plan)
		}
	}
}

func TestPostgresDeclaresFunctionsForThePlanner(t *testing.T) {
	d := install(t)
	for _, row := range d.query(`
		SELECT proname || ': ' || coalesce(obj_description(p.oid), 'no comment')
		FROM pg_proc AS p
		WHERE pronamespace = $1::regnamespace AND (obj_description(p.oid) IS NULL
		  OR NOT (proisstrict OR proname ~ '^(reject|is_)|_is_|_join' OR provolatile = 'v')
		  OR provolatile <> CASE WHEN proname ~ '_new|_at$|advance|beg[iu]n|^clock|recover' THEN 'v' ELSE 'i' END
		  OR proparallel <>
		    CASE WHEN proname ~ 'ordered|counted|scru64_new|advance|begin|recover' THEN 'u' ELSE 's' END)`,
		`"`+d.schema+`"`) {
		t.Errorf("no comment, or wrong STRICT, volatility or parallel safety: %s", row)
	}
	if many := d.one("count(*) >= 40 FROM pg_proc WHERE pronamespace = $1::regnamespace", `"`+d.schema+
		`"`); many != "t" {
		t.Error("less than 40 functions in the schema")
	}
}

func TestPostgresPrunesPartitions(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		table := f.name + "_events"
		d.run("CREATE TABLE " + table + " (id " + f.typ + " PRIMARY KEY) PARTITION BY RANGE (id)")
		// Partition 12 contains now.
		start := time.Now().UTC().AddDate(0, -12, -15).Truncate(24 * time.Hour)
		month := func(i int) string {
			return start.AddDate(0, i, 0).Format("2006-01-02 15:04:05+00")
		}
		for i := range 24 {
			d.run(fmt.Sprintf(f.sql("CREATE TABLE %[1]s_%[2]d PARTITION OF %[1]s "+
				"FOR VALUES FROM (F_first('%[3]s')) TO (F_first('%[4]s'))"),
				table, i, month(i), month(i+1)))
		}
		d.run(fmt.Sprintf(f.sql("INSERT INTO %s SELECT F_first(t) FROM generate_series("+
			"timestamptz '%s', timestamptz '%s' - interval '1 day', '1 day') AS t"),
			table, month(0), month(24)))
		d.run("ANALYZE " + table)
		where := "SELECT count(*) FROM " + table +
			f.sql(" WHERE id >= F_first(%s) AND id < F_first(%s)")
		literal := fmt.Sprintf(where, "'"+month(5)+"'", "'"+month(6)+"'")
		scans := func(what, query string, partitions ...string) {
			t.Helper()
			plan := strings.Join(d.query("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "+query), "\n")
			for i := range 24 {
				name := fmt.Sprintf("%s_%d ", table, i)
				read := strings.Contains(plan, "on "+name) ||
					strings.Contains(plan, "using "+table+"_"+strconv.Itoa(i)+"_pkey")
				for line := range strings.Lines(plan) {
					if strings.Contains(line, "on "+name) &&
						strings.Contains(line, "never executed") {
						read = false
					}
				}
				if read != slices.Contains(partitions, strconv.Itoa(i)) {
					t.Errorf("%s, %s: partition %d read: %v\n%s", f.name, what, i, read, plan)
					return
				}
			}
		}
		scans("literals", literal, "5")
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			d.run("SET plan_cache_mode = " + mode + "; PREPARE range_" + f.name +
				"(timestamptz, timestamptz) AS " + fmt.Sprintf(where, "$1", "$2"))
			scans(mode, "EXECUTE range_"+f.name+"('"+month(7)+"', '"+month(8)+"')", "7")
			d.run("DEALLOCATE range_" + f.name)
		}
		d.run("RESET plan_cache_mode")
		scans("now()", fmt.Sprintf(where, "now() - interval '1 second'", "now()"), "12")
		d.run("SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off")
		scans("a join", fmt.Sprintf("SELECT sum(x.count) FROM (VALUES (timestamptz '%s', "+
			"timestamptz '%s')) AS v(a, b), generate_series(1, 2), LATERAL (%s) AS x",
			month(9), month(10), fmt.Sprintf(where, "a", "b")), "9")
		scans("a nested loop", fmt.Sprintf(f.sql("SELECT count(*) FROM generate_series("+
			"timestamptz '%[1]s' + interval '1 day', '%[1]s'::timestamptz + interval '3 days', "+
			"'1 day') AS t JOIN %[2]s ON id = F_first(t)"), month(3), table), "3")
		d.run("RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_seqscan")
		if got, want := d.query(literal)[0], start.AddDate(0, 6,
			0).Sub(start.AddDate(0, 5, 0))/(24*time.Hour); got != fmt.Sprint(int(want)) {
			t.Errorf("%s: %s rows in %s, want %d", f.name, got, month(5), want)
		}
	}
}

// A role without rights on the schema can use the DEFAULTs that docs/databases.md names.
func TestPostgresDefaultsWithoutUsage(t *testing.T) {
	d := install(t)
	role := "sortid_test_" + strconv.FormatUint(rand.Uint64(), 36)
	d.run("CREATE SCHEMA " + role + "; CREATE ROLE " + role)
	defer d.run("DROP SCHEMA " + role + " CASCADE; DROP ROLE " + role)
	d.run("GRANT USAGE ON SCHEMA " + role + " TO " + role)
	for i, g := range generators {
		table := fmt.Sprintf("%s.t%d", role, i)
		d.run("CREATE TABLE " + table + " (id " + formatOf(g.format).typ + " DEFAULT " + g.name +
			", n int); GRANT INSERT ON " + table + " TO " + role)
		user := connect(t, d.url, d.schema) // has compiled no function as the owner
		user.run("SET ROLE " + role)
		_, err := user.Exec(t.Context(), "INSERT INTO "+table+" (n) VALUES (1)")
		works := slices.Contains([]string{"sortid.scru128_new()", "sortid.scru128_new_counted()",
			"sortid.euid_new()"}, g.name)
		if (err == nil) != works {
			t.Errorf("DEFAULT %s without USAGE: %v; want an error: %v", g.name, err, !works)
		}
	}
}

func formatOf(name string) tested {
	return formats[slices.IndexFunc(formats, func(f tested) bool { return f.name == name })]
}

// A role can use the generators, but cannot move their sequences.
func TestPostgresRoleCannotMoveSequences(t *testing.T) {
	d := install(t)
	role := "sortid_test_" + strconv.FormatUint(rand.Uint64(), 36)
	d.run("CREATE ROLE " + role)
	defer d.run("RESET ROLE; DROP OWNED BY " + role + "; DROP ROLE " + role)
	d.run(`GRANT USAGE ON SCHEMA sortid TO ` + role)
	d.run("SET ROLE " + role)
	for _, g := range generators {
		for range 3 {
			d.one(g.text())
		}
	}
	for _, query := range []string{
		"SELECT setval('sortid.scru64_state', 1)",
		"SELECT sortid.advance('scru64', 'sortid.scru64_state', 1, 281474976710656, 24, 1, 1)",
		"ALTER SEQUENCE sortid.scru64_state RESTART",
		"SELECT sortid.recover(true)",
	} {
		if code, _ := d.code(query); code != "42501" {
			t.Errorf("%s: code %s, want 42501", query, code)
		}
	}
	d.run("RESET ROLE")
}

// A plain user can load the file with psql, even twice. After a restored dump, generators continue
// after the last IDs.
func TestPostgresContinuesAfterRestore(t *testing.T) {
	testserver.Long(t, "tests functions of a database")
	server := testserver.StartPostgres(t, "wal_level=logical")
	admin := connect(t, server.URL, DefaultSchema)
	admin.run("CREATE ROLE plain LOGIN PASSWORD 'pass'")
	for _, name := range []string{"a", "b", "c"} {
		admin.run("CREATE DATABASE " + name + " OWNER plain")
	}
	at := func(name string) string {
		u := check.Must(url.Parse(server.URL))(t)
		u.User, u.Path = url.UserPassword("plain", "pass"), "/"+name
		return u.String()
	}
	text := check.Must(Postgres(DefaultSchema, spec.Ours()))(t)
	for range 2 {
		output(t, text, "psql", "-q", "-v", "ON_ERROR_STOP=1", "-X", at("a"))
	}
	output(t, text, "psql", "-q", "-v", "ON_ERROR_STOP=1", "-X", "-1", at("a"))
	a := connect(t, at("a"), DefaultSchema)
	a.setClock()
	a.run(`CREATE TABLE events (
		a bigint DEFAULT sortid.scru64_new(1, 8),
		b uuid PRIMARY KEY DEFAULT sortid.scru128_new_ordered(),
		c uuid DEFAULT sortid.scru128_new_counted(),
		d uuid DEFAULT sortid.euid_new(),
		e sortid.scru160 DEFAULT sortid.scru160_new(),
		f sortid.scru64 DEFAULT sortid.scru64_new(1, 8),
		n int,
		at timestamptz GENERATED ALWAYS AS (sortid.scru128_time(b)) STORED);
		CREATE INDEX ON events (sortid.scru128_text(b));
		INSERT INTO events (n) SELECT generate_series(1, 1000)`)
	dump := output(t, "", "pg_dump", "--no-owner", at("a"))
	output(t, dump, "psql", "-q", "-v", "ON_ERROR_STOP=1", "-X", at("b"))
	b := connect(t, at("b"), DefaultSchema)
	if n := b.one("count(*) FROM events"); n != "1000" {
		t.Errorf("%s rows after the restore, want 1000", n)
	}
	// The clock still shows the time of the last IDs.
	b.run("INSERT INTO events (n) SELECT generate_series(1001, 1100)")
	for column, typ := range map[string]string{"a": "bigint", "b": "uuid", "f": "bigint"} {
		if ok := b.one("bool_and(x > y) FROM (SELECT " + column + "::" + typ + " AS x, lag(" +
			column + "::" + typ + ") OVER (ORDER BY n) AS y FROM events) AS t"); ok != "t" {
			t.Errorf("column %s is out of order after the restore", column)
		}
	}
	// After the file has run in the restored schema, the generators continue.
	output(t, text, "psql", "-q", "-v", "ON_ERROR_STOP=1", "-X", at("b"))
	if ok := b.one("sortid.scru128_new_ordered() > max(b::text)::uuid FROM events"); ok != "t" {
		t.Error("out of order after the file was run again")
	}

	// After a rename, the file for the new name mends the functions, and keeps the state.
	b.run("ALTER SCHEMA sortid RENAME TO ids")
	b.schema = "ids"
	if code, _ := b.code("SELECT ids.scru128_new_ordered()"); code != "3F000" {
		t.Errorf("after a rename alone: code %s, want 3F000", code)
	}
	output(t, check.Must(Postgres("ids", spec.Ours()))(t), "psql", "-q", "-v", "ON_ERROR_STOP=1", "-X",
		"-1", at("b"))
	b.run("INSERT INTO events (n) VALUES (2000)")
	if ok := b.one("ids.scru128_new_ordered() > max(b::text)::uuid AND min(at) > '2020-01-01' " +
		"FROM events"); ok != "t" {
		t.Error("out of order after the schema was renamed")
	}

	// The dump of only a table's schema needs the functions. A subscriber of logical replication
	// does not get the state of the sequences, and continues by its clock.
	a.run("ALTER TABLE events SET SCHEMA public; CREATE PUBLICATION events FOR TABLE events")
	output(t, text, "psql", "-q", "-v", "ON_ERROR_STOP=1", "-X", "-1", at("c"))
	tables := output(t, "", "pg_dump", "--no-owner", "--schema-only", "--no-publications", "-n", "public",
		at("a"))
	output(t, strings.Replace(tables, "CREATE SCHEMA public;", "", 1), "psql", "-q", "-v",
		"ON_ERROR_STOP=1", "-X", at("c"))
	place := check.Must(url.Parse(server.URL))(t)
	of := func(name string) string { place.Path = "/" + name; return place.String() }
	publisher, c := connect(t, of("a"), DefaultSchema), connect(t, of("c"), DefaultSchema)
	publisher.one("pg_create_logical_replication_slot('events', 'pgoutput')")
	c.run("CREATE SUBSCRIPTION events CONNECTION '" + of("a") +
		"' PUBLICATION events WITH (create_slot = false, slot_name = events)")
	if !check.Soon(func() bool { return c.one("count(*) FROM events") == "1000" }) {
		t.Fatal("the subscriber does not get the rows")
	}
	if got := c.one("last_value FROM sortid.scru128_state"); got != "0" {
		t.Errorf("the subscriber's sequence is at %s, want 0: the document says so", got)
	}
	time.Sleep(3 * time.Second) // as the document says
	c.run("INSERT INTO events (n) VALUES (1001)")
	if ok := c.one(`bool_and(x.a > y.a AND x.b > y.b) FROM events AS x, events AS y
		WHERE x.n = 1001 AND y.n < 1001`); ok != "t" {
		t.Error("the subscriber's first IDs are not the largest")
	}
	c.run("DROP SUBSCRIPTION events")
}

// As in docs/databases.md, an estimate for a time range within one part of the histogram is one
// row, and a larger histogram helps.
func TestPostgresEstimatesTimeRanges(t *testing.T) {
	d := install(t)
	d.run(`CREATE TABLE events (id uuid PRIMARY KEY, n bigint UNIQUE);
		INSERT INTO events SELECT sortid.scru128_new(t), sortid.scru64_first(t)
		FROM generate_series(timestamptz '2026-01-01', timestamptz '2026-01-03', '1 second') AS t;
		ANALYZE events`)
	// A third of the ranges lie in two parts of the histogram. So the test has many ranges.
	estimates := func(column, format string) (all []int) {
		for hour := range 24 {
			plan := d.query(fmt.Sprintf("EXPLAIN SELECT * FROM events WHERE %[1]s >= sortid.%[2]s_first("+
				"'2026-01-01 %02[3]d:10+00') AND %[1]s < sortid.%[2]s_first('2026-01-01 %02[3]d:20+00')",
				column, format, hour))
			_, rows, _ := strings.Cut(plan[0], "rows=")
			rows, _, _ = strings.Cut(rows, " ")
			all = append(all, check.Must(strconv.Atoi(rows))(t))
		}
		return all
	}
	if all := estimates("id", "scru128"); slices.Min(all) > 10 {
		t.Errorf("the estimates for 600 rows are %d, so the document needs no advice", all)
	}
	if all := estimates("n", "scru64"); slices.Min(all) < 200 || slices.Max(all) > 1800 {
		t.Errorf("scru64: the estimates for 600 rows are %d", all)
	}
	d.run("ALTER TABLE events ALTER COLUMN id SET STATISTICS 1000; ANALYZE events")
	if all := estimates("id", "scru128"); slices.Min(all) < 200 || slices.Max(all) > 1800 {
		t.Errorf("with a larger histogram, the estimates for 600 rows are %d", all)
	}
}

// The SQL of one format does not need the others.
func TestPostgresInstallsOneFormatAlone(t *testing.T) {
	testserver.Long(t, "tests functions of a database")
	for _, only := range spec.Ours() {
		name := only.Name
		schema := "only_" + name + strconv.FormatUint(rand.Uint64(), 36)
		d := connect(t, testserver.Postgres(t), schema)
		d.run(check.Must(Postgres(schema, []*spec.Format{only}))(t))
		f := formatOf(name)
		if got := d.one(f.sql("F_text(F_first('infinity'))")); got != f.max {
			t.Errorf("%s alone: first of infinity is %s, want %s", name, got, f.max)
		}
		d.run(`DROP SCHEMA "` + schema + `" CASCADE`)
	}
	for _, bad := range []string{"", "a b", `a"`, "1a", strings.Repeat("a", 64), "a.b"} {
		if text, err := Postgres(bad, spec.Ours()); err == nil {
			t.Errorf("schema %q: want an error, got %.100s", bad, text)
		}
	}
}

// The functions have the same results if a schema before pg_catalog has operators, functions and
// types of the same names, which raise errors.
func TestPostgresHoldsUnderHostileSearchPath(t *testing.T) {
	d := install(t)
	evil := d.schema + "_evil"
	d.run(`CREATE SCHEMA "` + evil + `"`)
	defer d.run(`DROP SCHEMA "` + evil + `" CASCADE`)
	const basic = "'bool int2 int4 int8 numeric float8 text bytea uuid timestamp timestamptz " +
		"interval bit varbit oid regclass name'"
	d.run(`DO $do$
		DECLARE
			f record;
			types oid[] := string_to_array(` + basic + `, ' ')::regtype[]::oid[];
		BEGIN
			SET LOCAL check_function_bodies = off;
			FOR f IN SELECT proname, pg_get_function_identity_arguments(oid) AS args,
					prorettype::regtype AS type
				FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f'
					AND proargtypes::oid[] <@ types AND prorettype = ANY (types) AND NOT proretset AND provariadic = 0
			LOOP
				EXECUTE format('CREATE FUNCTION "` + evil + `".%I(%s) RETURNS %s LANGUAGE plpgsql
					AS $f$ BEGIN RAISE EXCEPTION ''evil function''; END $f$', f.proname,
					f.args, f.type);
			END LOOP;
			FOR f IN SELECT oprname, oprleft::regtype AS l, oprright::regtype AS r,
					oprresult::regtype AS type, 'op' || oid AS function
				FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b'
					AND oprleft = ANY (types) AND oprright = ANY (types) AND oprresult = ANY (types)
			LOOP
				EXECUTE format('CREATE FUNCTION "` + evil + `".%I(%s, %s) RETURNS %s LANGUAGE plpgsql
					AS $f$ BEGIN RAISE EXCEPTION ''evil operator''; END $f$', f.function, f.l, f.r, f.type);
				EXECUTE format('CREATE OPERATOR "` + evil + `".%s
					(FUNCTION = "` + evil + `".%I, LEFTARG = %s, RIGHTARG = %s)',
					f.oprname, f.function, f.l, f.r);
			END LOOP;
		END $do$;
		CREATE DOMAIN "` + evil + `".text AS pg_catalog.int4;
		CREATE DOMAIN "` + evil + `".bytea AS pg_catalog.int4;
		CREATE DOMAIN "` + evil + `".uuid AS pg_catalog.int4`)
	if many := d.one("count(*) >= 1000 FROM pg_proc WHERE pronamespace = $1::regnamespace",
		`"`+evil+`"`); many != "t" {
		t.Fatal("less than 1000 evil functions and operators")
	}
	others := otherFormats(func(f []*spec.Format) (string, error) { return Postgres("x", f) })
	d.run(check.Must(Postgres(d.schema, others))(t))
	hostile := connect(t, d.url, d.schema)
	hostile.run(`SET search_path = "` + evil + `", pg_catalog`)
	for _, bad := range []string{"translate('a', 'b', 'c')", "int8send(1)", "1::int8 + 1::int8"} {
		if code, message := hostile.code("SELECT " + bad); !strings.HasPrefix(message, "evil") {
			t.Errorf("%s: %s %s, want an evil error", bad, code, message)
		}
	}
	for _, f := range formats {
		for _, v := range readVectors(t, f.name).Valid {
			calls := []string{"F_text(F_parse('" + v.Text + "'))", "F_parse('" + v.Text + "')",
				"F_time(F_parse('" + v.Text + "'))", "F_first(F_time(F_parse('" + v.Text + "')))",
				"typed_parse('user', sortid.typed_text('user', F_text(F_parse('" + v.Text + "'))))"}
			if f.typ == "uuid" {
				calls = append(calls, "F_parse('"+f.stored(v.Text)+"')")
			}
			for _, call := range calls {
				call = strings.Replace(f.sql("SELECT "+call), "typed_parse", "sortid.typed_parse", 1)
				if got, err := hostile.queryError(call); err != nil || got[0] != d.query(call)[0] {
					t.Errorf("%s: %q, %v; want %q", call, got, err, d.query(call))
				}
			}
		}
		for _, v := range readVectors(t, f.name).Invalid {
			call := f.sql("SELECT F_parse($1)")
			want, wantMessage := d.code(call, v.Text)
			if code, message := hostile.code(call, v.Text); code != want || message != wantMessage {
				t.Errorf("%s of %q: %s %s, want %s %s", call, v.Text, code, message, want, wantMessage)
			}
		}
	}
	r := rand.New(rand.NewPCG(13, 14))
	for _, f := range others {
		for _, c := range testids.Columns(f) {
			typ := map[spec.Encoding]string{spec.UUID: "uuid", spec.Int: "int8"}[c.Encoding]
			call := "SELECT sortid." + c.Time + "($1::pg_catalog." + cmp.Or(typ, "text") + ")"
			for _, id := range testids.IDs(f, r, 5) {
				if !c.Fits(id.Words) {
					continue
				}
				value := c.Value(id.Words)
				if got, err := hostile.queryError(call, value); err != nil || got[0] != d.query(call, value)[0] {
					t.Errorf("%s of %s: %q, %v", call, value, got, err)
				}
			}
			if c.First == "" {
				continue
			}
			call = "SELECT sortid." + c.First + "('2026-11-17')"
			if got, err := hostile.queryError(call); err != nil || got[0] != d.query(call)[0] {
				t.Errorf("%s: %q, %v", call, got, err)
			}
		}
	}
	calls := []string{"sortid.scru128_new(pg_catalog.now())", "sortid.euid_new(pg_catalog.now())",
		"sortid.scru160_new(pg_catalog.now())", "sortid.version()", "sortid.recover()"}
	for _, g := range generators {
		calls = append(calls, g.text())
	}
	for range 2 {
		for _, call := range calls {
			if got, err := hostile.queryError("SELECT " + call); err != nil || len(got[0]) < 7 {
				t.Errorf("%s: %q, %v", call, got, err)
			}
		}
	}
	for _, call := range []string{"sortid.scru64_new(9, 2)", "sortid.scru64_new(1, 2, pg_catalog.now())",
		"sortid.uid60_new(pg_catalog.now())", "sortid.scru64_text(-1)", "sortid.uid60_text(-1)",
		"sortid.scru160_text('')", "sortid.typed_text('A', 'x')", "sortid.typed_parse('a', 'b_x')",
		"sortid.euid_new('infinity')"} {
		want, _ := d.code("SELECT " + call)
		if code, message := hostile.code("SELECT " + call); code != want {
			t.Errorf("%s: %s %s, want %s", call, code, message, want)
		}
	}
}

// Two clients run the file at once. One waits for the other.
func TestPostgresInstallsTwiceAtOnce(t *testing.T) {
	d := install(t)
	other := connect(t, d.url, d.schema)
	text := d.in(check.Must(Postgres(d.schema, spec.Ours()))(t))
	for range 3 {
		done := make(chan error)
		go func() {
			_, err := other.PgConn().Exec(context.Background(), text).ReadAll()
			done <- err
		}()
		d.run(text)
		check.OK(t, <-done)
	}
	if v := d.one("sortid.version()"); v == "" {
		t.Error("no version")
	}
}
