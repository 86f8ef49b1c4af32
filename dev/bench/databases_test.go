package bench

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/oklog/ulid/v2"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/pgxid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru64"
)

var (
	rounds = flag.Int("rounds", 1, "how often functions or servers are measured")
	scale  = flag.Float64("scale", 0,
		"scales the number of rows and the buffer pool; 0 means few rows")
)

type sizes struct {
	old, rows  int
	checkpoint int // rows between PostgreSQL's checkpoints
	calls      int
	buffers    int // buffer pool in megabytes
}

func size() sizes {
	if *scale == 0 {
		return sizes{old: 2000, rows: 1000, checkpoint: 500, calls: 1000, buffers: 16}
	}
	part := func(n float64) int { return int(n * *scale) }
	return sizes{old: part(3_000_000), rows: part(1_000_000), checkpoint: part(250_000),
		calls: 10_000, buffers: part(64)}
}

// TestDatabases measures keys and functions in databases. Without flags, it is a short test.
func TestDatabases(t *testing.T) {
	testserver.Long(t, "starts servers and measures them")
	testserver.Alone(t)
	t.Run("Postgres", measurePostgres)
	t.Run("MariaDB", measureMariaDB)
}

// printKey prints how fast rows with this key are added, and what they cost: megabytes of WAL or
// redo log, megabytes of index, and blocks read because they were not in the buffer pool.
func printKey(t *testing.T, benchmark, name string, perSecond, log, index, reads float64) {
	t.Helper()
	if perSecond <= 0 || log <= 0 || index <= 0 || reads < 0 {
		t.Errorf("%s, %s: %f rows a second, %f MB of log, %f MB of index, %f reads",
			benchmark, name, perSecond, log, index, reads)
	}
	Write(os.Stdout, benchmark, name,
		perSecond, "rows/s", log, "log-MB", index, "index-MB", reads, "reads")
}

var payload = strings.Repeat("an event. ", 5)

type key struct {
	name             string
	postgres, mysql  string // the type of the column in each database
	value            func() any
	text             func() string // for MariaDB's LOAD DATA: text, or hexadecimal bytes if hexBytes
	serial, hexBytes bool
}

func keys(t testing.TB) []key {
	// Few node bits leave a large counter, so the generator keeps up.
	spec := check.Must(scru64.ParseNodeSpec("5/4"))(t)
	generator := check.Must(scru64.NewGenerator(scru64.Options{NodeSpec: spec}))(t)
	make64 := func() scru64.ID {
		id := check.Must(generator.Generate())(t)
		return id
	}
	entropy := ulid.Monotonic(rand.NewChaCha8([32]byte{1}), 0)
	makeULID := func() string { return ulid.MustNew(ulid.Now(), entropy).String() }
	uuids := func(name string, make func() (uuid.UUID, error)) key {
		return key{name: name, postgres: "uuid", mysql: "BINARY(16)", hexBytes: true,
			value: func() any { return pgtype.UUID{Bytes: uuid.Must(make()), Valid: true} },
			text:  func() string { return fmt.Sprintf("%x", uuid.Must(make()).Bytes()) }}
	}
	return []key{
		{name: "serial", postgres: "bigserial", mysql: "BIGINT AUTO_INCREMENT", serial: true},
		{name: "scru64", postgres: "bigint", mysql: "BIGINT", value: func() any { return make64() },
			text: func() string { return fmt.Sprint(uint64(make64())) }},
		{name: "scru128", postgres: "uuid", mysql: "BINARY(16)",
			value: func() any { return scru128.New() }, hexBytes: true,
			text: func() string { id := scru128.New(); return fmt.Sprintf("%x", id[:]) }},
		uuids("UUIDv7", uuid.NewV7),
		{name: "scru128 as text", postgres: `text COLLATE "C"`,
			mysql: "CHAR(25) CHARACTER SET ascii COLLATE ascii_bin",
			value: func() any { return scru128.NewString() },
			text:  scru128.NewString},
		{name: "ULID as text", postgres: `text COLLATE "C"`,
			mysql: "CHAR(26) CHARACTER SET ascii COLLATE ascii_bin",
			value: func() any { return makeULID() }, text: makeULID},
		uuids("UUIDv4", uuid.NewV4),
	}
}

// A postgres is a connection to a server with the functions of "sortid sql".
type postgres struct {
	t    *testing.T
	url  string
	conn *pgx.Conn
	sizes
}

func measurePostgres(t *testing.T) {
	sizes := size()
	server := testserver.StartPostgres(t, fmt.Sprintf("shared_buffers=%dMB", sizes.buffers),
		"max_wal_size=20GB", "checkpoint_timeout=1d", "autovacuum=off", "fsync=off")
	conn := check.Must(pgx.Connect(t.Context(), server.URL))(t)
	defer conn.Close(context.Background())
	pgxid.Register(conn.TypeMap())
	p := &postgres{t, server.URL, conn, sizes}
	functions := exec.Command(testserver.Sortid(t), "sql", "postgres")
	functions.Stderr = os.Stderr
	text := check.Must(functions.Output())(t)
	p.run(string(text))

	var version string
	check.OK(t, conn.QueryRow(t.Context(), "SHOW server_version").Scan(&version))
	version, _, _ = strings.Cut(version, " ")
	fmt.Println("postgres:", version)
	p.keys()
	p.run("CREATE SEQUENCE plain")
	p.functions()
	p.defaults()
	p.indexes()
	p.copies()
}

func (p *postgres) run(statement string) {
	p.t.Helper()
	_, err := p.conn.PgConn().Exec(p.t.Context(), statement).ReadAll()
	check.OK(p.t, err)
}

func (p *postgres) number(query string) (n float64) {
	p.t.Helper()
	check.OK(p.t, p.conn.QueryRow(p.t.Context(), query).Scan(&n))
	return n
}

func timed(do func()) float64 {
	begin := time.Now()
	do()
	return float64(time.Since(begin))
}

func (p *postgres) keys() {
	Write(os.Stdout, "Sizes", "KeysPostgres", p.old, "old", p.rows, "rows",
		p.buffers, "MB")
	for i, k := range keys(p.t) {
		table := fmt.Sprint("keys", i)
		p.run("CREATE TABLE " + table + " (id " + k.postgres + " PRIMARY KEY, what text)")
		columns := []string{"id", "what"}
		values := func(int) ([]any, error) { return []any{k.value(), payload}, nil }
		if k.serial {
			columns = []string{"what"}
			values = func(int) ([]any, error) { return []any{payload}, nil }
		}
		add := func(rows int) {
			for left := rows; left > 0; left -= 10_000 {
				_, err := p.conn.CopyFrom(p.t.Context(), pgx.Identifier{table}, columns,
					pgx.CopyFromSlice(min(left, 10_000), values))
				check.OK(p.t, err)
			}
		}
		add(p.old)
		p.run("CHECKPOINT")
		reads := func() float64 {
			p.run("SELECT pg_stat_force_next_flush()")
			return p.number("SELECT idx_blks_read FROM pg_statio_user_indexes WHERE relname = '" +
				table + "'")
		}
		readsBefore := reads()
		wal := p.number("SELECT pg_current_wal_insert_lsn() - '0/0'")
		begin := time.Now()
		for left := p.rows; left > 0; left -= p.checkpoint {
			add(p.checkpoint)
			p.run("CHECKPOINT")
		}
		perSecond := float64(p.rows) / time.Since(begin).Seconds()
		written := p.number("SELECT pg_current_wal_insert_lsn() - '0/0'") - wal
		index := p.number("SELECT pg_relation_size('" + table + "_pkey')")
		printKey(p.t, "KeysPostgres", k.name, perSecond, written/1e6, index/1e6, reads()-readsBefore)
		p.run("DROP TABLE " + table)
	}
}

func (p *postgres) functions() {
	p.run(fmt.Sprintf(`CREATE TABLE samples AS
		SELECT sortid.scru64_new(1, 4) AS i, id AS u, sortid.scru128_text(id) AS t,
			sortid.euid_text(id) AS e, now() + n * interval '1 s' AS at
		FROM (SELECT gen_random_uuid() AS id, n FROM generate_series(1, %d) AS n) AS ids;
		ANALYZE samples`, p.calls))
	calls := []string{
		"gen_random_uuid()", "nextval('plain')", "u::text", "sortid.scru128_text(u)",
		"sortid.scru128_parse(t)", "sortid.scru128_time(u)", "sortid.scru128_first(at)",
		"sortid.scru64_text(i)", "sortid.scru64_time(i)", "sortid.scru64_first(at)",
		"sortid.euid_text(u)", "sortid.euid_parse(e)",
		"sortid.scru128_new()", "sortid.scru128_new_counted()", "sortid.scru128_new_ordered()",
		"sortid.scru64_new(1, 4)", "sortid.euid_new()", "sortid.scru160_new()",
	}
	query := func(expression string) float64 {
		took := timed(func() { p.number("SELECT count(" + expression + ") FROM samples") })
		return took / float64(p.calls)
	}
	for range *rounds {
		Write(os.Stdout, "Baseline", "column", query("u"), "ns/op")
		for _, call := range calls {
			name, _, _ := strings.Cut(strings.TrimPrefix(call, "sortid."), "(")
			Write(os.Stdout, "Functions", name, query(call), "ns/op")
		}
	}
}

func (p *postgres) defaults() {
	defaults := p.generators()
	names := slices.Sorted(maps.Keys(defaults))
	for range *rounds {
		for _, name := range names {
			p.run("CREATE TABLE filled (id " + defaults[name] + " PRIMARY KEY, n int)")
			statements := max(1, p.calls/10_000)
			took := timed(func() {
				for range statements {
					p.run("INSERT INTO filled (n) SELECT generate_series(1, 10000)")
				}
			})
			Write(os.Stdout, "Defaults", name, float64(statements*10_000)/took*1e9, "rows/s")
			p.run("DROP TABLE filled")
		}
	}

	for _, name := range names {
		p.run(fmt.Sprintf(`CREATE TABLE filled (id %s, n int);
			INSERT INTO filled (n) SELECT generate_series(1, %d);
			ALTER TABLE filled ADD PRIMARY KEY (id); CHECKPOINT`, defaults[name], p.old))
		took := timed(func() {
			for left := p.checkpoint; left > 0; left -= 10_000 {
				p.run(fmt.Sprintf("INSERT INTO filled (n) SELECT generate_series(1, %d)",
					min(left, 10_000)))
			}
		})
		Write(os.Stdout, "DefaultsOnto", name, float64(p.checkpoint)/took*1e9, "rows/s")
		p.run("DROP TABLE filled")
	}
}

// generators returns the types of key columns with a DEFAULT.
func (p *postgres) generators() map[string]string {
	list := map[string]string{
		"gen_random_uuid":     "uuid DEFAULT gen_random_uuid()",
		"nextval":             "bigint DEFAULT nextval('plain')",
		"scru128_new":         "uuid DEFAULT sortid.scru128_new()",
		"scru128_new_counted": "uuid DEFAULT sortid.scru128_new_counted()",
		"scru128_new_ordered": "uuid DEFAULT sortid.scru128_new_ordered()",
		"scru64_new":          "bigint DEFAULT sortid.scru64_new(1, 4)",
	}
	if p.number("SELECT count(to_regproc('uuidv7'))") > 0 { // PostgreSQL 18
		list["uuidv7"] = "uuid DEFAULT uuidv7()"
	}
	return list
}

// clients is how many sessions insert single rows.
const clients = 4

// indexes measures the bytes of index for a row: if statements insert many rows, if clients insert
// single rows, and if they insert single rows into a table whose other rows have UUIDv4.
func (p *postgres) indexes() {
	defaults := p.generators()
	Write(os.Stdout, "Sizes", "IndexSize", p.checkpoint, "old")
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		size := func() float64 { return p.number("SELECT pg_relation_size('filled_pkey')") }
		create := func() {
			p.run("DROP TABLE IF EXISTS filled; CREATE TABLE filled (id " + defaults[name] +
				" PRIMARY KEY, n int)")
		}
		create()
		for left := p.checkpoint; left > 0; left -= 10_000 {
			p.run(fmt.Sprintf("INSERT INTO filled (n) SELECT generate_series(1, %d)", min(left, 10_000)))
		}
		values := []any{size() / float64(p.checkpoint), "B/bulk"}
		create()
		single := p.checkpoint / 5
		p.insertSingle(single)
		values = append(values, size()/float64(single), "B/single")
		if strings.HasPrefix(defaults[name], "uuid ") {
			create()
			p.run(fmt.Sprintf("INSERT INTO filled (id) SELECT gen_random_uuid() FROM generate_series(1, %d)",
				p.checkpoint))
			before := size()
			p.insertSingle(single)
			values = append(values, (size()-before)/float64(single), "B/mixed")
		}
		Write(os.Stdout, "IndexSize", name, values...)
	}
	p.run("DROP TABLE filled")
}

// insertSingle lets clients insert rows, each in a transaction of its own.
func (p *postgres) insertSingle(rows int) {
	errs := make([]error, clients)
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			conn, err := pgx.Connect(p.t.Context(), p.url)
			for range rows / clients {
				if err == nil {
					_, err = conn.Exec(p.t.Context(), "INSERT INTO filled (n) VALUES (1)")
				}
			}
			if errs[i] = err; conn != nil {
				conn.Close(context.Background())
			}
		})
	}
	group.Wait()
	check.OK(p.t, errors.Join(errs...))
}

// copies measures CopyFrom without the time to make the IDs.
func (p *postgres) copies() {
	ids := make([]scru128.ID, p.calls)
	for i := range ids {
		ids[i] = scru128.New()
	}
	plain := check.Must(pgx.Connect(p.t.Context(), p.url))(p.t) // without pgxid
	defer plain.Close(p.t.Context())
	copies := []struct {
		name  string
		conn  *pgx.Conn
		value func(scru128.ID) any
	}{
		{"pgtype.UUID", plain,
			func(id scru128.ID) any { return pgtype.UUID{Bytes: id, Valid: true} }},
		{"scru128.ID with pgxid", p.conn, func(id scru128.ID) any { return id }},
		{"scru128.UUID without pgxid", plain, func(id scru128.ID) any { return scru128.UUID(id) }},
	}
	for range *rounds {
		for _, c := range copies {
			p.run("CREATE TABLE copied (id uuid)")
			took := timed(func() {
				_, err := c.conn.CopyFrom(p.t.Context(), pgx.Identifier{"copied"}, []string{"id"},
					pgx.CopyFromSlice(len(ids),
						func(i int) ([]any, error) { return []any{c.value(ids[i])}, nil }))
				check.OK(p.t, err)
			})
			Write(os.Stdout, "Copy", c.name, took/float64(p.calls), "ns/row")
			p.run("DROP TABLE copied")
		}
	}
}

func measureMariaDB(t *testing.T) {
	sizes := size()
	server := testserver.StartMySQL(t, fmt.Sprintf("innodb-buffer-pool-size=%dM", sizes.buffers),
		"innodb-flush-log-at-trx-commit=0", "local-infile=1", "innodb-log-file-size=1G")
	u := check.Must(url.Parse(server.URL))(t)
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", u.Host
	config.User, config.DBName = u.User.Username(), strings.TrimPrefix(u.Path, "/")
	connector := check.Must(mysql.NewConnector(config))(t)
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxOpenConns(1)
	run := func(statement string) {
		t.Helper()
		_, err := db.Exec(statement)
		check.OK(t, err)
	}
	status := func(name string) (n float64) {
		t.Helper()
		check.OK(t, db.QueryRow("SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(new(string), &n))
		return n
	}
	old, rows := sizes.old/2, sizes.rows/4
	var version string
	check.OK(t, db.QueryRow("SELECT VERSION()").Scan(&version))
	version, _, _ = strings.Cut(version, "-")
	fmt.Println("mariadb:", version)
	Write(os.Stdout, "Sizes", "KeysMariaDB", old, "old", rows, "rows", sizes.buffers, "MB")
	for i, k := range keys(t) {
		table := fmt.Sprint("keys", i)
		run("CREATE TABLE " + table + " (id " + k.mysql + " PRIMARY KEY, what VARCHAR(100))")
		columns := "(id, what)"
		if k.serial {
			columns = "(what)"
		} else if k.hexBytes {
			columns = "(@id, what) SET id = UNHEX(@id)"
		}
		add := func(rows int) {
			for left := rows; left > 0; left -= 10_000 {
				var lines strings.Builder
				for range min(left, 10_000) {
					if !k.serial {
						lines.WriteString(k.text())
						lines.WriteByte('\t')
					}
					fmt.Fprintln(&lines, payload)
				}
				mysql.RegisterReaderHandler(
					"rows", func() io.Reader { return strings.NewReader(lines.String()) })
				run("LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE " + table + " " + columns)
			}
		}
		add(old)
		reads, written := status("Innodb_buffer_pool_reads"), status("Innodb_os_log_written")
		begin := time.Now()
		add(rows)
		perSecond := float64(rows) / time.Since(begin).Seconds()
		log := status("Innodb_os_log_written") - written
		read := status("Innodb_buffer_pool_reads") - reads
		run("ANALYZE TABLE " + table)
		var index float64
		check.OK(t, db.QueryRow("SELECT DATA_LENGTH FROM information_schema.TABLES "+
			"WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", table).Scan(&index))
		printKey(t, "KeysMariaDB", k.name, perSecond, log/1e6, index/1e6, read)
		run("DROP TABLE " + table)
	}
}
