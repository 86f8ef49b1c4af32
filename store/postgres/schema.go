package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/sortid/sortid/store/internal/connect"
)

// Schema is the statement that makes the table, in the first schema of the search_path. Collations
// other than "C" can change with the operating system, which breaks the index.
const Schema = `CREATE TABLE sortid_lease (
	realm    text   COLLATE "C" NOT NULL,
	block    text   COLLATE "C" NOT NULL,
	revision bigint NOT NULL,
	hwm      bigint NOT NULL,
	record   json   NOT NULL,
	PRIMARY KEY (realm, block)
)`

func (s *Store) prepare(ctx context.Context, create bool) error {
	state, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	vouched, err := state.checkServer(s.byStorage)
	if err != nil {
		return err
	}
	if state.table == "" && !create {
		return connect.Missing(errors.New("there is no table " + table))
	}
	if state.table == "" {
		if state, err = s.create(ctx); err != nil {
			return err
		}
	}
	if err := state.checkTable(s.user()); err != nil {
		return err
	}
	s.table = state.table
	s.conditions = slices.Concat(state.untested, vouched, state.conditions())
	return nil
}

type state struct {
	untested              []string
	fsync, fullPageWrites string
	standbys              int // 0 if the replication is synchronous

	// table is the name with its schema, because the search_path may change. It is "" if there is
	// no table.
	table string

	kind        string // "r" means an ordinary table
	persistence string // "p" means permanent
	privileges  string // "ttt" if the user has all needed privileges
	columns     []pgconn.FieldDescription
	noColumns   error  // the error of the statement that reads columns
	key         string // numbers of the columns of the primary key

	keyCollations string
}

const table = "sortid_lease"

// A new connection loads each system catalog and each operator that a statement uses. So these
// statements have no joins, compare only equal types, and read what later statements also need.
var inspection = []string{
	"SELECT pg_is_in_recovery(), version()",
	"SHOW fsync",
	"SHOW full_page_writes",
	"SHOW synchronous_standby_names",
	"SELECT FROM pg_stat_get_wal_senders()",
	`SELECT relnamespace::regnamespace, relkind, relpersistence,
		has_table_privilege(oid, 'SELECT'), has_table_privilege(oid, 'INSERT'),
		has_table_privilege(oid, 'UPDATE')
		FROM pg_class WHERE oid = to_regclass('` + table + `')::oid`,
	`SELECT indkey, indcollation FROM pg_index
		WHERE indisprimary AND indrelid = to_regclass('` + table + `')::oid`,
	"SELECT realm, block, revision, hwm, record FROM " + table + " WHERE false",
}

// A thousand processes may start at the same time, so inspect sends only one request.
func (s *Store) inspect(ctx context.Context) (*state, error) {
	at := new(state)
	var results []*pgconn.Result
	var version string
	err := s.send(ctx, func(ctx context.Context, conn *pgconn.PgConn) error {
		version = conn.ParameterStatus("crdb_version") // CockroachDB may refuse all statements
		all := conn.Exec(ctx, strings.Join(inspection, ";"))
		for all.NextResult() {
			r := all.ResultReader()
			at.columns = slices.Clone(r.FieldDescriptions())
			results = append(results, r.Read())
		}
		return all.Close()
	})
	if len(results) > 0 && len(results[0].Rows) > 0 {
		version = string(results[0].Rows[0][1])
	}
	untested, refusal := engine(version)
	n := len(inspection)
	wrongTable := len(results) >= n-1 && strings.HasPrefix(code(err), className)
	switch {
	case refusal != nil:
		return nil, refusal
	case err != nil && !wrongTable:
		return nil, err
	case err == nil && len(results) != n:
		return nil, fmt.Errorf("%d answers instead of %d", len(results), n)
	}
	at.untested, at.noColumns = untested, err
	value := func(i int) string { return string(results[i].Rows[0][0]) }
	if value(0) != "f" {
		return nil, errStandby
	}
	at.fsync, at.fullPageWrites = value(1), value(2)
	if value(3) == "" {
		at.standbys = len(results[4].Rows)
	}
	for _, row := range results[5].Rows {
		at.table = string(row[0]) + "." + table
		at.kind, at.persistence = string(row[1]), string(row[2])
		at.privileges = string(slices.Concat(row[3:]...))
	}
	for _, row := range results[6].Rows {
		at.key, at.keyCollations = string(row[0]), string(row[1])
	}
	return at, nil
}

func (s *Store) create(ctx context.Context) (*state, error) {
	_, failure := s.query(ctx, Schema)
	// Another process may have made the table first.
	at, err := s.inspect(ctx)
	if err != nil || at.table != "" {
		return at, err
	}
	if code(failure) == codeNoPrivilege {
		failure = fmt.Errorf("%w: somebody who may create tables must run\n%s;\nGRANT SELECT, "+
			"INSERT, UPDATE ON sortid_lease TO %s;", failure, Schema, s.user())
	}
	return nil, fmt.Errorf("cannot make the table: %w", failure)
}

func (s *Store) user() string { return pgx.Identifier{s.pool.Config().ConnConfig.User}.Sanitize() }

// checkServer returns what the user guarantees with durable=storage.
func (at *state) checkServer(byStorage bool) (vouched []string, err error) {
	for _, setting := range []struct{ name, value, instead string }{
		{"fsync", at.fsync, "the storage keeps all that the server has written before a COMMIT, " +
			"even if the machine crashes or loses power"},
		{"full_page_writes", at.fullPageWrites, "the storage writes each page of 8 kB as a whole " +
			"or not at all, as ZFS does"},
	} {
		switch {
		case setting.value == "on":
		case !byStorage:
			return nil, connect.Unsafe("%s is off, it must be on: ALTER SYSTEM SET %[1]s = on; "+
				"SELECT pg_reload_conf(). Or, only if you know that %s: "+
				"add durable=storage to the URL", setting.name, setting.instead)
		default:
			vouched = append(vouched, fmt.Sprintf("conditional: %s is off, and with "+
				"durable=storage in the URL you guarantee that %s", setting.name, setting.instead))
		}
	}
	return vouched, nil
}

var errStandby = connect.Unsafe("the server is a standby, it must be the primary: " +
	"put the primary in the URL, or all servers and target_session_attrs=read-write")

// columns are the types of the columns of the last statement in inspection.
var columns = []struct {
	kind string
	oid  uint32
}{
	{"text", pgtype.TextOID}, {"text", pgtype.TextOID}, {"bigint", pgtype.Int8OID},
	{"bigint", pgtype.Int8OID}, {"json", pgtype.JSONOID},
}

// keyCollations are two OIDs. All servers have this OID for the collation "C".
const keyCollations = "950 950"

func (at *state) checkTable(user string) error {
	unfit := func(format string, args ...any) error {
		return fmt.Errorf("%s is not the table for leases: rename it, or put another schema "+
			"into the search_path: "+format, append([]any{at.table}, args...)...)
	}
	switch {
	case at.kind != "r":
		return unfit("it is not a table, but a view or something else")
	case at.privileges != "ttt":
		return fmt.Errorf("permission denied for table %s: GRANT SELECT, INSERT, UPDATE ON %[1]s "+
			"TO %s", at.table, user)
	case at.noColumns != nil:
		return unfit("%w", at.noColumns)
	}
	for i, c := range at.columns {
		if c.DataTypeOID != columns[i].oid {
			return unfit("the type of its column %s is not %s", c.Name, columns[i].kind)
		}
	}
	key := fmt.Sprintf("%d %d", at.columns[0].TableAttributeNumber, at.columns[1].TableAttributeNumber)
	switch {
	case at.key != key || at.keyCollations != keyCollations:
		return unfit(`it has no primary key (realm, block) with COLLATE "C"`)
	case at.persistence != "p":
		return connect.Unsafe("the table %s is UNLOGGED or temporary, so a crash empties it: "+
			"ALTER TABLE %[1]s SET LOGGED", at.table)
	}
	return nil
}

func (at *state) conditions() []string {
	if at.standbys == 0 {
		return nil
	}
	return []string{fmt.Sprintf("conditional: the server is replicated asynchronously "+
		"(connections: %d; synchronous_standby_names is empty). "+
		"A standby that becomes the primary may lack changes: then fence all realms before "+
		"processes use the new primary. Or set synchronous_standby_names", at.standbys)}
}
