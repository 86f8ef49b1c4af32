package sqltext

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sortid/sortid/cmd/sortid/internal/check"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/testserver"
	"github.com/sortid/sortid/verify/duplicates"
	"github.com/sortid/sortid/verify/report"
)

type database struct {
	t      testing.TB
	url    string
	schema string
	*pgx.Conn
}

func install(t testing.TB) *database {
	t.Helper()
	testserver.Long(t, "tests functions of a database")
	place := testserver.Postgres(t)
	u := check.Must(url.Parse(place))(t)
	schema := "Sortid_" + u.Query().Get("search_path")
	d := connect(t, place, schema)
	d.run(check.Must(Postgres(schema, format.Ours()))(t))
	t.Cleanup(func() { d.run(`DROP SCHEMA "` + schema + `" CASCADE`) })
	return d
}

func connect(t testing.TB, place, schema string) *database {
	t.Helper()
	conn := check.Must(pgx.Connect(context.Background(), place))(t)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return &database{t: t, url: place, schema: schema, Conn: conn}
}

func (d *database) in(statement string) string { return inSchema(statement, d.schema) }

func (d *database) run(statements string) {
	d.t.Helper()
	if _, err := d.PgConn().Exec(context.Background(), d.in(statements)).ReadAll(); err != nil {
		d.t.Fatalf("%v\n%.500s", err, statements)
	}
}

func (d *database) query(query string, args ...any) []string {
	d.t.Helper()
	rows, err := d.queryError(query, args...)
	if err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	return rows
}

func (d *database) queryError(query string, args ...any) ([]string, error) {
	args = append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)
	rows, err := d.Query(context.Background(), d.in(query), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		value := row.RawValues()[0]
		if value == nil {
			return "NULL", nil
		}
		return string(value), nil
	})
}

func (d *database) one(expression string, args ...any) string {
	d.t.Helper()
	return d.query("SELECT "+expression, args...)[0]
}

func (d *database) code(query string, args ...any) (code, message string) {
	rows, err := d.queryError(query, args...)
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		d.t.Errorf("%s %v: %v, %v; want an error of the server", query, args, rows, err)
		return "", ""
	}
	return e.Code, e.Message
}

type tested struct {
	*format.Format
	name, typ   string // typ is the SQL type of an ID
	epoch, last time.Time
	max         string
}

var formats = func() (list []tested) {
	for _, s := range format.Ours() {
		first, last := s.Range()
		list = append(list, tested{s, s.Name, s.SQL.Postgres, first, last.Add(time.Nanosecond),
			s.Max().String()})
	}
	return list
}()

// sql replaces F_ by the functions' prefix, such as sortid.euid_, and TYPE by the SQL type.
func (f tested) sql(statement string) string {
	return strings.NewReplacer("F_", "sortid."+f.name+"_", "TYPE", f.typ).Replace(statement)
}

func (f tested) here(statement string) string {
	return strings.ReplaceAll(statement, "F_", f.name+"_")
}

func (f tested) stored(text string) string {
	id, err := f.Parse(text)
	switch {
	case err != nil:
		panic(err)
	case f.typ == "uuid":
		return id.In(format.UUID)
	case f.typ == "bytea":
		return `\x` + id.In(format.Hex)
	}
	return id.In(format.Int)
}

// first returns the text of a time's smallest ID. For a time out of range, it returns the format's
// first or last ID.
func (f tested) first(at time.Time) string {
	end, err := f.max, error(nil)
	if at.Before(f.last) {
		id, _ := f.FromBytes(make([]byte, f.Size))
		if !at.Before(f.epoch.Add(f.Tick)) {
			_, id, err = f.Bounds(f.epoch, at)
		}
		end = id.String()
	}
	if err != nil {
		panic(err)
	}
	return end
}

func (f tested) random(r *rand.Rand) string {
	b := make([]byte, f.Size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	n, limit := new(big.Int).SetBytes(b), f.Max().Big()
	id, err := f.ParseAs(format.Int, n.Mod(n, limit.Add(limit, big.NewInt(1))).String())
	if err != nil {
		panic(err)
	}
	return id.String()
}

type vectors struct {
	Valid []struct {
		Text, Canonical, Hex, Time string
		Int                        json.Number
	}
	Invalid []struct{ Note, Text, Reason string }
	Typed   struct {
		Valid   []struct{ Prefix, Inner, Text string }
		Invalid []struct{ Want, Found, Text, Reason string }
	}
}

func readVectors(t testing.TB, format string) (v vectors) {
	t.Helper()
	b, err := os.ReadFile("../../../../" + format + "/testdata/vectors.json")
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Valid) < 30 || len(v.Invalid) < 30 || len(v.Typed.Valid) == 0 {
		t.Fatalf("%s: only %d and %d vectors", format, len(v.Valid), len(v.Invalid))
	}
	for i, valid := range v.Valid {
		if v.Valid[i].Canonical = cmp.Or(valid.Canonical, valid.Text); format == "scru160" {
			v.Valid[i].Canonical = scru160.MustParse(v.Valid[i].Canonical).String()
		}
	}
	return v
}

func (f tested) times() (times []time.Time) {
	near := []time.Time{f.epoch, f.last}
	for _, at := range []string{"1970-01-01 00:00:00", "2026-11-17 10:30:00", "2038-01-19 03:14:08",
		"2106-02-07 06:28:16", "2262-04-11 23:47:16", "4253-01-01 00:00:00", "5000-07-01 00:00:00",
		"9999-12-31 23:59:58", "9999-12-31 23:59:59"} {
		t, err := time.Parse(time.DateTime, at)
		if err != nil {
			panic(err)
		}
		near = append(near, t)
	}
	for _, at := range near {
		for _, d := range []time.Duration{-time.Second, -f.Tick, -time.Microsecond, 0,
			time.Microsecond, 999 * time.Microsecond, time.Millisecond, f.Tick} {
			times = append(times, at.Add(d).UTC())
		}
	}
	return times
}

func TestPostgresVectors(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		v := readVectors(t, f.name)
		for _, v := range v.Valid {
			got := d.query(f.sql(`SELECT x FROM (SELECT F_parse($1) AS id) AS t,
				LATERAL (VALUES (id::text), (F_text(id)),
				(to_char(F_time(id) AT TIME ZONE 'UTC', 'FMYYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) AS v(x)`),
				v.Text)
			if want := []string{f.stored(v.Text), v.Canonical, v.Time}; !slices.Equal(got, want) {
				t.Errorf("%s %s: %q, want %q", f.name, v.Text, got, want)
			}
		}
		for _, v := range v.Invalid {
			if strings.Contains(v.Text, "\x00") {
				continue // the type text cannot have this byte
			}
			code, message := d.code(f.sql("SELECT F_parse($1)"), v.Text)
			want, reason := "22P02", map[string]string{
				"length": "wrong length: ", "symbol": "not a",
				"check": "the check value does not fit", "range": "larger than ",
			}[v.Reason]
			if f.name == "uid60" && v.Reason == "symbol" {
				reason = "not one of"
			}
			if v.Reason == "range" {
				want = "22003"
			}
			if code != want || reason == "" || !strings.Contains(message, reason) ||
				!strings.HasPrefix(message, f.name+": ") {
				t.Errorf("%s %q (%s): %s %s; want %s and %q", f.name, v.Text, v.Note, code, message,
					want, reason)
			}
		}
	}
}

// manyIDs returns how many random IDs of each format to convert.
func manyIDs(t *testing.T) int {
	t.Helper()
	if testserver.Soak(t) > 0 {
		return 1_000_000
	}
	return 50_000
}

func TestPostgresRandom(t *testing.T) {
	testserver.Long(t, "converts many IDs")
	d := install(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range formats {
		for left := manyIDs(t); left > 0; left -= 10_000 {
			texts := make([]string, min(left, 10_000))
			stored := make([]string, len(texts))
			for i := range texts {
				texts[i] = f.random(r)
				stored[i] = f.stored(texts[i])
			}
			got := d.query(f.sql(`
				SELECT t || ' ' || s || ' ' || F_text(s::TYPE) || ' ' || F_parse(t)::text
				FROM unnest($1::text[], $2::text[]) AS x(t, s)
				WHERE F_text(s::TYPE) <> t COLLATE "C" OR F_parse(t)::text <> s COLLATE "C"`),
				texts, stored)
			if len(got) > 0 {
				t.Fatalf("%s: %d of %d are wrong, such as %s", f.name, len(got), len(texts), got[0])
			}
		}
	}
}

// Each random bit is 1 in about half of the IDs.
func TestPostgresRandomBits(t *testing.T) {
	d := install(t)
	const n = 4000
	for _, g := range []struct {
		call   string
		from   int      // the first random bit
		zeroes [][2]int // ranges of later bits that are 0, without their ends
	}{
		{"uuid_send(sortid.scru128_new())", 48, nil},
		{"uuid_send(sortid.scru128_new_counted())", 96, nil},
		{"uuid_send(sortid.scru128_new_ordered())", 64, nil},
		{"uuid_send(sortid.euid_new())", 42, [][2]int{{57, 64}}},
		{"sortid.scru160_new()", 48, [][2]int{{48, 49}}},
	} {
		var ones [160]int
		bits := 0
		for _, digits := range d.query(
			fmt.Sprintf("SELECT encode(%s, 'hex') FROM generate_series(1, %d)", g.call, n)) {
			id := check.Must(hex.DecodeString(digits))(t)
			bits = 8 * len(id)
			for i := range bits {
				ones[i] += int(id[i/8] >> (7 - i%8) & 1)
			}
		}
		for i := g.from; i < bits; i++ {
			least, most := n*45/100, n*55/100 // more than six standard deviations
			for _, z := range g.zeroes {
				if z[0] <= i && i < z[1] {
					least, most = 0, 0
				}
			}
			if ones[i] < least || ones[i] > most {
				t.Errorf("%s: bit %d is 1 in %d of %d", g.call, i, ones[i], n)
			}
		}
	}
}

func TestPostgresTimes(t *testing.T) {
	d := install(t)
	d.run("SET TIME ZONE 'Asia/Kathmandu'") // the results must not depend on it
	const layout = "2006-01-02 15:04:05.999999+00"
	for _, f := range formats {
		for _, at := range f.times() {
			text := strings.TrimPrefix(at.Format(layout), "+")
			if at.Year() < 1 {
				continue
			}
			first := f.sql("F_first('" + text + "')")
			if got, want := d.one(f.sql("F_text("+first+")")), f.first(at); got != want {
				t.Errorf("%s: first of %s is %s, want %s", f.name, text, got, want)
			}
			if at.Before(f.epoch) || !at.Before(f.last) {
				continue
			}
			tick := f.epoch.Add(at.Sub(f.epoch).Truncate(f.Tick))
			if at.Sub(f.epoch) > 290*365*24*time.Hour { // more than a Duration can be
				tick = time.UnixMilli(
					at.UnixMilli() / f.Tick.Milliseconds() * f.Tick.Milliseconds())
			}
			if got := d.one(f.sql("F_time("+first+") = $1::timestamptz"),
				tick.UTC().Format(layout)); got != "t" {
				t.Errorf("%s: time of the first ID of %s is %s", f.name, text,
					d.one(f.sql("F_time("+first+")")))
			}
		}
		if got := d.one(f.sql("F_partman_time(F_first('2026-11-01 00:00+00')::text) = " +
			"'2026-11-01 00:00+00'")); got != "t" {
			t.Errorf("%s: pg_partman decodes another time", f.name)
		}
		least := f.first(time.Unix(-1<<40, 0))
		for at, want := range map[string]string{"-infinity": least, "4000-01-01 BC": least,
			"infinity": f.max, "290000-01-01": f.max} {
			if got := d.one(f.sql("F_text(F_first('" + at + "'))")); got != want {
				t.Errorf("%s: first of %s is %s, want %s", f.name, at, got, want)
			}
		}
	}
}

func TestPostgresBadInput(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		for _, call := range []string{"F_text(NULL::TYPE)", "F_parse(NULL)", "F_time(NULL::TYPE)",
			"F_first(NULL)"} {
			if got := d.one(f.sql(call)); got != "NULL" {
				t.Errorf("%s is %s", f.sql(call), got)
			}
		}
	}
	for query, want := range map[string]string{
		"SELECT sortid.scru64_text(-1)":                           "22003",
		"SELECT sortid.scru64_text(4738381338321616896)":          "22003",
		"SELECT sortid.uid60_text(-1)":                            "22003",
		"SELECT sortid.uid60_text(1152921504606846976)":           "22003",
		"SELECT sortid.scru160_text('')":                          "22P02",
		`SELECT sortid.scru160_text('\x00')`:                      "22P02",
		"SELECT (-1)::sortid.scru64":                              "23514",
		"SELECT 4738381338321616896::sortid.scru64":               "23514",
		"SELECT 1152921504606846976::sortid.uid60":                "23514",
		`SELECT '\x00'::sortid.scru160`:                           "23514",
		"SELECT sortid.scru64_new(0, 0)":                          "22023",
		"SELECT sortid.scru64_new(0, 24)":                         "22023",
		"SELECT sortid.scru64_new(256, 8)":                        "22023",
		"SELECT sortid.scru64_new(-1, 8)":                         "22023",
		"SELECT sortid.scru128_parse(repeat('x', 1000000))":       "22P02",
		"SELECT sortid.typed_text('User', 'x')":                   "22023",
		"SELECT sortid.scru128_parse('0372ijojuxuhjſfkeryi2mrt')": "22P02", // some programs read ſ as s
	} {
		if code, message := d.code(query); code != want || len(message) > 200 {
			t.Errorf("%s: %s %s, want %s", query, code, message, want)
		}
	}
}

func TestPostgresTyped(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		cases := readVectors(t, f.name).Typed
		parsed := "F_parse(sortid.typed_parse($1, $2))"
		for _, v := range cases.Valid {
			got := d.query(f.sql("SELECT x FROM (SELECT "+parsed+" AS id) AS t, LATERAL "+
				"(VALUES (F_text(id)), (sortid.typed_text($1, F_text(id)))) AS v(x)"), v.Prefix, v.Text)
			if want := []string{v.Inner, v.Text}; !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", v.Text, got, want)
			}
			switch f.name {
			case "scru64", "scru128", "scru160":
				if got := d.one(f.sql("sortid.typed_text($1, "+parsed+")"), v.Prefix,
					v.Text); got != v.Text {
					t.Errorf("%s: by the ID's type %s", v.Text, got)
				}
			}
		}
		for _, v := range cases.Invalid {
			if v.Want == "" && v.Found != "" {
				if code, _ := d.code("SELECT sortid.typed_text($1, '')", v.Found); code != "22023" {
					t.Errorf("prefix %q: %s", v.Found, code)
				}
			}
			if v.Want == "" {
				continue
			}
			code, message := d.code(f.sql("SELECT "+parsed), v.Want, v.Text)
			found := fmt.Sprintf("wrong prefix %q", v.Found)
			if v.Found == "" {
				found = "there is none"
			}
			names := strings.Contains(message, found) && strings.Contains(message, `want "user"`)
			if code != "22P02" || names != (v.Reason == "prefix") {
				t.Errorf("%s: %s %s", v.Text, code, message)
			}
		}
	}
}

func TestPostgresInlined(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		plan := strings.Join(d.query(f.sql(
			`EXPLAIN VERBOSE SELECT F_time(id), F_first(at), F_partman_time(id::text)
			FROM (VALUES (NULL::TYPE, now()), (NULL, now())) AS v(id, at)`)), "\n")
		if strings.Contains(plan, f.name+"_") || !strings.Contains(plan, "EXTRACT") {
			t.Errorf("%s: not inlined:\n%s", f.name, plan)
		}
	}
}

func TestPostgresCatalog(t *testing.T) {
	d := install(t)
	for _, row := range d.query(`
		SELECT proname || ': ' || coalesce(obj_description(p.oid), 'no comment')
		FROM pg_proc AS p
		WHERE pronamespace = $1::regnamespace AND (obj_description(p.oid) IS NULL
		  OR NOT (proisstrict OR proname LIKE 'reject%' OR provolatile = 'v')
		  OR provolatile <> CASE WHEN proname ~ '_new|advance|begin|^clock' THEN 'v' ELSE 'i' END
		  OR proparallel <>
		    CASE WHEN proname ~ 'ordered|counted|scru64_new|advance|begin' THEN 'u' ELSE 's' END)`,
		`"`+d.schema+`"`) {
		t.Error(row)
	}
	if n := d.one("count(*) FROM pg_proc WHERE pronamespace = $1::regnamespace", `"`+d.schema+
		`"`); n < "40" {
		t.Errorf("%s functions", n)
	}
}

func TestPostgresPruning(t *testing.T) {
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
		d.run("SET enable_hashjoin = off; SET enable_mergejoin = off")
		scans("a join", fmt.Sprintf("SELECT sum(x.count) FROM (VALUES (timestamptz '%s', "+
			"timestamptz '%s')) AS v(a, b), generate_series(1, 2), LATERAL (%s) AS x",
			month(9), month(10), fmt.Sprintf(where, "a", "b")), "9")
		scans("a nested loop", fmt.Sprintf(f.sql("SELECT count(*) FROM generate_series("+
			"timestamptz '%[1]s' + interval '1 day', '%[1]s'::timestamptz + interval '3 days', "+
			"'1 day') AS t JOIN %[2]s ON id = F_first(t)"), month(3), table), "3")
		d.run("RESET enable_hashjoin; RESET enable_mergejoin")
		if got, want := d.query(literal)[0], start.AddDate(0, 6,
			0).Sub(start.AddDate(0, 5, 0))/(24*time.Hour); got != fmt.Sprint(int(want)) {
			t.Errorf("%s: %s rows in %s, want %d", f.name, got, month(5), want)
		}
	}
}

type generator struct {
	name, format string
	ordered      bool // its IDs strictly increase over all sessions
	session      bool // its IDs strictly increase in each session
}

var generators = []generator{
	{"sortid.scru64_new(5, 8)", "scru64", true, true},
	{"sortid.scru128_new()", "scru128", false, false},
	{"sortid.scru128_new_counted()", "scru128", false, true},
	{"sortid.scru128_new_ordered()", "scru128", true, true},
	{"sortid.euid_new()", "euid", false, false},
	{"sortid.scru160_new()", "scru160", false, false},
}

func (g generator) text() string { return "sortid." + g.format + "_text(" + g.name + ")" }

const clients, perClient = 8, 25_000

// generate lets clients make IDs until the context ends, and until each client has made n.
func generate(until context.Context, d *database, expression string, n int) [][]string {
	d.t.Helper()
	all := make([][]string, clients)
	errs := make([]error, clients)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			var conn *pgx.Conn
			defer func() {
				if conn != nil {
					conn.Close(ctx)
				}
			}()
			for len(all[i]) < n || until.Err() == nil {
				if ctx.Err() != nil {
					errs[i] = ctx.Err()
					return
				}
				if conn == nil || conn.IsClosed() {
					var err error
					if conn, err = pgx.Connect(ctx, d.url); err != nil {
						time.Sleep(10 * time.Millisecond)
						continue
					}
				}
				// Count the IDs that came before the server stopped, too.
				rows, err := conn.Query(
					ctx, d.in("SELECT "+expression+" FROM generate_series(1, 200)"))
				if err != nil {
					continue
				}
				for rows.Next() {
					var id string
					if err := rows.Scan(&id); err != nil {
						errs[i] = err
						return
					}
					all[i] = append(all[i], id)
				}
				var e *pgconn.PgError
				if errors.As(rows.Err(), &e) && e.Code[:2] != "57" {
					errs[i] = e
					return
				}
			}
		})
	}
	group.Wait()
	check.OK(d.t, errors.Join(errs...))
	return all
}

func unique(t testing.TB, format string, all [][]string) *report.Unique {
	t.Helper()
	var sources []duplicates.Source
	for i, ids := range all {
		sources = append(sources, duplicates.Source{
			Name: fmt.Sprint("client ", i),
			Open: func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(strings.Join(ids, "\n") + "\n")), nil
			},
		})
	}
	return check.Must(duplicates.Find(t.Context(), format, sources,
		duplicates.Options{Dir: t.TempDir()}))(t)
}

func TestPostgresGenerators(t *testing.T) {
	testserver.Long(t, "makes many IDs")
	d := install(t)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, g := range generators {
		n := perClient
		if !g.ordered {
			n /= 5
		}
		begin := time.Now()
		all := generate(ended, d, g.text(), n)
		r := unique(t, g.format, all)
		if r.Status != report.Pass || r.IDs < uint64(clients*n) {
			t.Errorf("%s: %d IDs, %d twice", g.name, r.IDs, r.Duplicates)
		}
		for i, ids := range all {
			if g.session && !increases(ids) {
				t.Errorf("%s: client %d is out of order", g.name, i)
			}
		}
		s, _ := format.Lookup(g.format)
		now := time.Now()
		if id, err := s.Parse(all[0][0]); err != nil || id.Time().After(now.Add(time.Second)) ||
			id.Time().Before(begin.Add(-time.Second)) {
			t.Errorf("%s: %s from %v to %v, %v", g.name, all[0][0], begin, now, err)
		}
	}
}

func increases(ids []string) bool {
	return slices.IsSortedFunc(ids, func(a, b string) int {
		if a == b {
			return 1
		}
		return strings.Compare(a, b)
	})
}

// The IDs of ordered generators increase from session to session. A ROLLBACK does not change this.
func TestPostgresOrder(t *testing.T) {
	d := install(t)
	for _, g := range generators {
		call := g.text()
		if g.ordered {
			sessions := []*database{d, connect(t, d.url, d.schema), connect(t, d.url, d.schema)}
			var ids []string
			for i := range 600 {
				ids = append(ids, sessions[i%3].one(call))
			}
			if !increases(ids) {
				t.Errorf("%s: out of order over sessions", g.name)
			}
		}
		if g.session {
			var ids []string
			for i := range 600 {
				d.run("BEGIN")
				ids = append(ids, d.one(call))
				d.run([]string{"ROLLBACK", "COMMIT"}[i%2])
			}
			if !increases(ids) {
				t.Errorf("%s: out of order after a ROLLBACK", g.name)
			}
		}
	}
}

// After an immediate stop, no ID is repeated. The naive generator repeats IDs, and the test notices
// this.
func TestPostgresStops(t *testing.T) {
	t.Parallel()
	testserver.Long(t, "tests functions of a database")
	server := testserver.StartPostgres(t, "max_connections=40")
	d := connect(t, server.URL, DefaultSchema)
	d.run(check.Must(Postgres(DefaultSchema, format.Ours()))(t))
	// Even a slow machine makes more than 15 IDs in a tick.
	d.run(`CREATE SEQUENCE naive MAXVALUE 15 CYCLE;
		CREATE FUNCTION naive_new() RETURNS bigint LANGUAGE sql VOLATILE
		RETURN (sortid.clock_ms() / 256 << 24) | (5 << 16) | nextval('naive')`)
	naive := generator{name: "public.naive_new()", format: "scru64"}
	for _, g := range []generator{generators[0], generators[3], naive} {
		stops, end := context.WithCancel(t.Context())
		go func() {
			defer end()
			for range 3 {
				if g == naive {
					return
				}
				time.Sleep(3 * time.Second) // after a crash, the first call waits for up to 2.5 s
				server.Stop()
				server.Start()
			}
		}()
		all := generate(stops, d, g.text(), perClient)
		<-stops.Done()
		r := unique(t, g.format, all)
		if (g == naive) != (r.Duplicates > 0) || r.IDs < clients*perClient {
			t.Errorf("%s: %d IDs, %d of them twice", g.name, r.IDs, r.Duplicates)
		}
		for i, ids := range all {
			if g != naive && !increases(ids) {
				t.Errorf("%s: client %d is out of order", g.name, i)
			}
		}
	}
}

// If the server crashes within a transaction, it does not repeat an ID that it has returned.
func TestPostgresStopsInTransaction(t *testing.T) {
	t.Parallel()
	testserver.Long(t, "tests functions of a database")
	server := testserver.StartPostgres(t)
	d := connect(t, server.URL, DefaultSchema)
	d.run(check.Must(Postgres(DefaultSchema, format.Ours()))(t))
	const n = 20000
	var all []string
	generate := func() {
		all = append(all, d.query(
			"SELECT sortid.scru64_text(sortid.scru64_new(1, 2)) FROM generate_series(1, $1::int)",
			n)...)
	}
	for range 3 {
		d.run("BEGIN")
		generate()
		server.Stop()
		server.Start()
		d = connect(t, server.URL, DefaultSchema)
		generate()
	}
	if r := unique(t, "scru64", [][]string{all}); r.Duplicates > 0 || r.IDs != 6*n {
		t.Errorf("%d IDs, %d of them twice", r.IDs, r.Duplicates)
	}
	if !increases(all) {
		t.Error("out of order")
	}
}

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

func (d *database) locks() string {
	return d.one(`count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
		WHERE locktype = 'advisory' AND datname = current_database() AND classid = 1936683636`)
}

// If the clock is set back too far, the generator raises an error, and leaves no lock.
func TestPostgresClockSetBack(t *testing.T) {
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
				t.Errorf("%s: %s %s", g.name, code, message)
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
				t.Errorf("%s at %s: %s", g.name, at, code)
			}
		}
	}
}

func TestPostgresCounterOverflow(t *testing.T) {
	d := install(t)
	d.setClock()
	d.one("sortid.scru64_new(1, 23)")
	// A generator that is far ahead of the clock waits at each tick. So the test begins when it is
	// already nine of the allowed ten seconds ahead.
	d.moveClock(-9 * time.Second)
	ids := d.query("SELECT sortid.scru64_text(sortid.scru64_new(1, 23)) FROM generate_series(1, 7)")
	if !increases(ids) {
		t.Error("out of order")
	}
	first, last := scru64.MustParse(ids[0]), scru64.MustParse(ids[len(ids)-1])
	if ticks := last.Timestamp() - first.Timestamp(); ticks != 3 && ticks != 4 {
		t.Errorf("7 IDs with counters of one bit took %d ticks", ticks)
	}
	if code, _ := d.code(
		"SELECT sortid.scru64_new(1, 23) FROM generate_series(1, 20)"); code != "55000" {
		t.Errorf("more than ten seconds ahead: %s", code)
	}
	d.moveClock(20 * time.Second)
	if id := scru64.MustParse(d.one("sortid.scru64_text(sortid.scru64_new(1, 23))")); id <= last {
		t.Errorf("%v after %v", id, last)
	}
	for _, id := range d.query(
		"SELECT sortid.scru128_new_ordered() FROM generate_series(1, 60000)")[59_990:] {
		if !strings.HasPrefix(id, "0") {
			t.Error(id)
		}
	}
}

func TestPostgresCancelled(t *testing.T) {
	d := install(t)
	other := connect(t, d.url, d.schema)
	d.run(
		"BEGIN; SELECT pg_advisory_xact_lock(1936683636, 'sortid.scru64_state'::regclass::oid::int)")
	// The error of the second statement also undoes the first.
	_, err := other.PgConn().Exec(t.Context(),
		other.in("SET statement_timeout = 50; SELECT sortid.scru64_new(1, 8)")).ReadAll()
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "57014" {
		t.Errorf("while another session holds the lock: %v", err)
	}
	d.run("ROLLBACK")
	if timeout := other.one("current_setting('statement_timeout')"); timeout != "0" {
		t.Errorf("the time limit is %s", timeout)
	}
	other.run("BEGIN")
	other.one("sortid.scru64_new(1, 8)")
	if n := d.locks(); n != "0" {
		t.Errorf("%s locks", n)
	}
}

func TestPostgresReadOnly(t *testing.T) {
	d := install(t)
	for _, g := range generators {
		d.run("BEGIN READ ONLY")
		if _, err := d.queryError("SELECT " + g.name); (err == nil) != (!g.session) {
			t.Errorf("%s: %v", g.name, err)
		}
		d.run("ROLLBACK")
	}
}

// A role can use the generators, but cannot move their sequences.
func TestPostgresRole(t *testing.T) {
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
	} {
		if code, _ := d.code(query); code != "42501" {
			t.Errorf("%s: %s", query, code)
		}
	}
	d.run("RESET ROLE")
}

func output(t *testing.T, in string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(testserver.Program(t, name), args...)
	cmd.Stdin = strings.NewReader(in)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, errs.String())
	}
	return out.String()
}

// A plain user can load the file with psql, even twice. After a restored dump, generators continue
// after the last IDs.
func TestPostgresDump(t *testing.T) {
	testserver.Long(t, "tests functions of a database")
	server := testserver.StartPostgres(t)
	admin := connect(t, server.URL, DefaultSchema)
	admin.run("CREATE ROLE plain LOGIN PASSWORD 'pass'")
	for _, name := range []string{"a", "b"} {
		admin.run("CREATE DATABASE " + name + " OWNER plain")
	}
	at := func(name string) string {
		u := check.Must(url.Parse(server.URL))(t)
		u.User, u.Path = url.UserPassword("plain", "pass"), "/"+name
		return u.String()
	}
	text := check.Must(Postgres(DefaultSchema, format.Ours()))(t)
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
		t.Errorf("%s rows after the restore", n)
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
}

// The SQL of one format does not need the others.
func TestPostgresOnly(t *testing.T) {
	testserver.Long(t, "tests functions of a database")
	for _, only := range format.Ours() {
		name := only.Name
		schema := "only_" + name + strconv.FormatUint(rand.Uint64(), 36)
		d := connect(t, testserver.Postgres(t), schema)
		d.run(check.Must(Postgres(schema, []*format.Format{only}))(t))
		f := formats[slices.IndexFunc(formats, func(f tested) bool { return f.name == name })]
		if got := d.one(f.sql("F_text(F_first('infinity'))")); got != f.max {
			t.Errorf("%s: %s", name, got)
		}
		d.run(`DROP SCHEMA "` + schema + `" CASCADE`)
	}
	for _, bad := range []string{"", "a b", `a"`, "1a", strings.Repeat("a", 64), "a.b"} {
		if text, err := Postgres(bad, format.Ours()); err == nil {
			t.Errorf("schema %q: %.100s", bad, text)
		}
	}
}

// Rows with a UUIDv4 get an ID of their time; see docs/databases.md.
func TestPostgresMigration(t *testing.T) {
	d := install(t)
	doc := check.Must(os.ReadFile("../../../../docs/databases.md"))(t)
	d.run(`CREATE TABLE events (
			id uuid PRIMARY KEY DEFAULT gen_random_uuid(), created_at timestamptz);
		INSERT INTO events (created_at)
		SELECT generate_series(now() - interval '365 days', now(), '1 day')`)
	_, block, _ := strings.Cut(string(doc), "- **UUIDv4.**")
	_, block, _ = strings.Cut(block, "```sql\n")
	block, _, _ = strings.Cut(block, "```")
	d.run(block)
	if got := d.one(`count(DISTINCT new_id) FROM events
		WHERE abs(extract(epoch FROM sortid.scru128_time(new_id) - created_at)) < 0.002
		  AND right(new_id::text, 12) = right(id::text, 12)`); got != "366" {
		t.Errorf("%s rows", got)
	}
}
