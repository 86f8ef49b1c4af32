package sqltext

import (
	"context"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testserver"
)

// After an immediate stop, no ID is repeated. The naive generator repeats IDs, and the test notices
// this.
func TestPostgresRepeatsNoIDAfterCrash(t *testing.T) {
	t.Parallel()
	testserver.Long(t, "tests functions of a database")
	server := testserver.StartPostgres(t, "max_connections=40")
	d := connect(t, server.URL, DefaultSchema)
	d.run(check.Must(Postgres(DefaultSchema, spec.Ours()))(t))
	// Even a slow machine makes more than 15 IDs in a tick.
	d.run(`CREATE SEQUENCE naive MAXVALUE 15 CYCLE;
		CREATE FUNCTION naive_new() RETURNS bigint LANGUAGE sql VOLATILE
		RETURN (sortid.clock_ms() / 256 << 24) | (5 << 16) | nextval('naive')`)
	naive := generator{name: "public.naive_new()", format: "scru64"}
	for _, g := range []generator{generators[0], generators[3], naive} {
		stops, end := context.WithCancel(t.Context())
		go func() {
			defer end()
			for range 2 {
				if g == naive {
					return
				}
				if g.format == "scru64" {
					time.Sleep(2 * time.Second) // after a crash, the first call waits for up to 2.5 s
				}
				time.Sleep(time.Second)
				server.Stop()
				server.Start()
			}
		}()
		all := makeIDs(stops, d, g.text(), perClient)
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
func TestPostgresRepeatsNoIDAfterCrashInTransaction(t *testing.T) {
	t.Parallel()
	testserver.Long(t, "tests functions of a database")
	server := testserver.StartPostgres(t)
	d := connect(t, server.URL, DefaultSchema)
	d.run(check.Must(Postgres(DefaultSchema, spec.Ours()))(t))
	const n = 20000
	var all []string
	generate := func() {
		all = append(all, d.query(
			"SELECT sortid.scru64_text(sortid.scru64_new(1, 2)) FROM generate_series(1, $1::int)",
			n)...)
	}
	for range 2 {
		d.run("BEGIN")
		generate()
		server.Stop()
		server.Start()
		d = connect(t, server.URL, DefaultSchema)
		generate()
	}
	if r := unique(t, "scru64", [][]string{all}); r.Duplicates > 0 || r.IDs != 4*n {
		t.Errorf("%d IDs, %d of them twice", r.IDs, r.Duplicates)
	}
	if !increases(all) {
		t.Error("out of order")
	}
}
