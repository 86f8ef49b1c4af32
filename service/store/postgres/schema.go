package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/sortid/sortid/lease"
)

// Schema is the statement that makes the table, in the first schema of the search_path.
//
// The keys are of the collation "C", which compares bytes: exactly, and forever so, while
// the order of others changes with the operating system, and breaks the index.
const Schema = `CREATE TABLE sortid_lease (
	realm  text   COLLATE "C" NOT NULL,
	block  text   COLLATE "C" NOT NULL,
	epoch  bigint NOT NULL,
	hwm    bigint NOT NULL,
	record json   NOT NULL,
	PRIMARY KEY (realm, block)
)`

// Codes of errors, https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	codeWrongPassword = "28P01"
	codeNoLogin       = "28000"
	codeNoDatabase    = "3D000"
	codeNoPrivilege   = "42501"
	codeNotSupported  = "0A000"
	codeNoKey         = "42P10" // for ON CONFLICT
)

func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// prepare checks the server, finds or makes the table, and checks that.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.checkServer(ctx); err != nil {
		return err
	}
	t, err := s.find(ctx)
	if err == nil && t == nil {
		t, err = s.create(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.checkTable(ctx, t); err != nil {
		return err
	}
	return s.checkReplication(ctx)
}

func (s *Store) checkServer(ctx context.Context) error {
	r, err := s.query(ctx, "SELECT current_setting('fsync'), current_setting('full_page_writes')")
	if err != nil {
		switch code(err) {
		case codeWrongPassword, codeNoLogin:
			return fmt.Errorf("%w: check user and password", err)
		case codeNoDatabase:
			return fmt.Errorf("%w: CREATE DATABASE, or correct the name in the URL", err)
		}
		if dial := (*pgconn.ConnectError)(nil); errors.As(err, &dial) && code(err) == "" {
			return fmt.Errorf("%w: does the server run, and is this its address?", err)
		}
		return err
	}
	unsafe := func(setting string) error {
		return fmt.Errorf("%w: %s is off, it must be on: ALTER SYSTEM SET %[2]s = on; SELECT pg_reload_conf()", lease.ErrUnsafe, setting)
	}
	switch row := r.Rows[0]; {
	case string(row[0]) != "on":
		return unsafe("fsync")
	case string(row[1]) != "on":
		return unsafe("full_page_writes")
	}
	return nil
}

var errStandby = fmt.Errorf("%w: the server is a standby, it must be the primary: "+
	"name that in the URL, or all servers together with target_session_attrs=read-write", lease.ErrUnsafe)

// A table is what there is by the name of the table.
type table struct {
	name        string // with its schema, so that it stays the same if the search_path changes
	kind        string // "r" is an ordinary table
	persistence string // "p" is permanent
	columns     string // those that the store uses
}

const columns = "realm text C, block text C, epoch bigint, hwm bigint, record json"

// find returns the table, or nil if there is none.
func (s *Store) find(ctx context.Context) (*table, error) {
	r, err := s.query(ctx, `SELECT n.nspname, c.relname, c.relkind, c.relpersistence, (
			SELECT string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), l.collname), ', ' ORDER BY a.attnum)
			FROM pg_attribute a LEFT JOIN pg_collation l ON l.oid = a.attcollation
			WHERE a.attrelid = c.oid AND a.attname IN ('realm', 'block', 'epoch', 'hwm', 'record'))
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('sortid_lease')`)
	if err != nil || len(r.Rows) == 0 {
		return nil, err
	}
	row := r.Rows[0]
	return &table{
		name: pgx.Identifier{string(row[0]), string(row[1])}.Sanitize(),
		kind: string(row[2]), persistence: string(row[3]), columns: string(row[4]),
	}, nil
}

// create makes the table.
func (s *Store) create(ctx context.Context) (*table, error) {
	_, failure := s.query(ctx, Schema)
	// It may have failed because somebody else was faster.
	t, err := s.find(ctx)
	if err != nil || t != nil {
		return t, err
	}
	if code(failure) == codeNoPrivilege {
		failure = fmt.Errorf("%w: have somebody who may do so run\n%s;\nGRANT SELECT, INSERT, UPDATE ON sortid_lease TO %s;", failure, Schema, s.user())
	}
	return nil, fmt.Errorf("cannot make the table: %w", failure)
}

// checkTable checks the table, and has the server plan the store's statements, which
// fails if the key or a privilege is missing.
func (s *Store) checkTable(ctx context.Context, t *table) error {
	unfit := func(err error) error {
		return fmt.Errorf("%s is not the table for leases: rename it, or have another schema in the search_path: %w", t.name, err)
	}
	switch {
	case t.kind != "r":
		return unfit(errors.New("it is a view, or another thing that is no table"))
	case t.columns != columns:
		return unfit(fmt.Errorf("it has of the columns that are needed (%s) these: %s", columns, t.columns))
	case t.persistence != "p":
		return fmt.Errorf("%w: the table %s is UNLOGGED or temporary, so a crash empties it: ALTER TABLE %[2]s SET LOGGED", lease.ErrUnsafe, t.name)
	}
	s.statements = statementsFor(t.name)
	for _, c := range []struct {
		statement string
		args      []string
	}{
		{s.statements.get, []string{"", ""}},
		{s.statements.insert, []string{"", "", "0", "0", "{}"}},
		{s.statements.update, []string{"", "", "0", "0", "{}", "0", "0"}},
	} {
		_, err := s.query(ctx, "EXPLAIN "+c.statement, c.args...)
		switch {
		case code(err) == codeNoPrivilege:
			return fmt.Errorf("%w: GRANT SELECT, INSERT, UPDATE ON %s TO %s", err, t.name, s.user())
		case code(err) == codeNoKey:
			return unfit(errors.New("it has no primary key (realm, block)"))
		case err != nil:
			return err
		}
	}
	return nil
}

// user returns the name of the role as it stands in statements.
func (s *Store) user() string { return pgx.Identifier{s.pool.Config().ConnConfig.User}.Sanitize() }

// checkReplication looks for standbys that may not have what was committed.
func (s *Store) checkReplication(ctx context.Context) error {
	r, err := s.query(ctx, "SELECT count(*) FROM pg_stat_replication WHERE current_setting('synchronous_standby_names') = ''")
	if code(err) == codeNoPrivilege {
		return nil
	}
	if err != nil {
		return err
	}
	if n := string(r.Rows[0][0]); n != "0" {
		s.conditions = append(s.conditions, fmt.Sprintf(
			"conditional: the server is replicated asynchronously (connections: %s; synchronous_standby_names is empty). "+
				"A standby that becomes the primary may lack changes: then fence all realms before processes reach it, or set synchronous_standby_names", n))
	}
	return nil
}
