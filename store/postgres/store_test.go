package postgres

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/storetest"
	"github.com/sortid/sortid/store/internal/faulttest"
)

func open(t *testing.T, url string) *Store {
	t.Helper()
	return faulttest.Open(t, Open, url)
}

func refused(t *testing.T, url string, want ...string) {
	t.Helper()
	faulttest.Refused(t, Open, url, want...)
}

func with(t *testing.T, raw, key, value string) string {
	t.Helper()
	return faulttest.Edit(t, raw, func(u *url.URL) {
		q := u.Query()
		q.Set(key, value)
		u.RawQuery = q.Encode()
	})
}

func as(t *testing.T, raw string, user *url.Userinfo) string {
	t.Helper()
	return faulttest.Edit(t, raw, func(u *url.URL) { u.User = user })
}

func dial(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn := check.Must(pgx.Connect(t.Context(), url))(t)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

var (
	block  = faulttest.Block
	record = faulttest.Record
)

func TestStore(t *testing.T) { faulttest.Store(t, Open, testserver.Postgres) }

// The store does not depend on defaults of the role or the database.
func TestDefaultsOfTheServer(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() lease.Store {
		url := testserver.Postgres(t)
		for key, value := range map[string]string{
			"default_transaction_isolation": "serializable", "default_transaction_read_only": "on",
			"synchronous_commit": "off", "statement_timeout": "60s",
			"DateStyle": "German", "TimeZone": "Asia/Kathmandu", "extra_float_digits": "-3",
		} {
			url = with(t, url, key, value)
		}
		open(t, url)
		exec(t, dial(t, with(t, url, "default_transaction_read_only", "off")), `
			CREATE FUNCTION demand() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN
				IF current_setting('synchronous_commit') <> 'on'
					OR current_setting('transaction_isolation') <> 'read committed'
					OR current_setting('statement_timeout') <> '0' THEN
					RAISE EXCEPTION 'not the settings that the store needs';
				END IF;
				RETURN new;
			END $$`, `
			CREATE TRIGGER demand BEFORE INSERT OR UPDATE ON sortid_lease
			FOR EACH ROW EXECUTE FUNCTION demand()`)
		return func() lease.Store { return open(t, url) }
	})
}

// The store works on the program's own pool, and leaves the pool open.
func TestNew(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() lease.Store {
		pool := check.Must(pgxpool.New(t.Context(), testserver.Postgres(t)))(t)
		t.Cleanup(func() {
			if err := pool.Ping(context.Background()); err != nil {
				t.Errorf("the pool was closed: %v", err)
			}
			pool.Close()
		})
		return func() lease.Store {
			s := check.Must(New(t.Context(), pool))(t)
			return s
		}
	})
}

func TestURLs(t *testing.T) {
	bad := map[string]string{}
	for _, url := range []string{
		"", "postgres", "postgres:", "mysql://localhost/x", "host=localhost", "postgres:/x",
		"sortid.db", "postgres://localhost:none/x", "postgres://localhost:99999/x",
		"postgres://localhost/x?sslmode=perhaps", "postgres://localhost/x?pool_max_conns=0",
		"postgres://localhost/x?pool_max_conns=%zz", "postgres://localhost/x?a",
		"postgres://localhost/x?target_session_attrs=nonsense",
	} {
		bad[url] = "postgres: "
	}
	bad["postgres://localhost/x?durable=yes"] = "only the value storage"
	faulttest.BadURLs(t, Open, bad)
	c, _, err := parse("postgresql://me:p%40ss%2Fword@one:5433,two:5434/db" +
		"?search_path=s&target_session_attrs=read-write")
	if err != nil {
		t.Fatal(err)
	}
	if cc := c.ConnConfig; cc.User != "me" || cc.Password != "p@ss/word" || cc.Host != "one" ||
		cc.Port != 5433 || cc.Database != "db" || cc.RuntimeParams["search_path"] != "s" {
		t.Errorf("%+v", cc)
	}
	if c.MaxConns != 2 || c.MinConns != 0 || c.MaxConnIdleTime > time.Second {
		t.Errorf("at most %d connections, at least %d, idle for %v", c.MaxConns, c.MinConns,
			c.MaxConnIdleTime)
	}
	c, _, err = parse("postgres://h/d?pool_max_conns=7&pool_max_conn_idle_time=5m&application_name=x")
	if err != nil || c.MaxConns != 7 || c.MaxConnIdleTime != 5*time.Minute ||
		c.ConnConfig.RuntimeParams["application_name"] != "x" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestPasswordsStaySecret(t *testing.T) {
	faulttest.Secrets(t, Open,
		"postgres://me:PASSWORD@127.0.0.1:1/db?connect_timeout=1",
		"postgres://me:PASSWORD@127.0.0.1:x/db",
		"postgres://127.0.0.1:1/db?user=me&password=PASSWORD",
		"postgres://me:PASSWORD@127.0.0.1:1/db?sslmode=nonsense",
		"postgresql:/me:PASSWORD@127.0.0.1:1/db")
}

func TestNoServer(t *testing.T) {
	faulttest.NoServer(t, Open, "postgres://me:secret@host/db", `database "db" at 127.0.0.1:`,
		"does the server run")
}

func TestBusyServer(t *testing.T) {
	server := testserver.StartPostgres(t, "max_connections=12", "superuser_reserved_connections=0",
		"max_wal_senders=0")
	faulttest.Crowd(t, Open, server.URL)
}

func TestReasons(t *testing.T) {
	server := testserver.StartPostgres(t)
	for _, mode := range []string{"prefer", "disable"} {
		err := faulttest.Refused(t, Open,
			with(t, as(t, server.URL, url.UserPassword("postgres", "secret")), "sslmode", mode),
			"password authentication failed", "check user and password")
		if strings.Contains(err.Error(), "TLS") {
			t.Errorf("sslmode=%s: %v", mode, err)
		}
	}
	refused(t, with(t, server.URL, "sslmode", "require"), "the server offers no TLS",
		"set ssl = on")
}

func TestPrivileges(t *testing.T) {
	server := testserver.StartPostgres(t)
	admin := dial(t, server.URL)
	exec(t, admin, `CREATE USER "some one" PASSWORD 'hushhush'`)
	user := as(t, server.URL, url.UserPassword("some one", "hushhush"))

	refused(t, strings.Replace(user, "/postgres", "/elsewhere", 1), "CREATE DATABASE", "elsewhere")
	exec(t, admin, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	refused(t, user, "permission denied", Schema,
		`GRANT SELECT, INSERT, UPDATE ON sortid_lease TO "some one"`)

	exec(t, admin, Schema)
	for _, some := range []string{"SELECT", "INSERT", "UPDATE"} {
		refused(t, user, "permission denied",
			`GRANT SELECT, INSERT, UPDATE ON public.sortid_lease TO "some one"`)
		exec(t, admin, "GRANT "+some+` ON sortid_lease TO "some one"`)
	}
	s := open(t, user)
	faulttest.Change(t, s, record(0), record(1))
	faulttest.Change(t, s, record(1), record(2))
	faulttest.Want(t, s, record(2))
	faulttest.Conditions(t, s)
}

func TestUnsafeSettings(t *testing.T) {
	for _, setting := range []string{"fsync", "full_page_writes"} {
		server := testserver.StartPostgres(t, setting+"=off")
		faulttest.Unsafe(t, Open, server.URL, setting+" is off", "it must be on",
			"ALTER SYSTEM SET "+setting+" = on", "add durable=storage to the URL")
		s := open(t, with(t, server.URL, "durable", "storage"))
		faulttest.Conditions(t, s, "conditional: "+setting+" is off")
		faulttest.Change(t, s, record(0), record(1))
	}
	safe := testserver.StartPostgres(t)
	faulttest.Conditions(t, open(t, with(t, safe.URL, "durable", "storage")))
	url := testserver.Postgres(t)
	exec(t, dial(t, url), strings.Replace(Schema, "CREATE", "CREATE UNLOGGED", 1))
	faulttest.Unsafe(t, Open, url, "UNLOGGED", "SET LOGGED")
}

// The store refuses a standby, even if the server was the primary at Open.
func TestStandby(t *testing.T) {
	server := testserver.StartPostgres(t)
	s := open(t, server.URL)
	faulttest.Change(t, s, record(0), record(1))
	server.Stop()
	// With this file, the server starts as a standby.
	check.OK(t, os.WriteFile(filepath.Join(server.Dir, "standby.signal"), nil, 0o644))
	server.Start()
	faulttest.Unsafe(t, Open, server.URL, "is a standby", "target_session_attrs")
	if r, err := s.Get(t.Context(), "realm", block); !errors.Is(err, lease.ErrUnsafe) {
		t.Errorf("Get from a standby: %+v, %v", r, err)
	}
	if ok, err := s.CompareAndSet(t.Context(), record(1), record(2)); ok ||
		!errors.Is(err, lease.ErrUnsafe) {
		t.Errorf("CompareAndSet on a standby: %v, %v", ok, err)
	}
	primary := testserver.StartPostgres(t)
	host := strings.Split(strings.Split(server.URL, "@")[1], "/")[0]
	open(t, strings.Replace(primary.URL, "@", "@"+host+",", 1)+"?target_session_attrs=read-write")
}

// The store neither confirms nor returns a change that the standby lacks. It is lost if the standby
// becomes the primary.
func TestSynchronousReplication(t *testing.T) {
	server := testserver.StartPostgres(t)
	a, b := open(t, server.URL), open(t, server.URL)
	admin, other := dial(t, server.URL), dial(t, server.URL)
	faulttest.Change(t, a, record(0), record(1))
	exec(t, admin, "CREATE TABLE other (x int)",
		"ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
	number := func(query string) (n int) {
		t.Helper()
		check.OK(t, admin.QueryRow(t.Context(), query).Scan(&n))
		return n
	}
	const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	// hangs calls f, and cancels f when f waits for the standby. f must not end before.
	hangs := func(what string, f func(ctx context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- f(ctx) }()
		faulttest.Eventually(t, func() bool { return len(ended) > 0 || number(waiting) > 0 },
			func() string { return what + " does not reach the server" })
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Fatalf("%s has not waited for the standby: %v", what, err)
		}
		faulttest.Eventually(t, func() bool { return number(waiting) == 0 },
			func() string { return what + " still waits" })
	}
	hangs("one of many changes", func(ctx context.Context) error { // until the setting has effect
		for {
			if _, err := other.Exec(ctx, "INSERT INTO other VALUES (1)"); err != nil {
				return err
			}
		}
	})
	hangs("a change", func(ctx context.Context) error {
		_, err := a.CompareAndSet(ctx, record(1), record(2))
		return err
	})
	faulttest.Eventually(t, func() bool { return number("SELECT revision FROM sortid_lease") == 2 },
		func() string { return "nothing is tested: the change without the standby is not visible" })
	hangs("Get of what the standby may not have", func(ctx context.Context) error {
		_, err := b.Get(ctx, "realm", block)
		return err
	})
	exec(t, admin, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	faulttest.Want(t, b, record(2))
}

func TestAsynchronousReplication(t *testing.T) {
	server := testserver.StartPostgres(t)
	admin := dial(t, server.URL)
	exec(t, admin, Schema, "CREATE USER someone PASSWORD 'x'",
		"GRANT ALL ON sortid_lease TO someone")
	standby, err := pgconn.Connect(t.Context(), with(t, server.URL, "replication", "true"))
	if err != nil {
		t.Fatal(err)
	}
	defer standby.Close(context.Background())
	for _, url := range []string{server.URL, as(t, server.URL, url.UserPassword("someone", "x"))} {
		faulttest.Conditions(t, open(t, url), "asynchronously")
	}
	exec(t, admin, "REVOKE SELECT ON pg_stat_replication FROM PUBLIC")
	open(t, as(t, server.URL, url.UserPassword("someone", "x")))
}

func TestWrongTable(t *testing.T) {
	changed := func(old, new string) string { return faulttest.Replace(t, Schema, old, new) }
	const noKey = "no primary key (realm, block)"
	for statement, want := range map[string]string{
		"CREATE TABLE sortid_lease (id int)":                            `"realm" does not exist`,
		changed("PRIMARY KEY (realm, block)", "CHECK (realm <> block)"): noKey,
		changed("(realm, block)", "(realm)"):                            noKey,
		changed("(realm, block)", "(block, realm)"):                     noKey,
		changed("PRIMARY KEY", "UNIQUE"):                                noKey,
		changed(`"C"`, `"en-x-icu"`):                                    `COLLATE "C"`,
		changed(`block    text   COLLATE "C"`, "block text"):            `COLLATE "C"`,
		changed("revision bigint", "revision int"):                      "revision is not bigint",
		changed("realm    text", "realm varchar"):                       "realm is not text",
		changed("record   json", "record jsonb"):                        "record is not json",
		changed("record   json   NOT NULL,", ""):                        `"record" does not exist`,
		"CREATE VIEW sortid_lease AS SELECT 1 AS id":                    "is not a table",
		"CREATE TYPE sortid_lease AS (id int)":                          "is not a table",
	} {
		url := testserver.Postgres(t)
		exec(t, dial(t, url), statement)
		refused(t, url, ".sortid_lease is not the table for leases", "search_path", want)
	}
}

func TestEditedRow(t *testing.T) {
	exec := func(url, statement string) { exec(t, dial(t, url), statement) }
	faulttest.EditedRows(t, Open, testserver.Postgres, exec,
		`UPDATE sortid_lease SET record = jsonb_set(record::jsonb, '{block}', '"41/8"')`,
		`UPDATE sortid_lease SET record = jsonb_set(record::jsonb, '{realm}', '"other"')`)
}

// The server must not read the whole realm for a few records, even if it has no statistics yet.
func TestGetManyUsesIndex(t *testing.T) {
	url := testserver.Postgres(t)
	s := open(t, url)
	conn := dial(t, url)
	exec(t, conn, "ALTER TABLE sortid_lease SET (autovacuum_enabled = off)",
		`INSERT INTO sortid_lease SELECT 'realm', n || '/12', 1, 0, '{}'
		FROM generate_series(1, 3000) n`)
	rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE) "+s.sql(getManyStatement), "realm",
		"1/12 2/12 3/12 4/12")
	if err != nil {
		t.Fatal(err)
	}
	lines := check.Must(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
	plan := strings.Join(lines, "\n")
	if !strings.Contains(plan, "(block = b.b)") || strings.Contains(plan, "Removed by Filter") {
		t.Errorf("not an index scan for each block:\n%s", plan)
	}
}

// The store keeps its table when another one comes first in the search_path.
func TestTableStays(t *testing.T) {
	raw := testserver.Postgres(t)
	u := check.Must(url.Parse(raw))(t)
	schema := u.Query().Get("search_path")
	pool := check.Must(pgxpool.New(t.Context(), with(t, raw, "pool_max_conns", "1")))(t)
	defer pool.Close()
	s := check.Must(New(t.Context(), pool))(t)
	faulttest.Change(t, s, record(0), record(1))
	if _, err := pool.Exec(t.Context(), "SET search_path TO pg_temp, "+schema); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(),
		strings.Replace(Schema, "CREATE", "CREATE TEMPORARY", 1)); err != nil {
		t.Fatal(err)
	}
	faulttest.Want(t, s, record(1))
}

func TestFaults(t *testing.T) { faulttest.Faults(t, Open, testserver.StartPostgres(t), true) }

// With sslmode=prefer, a server without TLS gets one connection, not two.
func TestOneConnectionWithoutTLS(t *testing.T) {
	raw := testserver.StartPostgres(t).URL
	u := check.Must(url.Parse(raw))(t)
	var made atomic.Int64
	all := func([]byte) bool { return true }
	through := faulttest.At(t, raw, faulttest.Relay(t, u.Host,
		func(_, _ net.Conn) (request, answer func([]byte) bool) {
			made.Add(1)
			return all, all
		}))
	s := open(t, with(t, through, "pool_max_conn_idle_time", "1h"))
	faulttest.Change(t, s, record(0), record(1))
	if n := made.Load(); n != 1 {
		t.Errorf("%d connections instead of one", n)
	}
	refused(t, with(t, through, "sslmode", "require"), "offers no TLS")
}

func TestIdleConnections(t *testing.T) {
	s := open(t, with(t, testserver.Postgres(t), "application_name", "sortid_idle"))
	admin := dial(t, testserver.Postgres(t))
	connections := func() (n int) {
		t.Helper()
		const query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sortid_idle'"
		check.OK(t, admin.QueryRow(t.Context(), query).Scan(&n))
		return n
	}
	faulttest.Idles(t, s, 1, connections)
}
