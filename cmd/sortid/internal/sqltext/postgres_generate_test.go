package sqltext

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/verify/duplicates"
	"github.com/sortid/sortid/verify/report"
)

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

// makeIDs lets clients make IDs until the context ends, and until each client has made n.
func makeIDs(until context.Context, d *database, expression string, n int) [][]string {
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

func increases(ids []string) bool {
	return slices.IsSortedFunc(ids, func(a, b string) int {
		if a == b {
			return 1
		}
		return strings.Compare(a, b)
	})
}

func TestPostgresMakesUniqueIDs(t *testing.T) {
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
		all := makeIDs(ended, d, g.text(), n)
		r := unique(t, g.format, all)
		if r.Status != report.Pass || r.IDs < uint64(clients*n) {
			t.Errorf("%s: %d IDs, %d twice; want at least %d, none twice", g.name, r.IDs,
				r.Duplicates, clients*n)
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
			t.Errorf("%s: %s, %v; want a time from %v to %v", g.name, all[0][0], err, begin, now)
		}
	}
}

// Each random bit is 1 in about half of the IDs.
func TestPostgresRandomBitsHaveNoBias(t *testing.T) {
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

// The IDs of ordered generators increase from session to session. A ROLLBACK does not change this.
func TestPostgresIDsIncreaseAcrossSessions(t *testing.T) {
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

func TestPostgresReadOnlyTransactionAllowsStateless(t *testing.T) {
	d := install(t)
	for _, g := range generators {
		d.run("BEGIN READ ONLY")
		if _, err := d.queryError("SELECT " + g.name); (err == nil) != (!g.session) {
			t.Errorf("%s: %v, want an error: %v", g.name, err, g.session)
		}
		d.run("ROLLBACK")
	}
}

// IDs at a given time have this time, are unique, and do not move the generators.
func TestPostgresMakesIDsAtGivenTime(t *testing.T) {
	d := install(t)
	d.setClock()
	ordered := d.one("sortid.scru128_new_ordered()")
	for _, name := range []string{"scru128", "scru160", "euid"} {
		call := "sortid." + name + "_new(timestamptz '%s')"
		for _, at := range []string{"1970-01-01 00:00:00.001+00", "2020-02-29 23:59:59.9996+00",
			"2100-01-01 00:00:00+01"} {
			at := fmt.Sprintf(call, at)
			if n := d.one("count(DISTINCT id) FROM (SELECT " + at + " AS id " +
				"FROM generate_series(1, 20000)) AS t " + strings.ReplaceAll(
				"WHERE sortid.F_time(id) = sortid.F_time(sortid.F_first("+
					at[strings.Index(at, "timestamptz"):]+")", "F_", name+"_")); n != "20000" {
				t.Errorf("%s: %s of 20000 are different and have the time", at, n)
			}
		}
		for _, at := range []string{"1970-01-01 00:00:00+00", "1969-12-31 00:00:00+00", "infinity",
			"20000-01-01 00:00:00+00"} {
			if code, _ := d.code("SELECT " + fmt.Sprintf(call, at)); code != "22008" &&
				code != "23514" && code != "0A000" && code != "22003" {
				t.Errorf("%s at %s: code %s", name, at, code)
			}
		}
		if got := d.one("sortid." + name + "_new(NULL)"); got != "NULL" {
			t.Errorf("%s_new(NULL) is %s, want NULL", name, got)
		}
	}
	if next := d.one("sortid.scru128_new_ordered()"); next[:13] != ordered[:13] || next <= ordered {
		t.Errorf("an ordered ID after %s is %s; want the same time", ordered, next)
	}

	// The rules in the hints of the other formats make unique IDs.
	d.run("CREATE TABLE old AS SELECT timestamptz '2020-02-29 00:00+00' + n / 100 * " +
		"interval '7 ms' AS t FROM generate_series(1, 10000) AS n")
	for format, call := range map[string]string{"scru64": "sortid.scru64_new(5, 8, now())",
		"uid60": "sortid.uid60_new(now())"} {
		_, err := d.queryError("SELECT " + call)
		var e *pgconn.PgError
		if !errors.As(err, &e) || e.Code != "0A000" {
			t.Errorf("%s: %v, want 0A000", call, err)
			continue
		}
		_, rule, _ := strings.Cut(e.Hint, ": ")
		rule, _, _ = strings.Cut(rule, ". ")
		rule = strings.NewReplacer(format+"_first", "sortid."+format+"_first", "node_id", "5",
			"node_bits", "8").Replace(strings.TrimSuffix(rule, "."))
		if n := d.one("count(DISTINCT id) FROM (SELECT " + rule + " AS id, t FROM old) AS x " +
			"WHERE sortid." + format + "_first(sortid." + format + "_time(id)) = sortid." + format +
			"_first(t)"); n != "10000" {
			t.Errorf("%s: %s of 10000 are different and have the time", rule, n)
		}
	}
}
