package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
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

func (s *Store) prepare(ctx context.Context) error {
	state, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	if err := state.checkServer(); err != nil {
		return err
	}
	if state.table == "" {
		if state, err = s.create(ctx); err != nil {
			return err
		}
	}
	if err := state.checkTable(s.user()); err != nil {
		return err
	}
	s.table, s.conditions = state.table, state.conditions()
	return nil
}

type state struct {
	fsync, fullPageWrites string
	standbys              string // how many; "0" if the replication is synchronous

	// table is the name with its schema, because the search_path may change. It is "" if there is
	// no table.
	table string

	kind        string // "r" means an ordinary table
	persistence string // "p" means permanent
	privileges  string // "t" if the user has all needed privileges
	key         string // numbers of the columns of the primary key
	// columns has the number, name, type and collation of each column that the store uses.
	columns []string
}

// A thousand processes may start at the same time, so inspect sends only one request.
func (s *Store) inspect(ctx context.Context) (*state, error) {
	r, err := s.query(ctx, inspection)
	if err != nil {
		return nil, err
	}
	row := r.Rows[0]
	at := &state{fsync: string(row[0]), fullPageWrites: string(row[1]), standbys: string(row[2])}
	if row[3] != nil {
		at.table = string(row[3]) + "." + table
		at.kind, at.persistence, at.privileges = string(row[4]), string(row[5]), string(row[6])
		at.key, at.columns = string(row[7]), strings.Split(string(row[8]), ",")
	}
	return at, nil
}

const table = "sortid_lease"

// A new connection loads each system catalog that a statement uses. So this statement uses few.
const inspection = `SELECT current_setting('fsync'), current_setting('full_page_writes'),
		CASE WHEN current_setting('synchronous_standby_names') = ''
			THEN (SELECT count(*) FROM pg_stat_get_wal_senders()) ELSE 0 END,
		c.relnamespace::regnamespace, c.relkind, c.relpersistence,
		has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') AND
			has_table_privilege(c.oid, 'UPDATE'),
		(SELECT indkey FROM pg_index WHERE indrelid = c.oid AND indisprimary),
		array_to_string(ARRAY(
			SELECT concat_ws(' ', attnum, attname, format_type(atttypid, atttypmod),
				nullif(attcollation, 0)::regcollation)
			FROM pg_attribute WHERE attrelid = c.oid AND
				attname IN ('realm', 'block', 'revision', 'hwm', 'record')
			ORDER BY attnum), ',')
	FROM (SELECT to_regclass('` + table + `') AS oid) t LEFT JOIN pg_class c ON c.oid = t.oid`

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

func (at *state) checkServer() error {
	const off = "%s is off, it must be on: ALTER SYSTEM SET %[1]s = on; SELECT pg_reload_conf()"
	switch {
	case at.fsync != "on":
		return connect.Unsafe(off, "fsync")
	case at.fullPageWrites != "on":
		return connect.Unsafe(off, "full_page_writes")
	}
	return nil
}

var errStandby = connect.Unsafe("the server is a standby, it must be the primary: " +
	"put the primary in the URL, or all servers and target_session_attrs=read-write")

const columns = `realm text "C", block text "C", revision bigint, hwm bigint, record json`

func (at *state) checkTable(user string) error {
	unfit := func(format string, args ...any) error {
		return fmt.Errorf("%s is not the table for leases: rename it, or put another schema "+
			"into the search_path: "+format, append([]any{at.table}, args...)...)
	}
	key, found := make([]string, len(at.columns)), make([]string, len(at.columns))
	for i, c := range at.columns {
		key[i], found[i], _ = strings.Cut(c, " ")
	}
	has := strings.Join(found, ", ")
	switch {
	case at.kind != "r":
		return unfit("it is not a table, but a view or something else")
	case has != columns:
		return unfit("of the needed columns (%s) it has these: %s", columns, has)
	case at.key != key[0]+" "+key[1]:
		return unfit("it has no primary key (realm, block)")
	case at.persistence != "p":
		return connect.Unsafe("the table %s is UNLOGGED or temporary, so a crash empties it: "+
			"ALTER TABLE %[1]s SET LOGGED", at.table)
	case at.privileges != "t":
		return fmt.Errorf("permission denied for table %s: GRANT SELECT, INSERT, UPDATE ON %[1]s "+
			"TO %s", at.table, user)
	}
	return nil
}

func (at *state) conditions() []string {
	if at.standbys == "0" {
		return nil
	}
	return []string{fmt.Sprintf("conditional: the server is replicated asynchronously "+
		"(connections: %s; synchronous_standby_names is empty). "+
		"A standby that becomes the primary may lack changes: then fence all realms before "+
		"processes use the new primary. Or set synchronous_standby_names", at.standbys)}
}
