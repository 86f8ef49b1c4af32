package postgres

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
)

// A Store is a [lease.Store] in a table of PostgreSQL. It is safe for concurrent use.
type Store struct {
	pool       *pgxpool.Pool
	idle       *connect.Idle // closes the connections; nil if the program made them
	hosts      string        // one or more host:port
	database   string
	table      string // the name with its schema
	byStorage  bool   // the URL has durable=storage
	conditions []string
}

// Open opens the store in the database of a URL; see the package comment and [lease.ErrUnsafe].
func Open(ctx context.Context, url string) (*Store, error) { return openURL(ctx, url, true) }

// OpenExisting is like Open, but fails with [lease.ErrNoRealm] if there is no table.
func OpenExisting(ctx context.Context, url string) (*Store, error) {
	return openURL(ctx, url, false)
}

func openURL(ctx context.Context, url string, create bool) (*Store, error) {
	config, byStorage, err := parse(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s, err := use(ctx, pool, byStorage, create)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.idle = connect.NewIdle(config.MaxConnIdleTime, pool.Reset)
	return s, nil
}

// New is like Open, for a program that already has a pool. Close does not close this pool.
func New(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	return use(ctx, pool, false, true)
}

func use(ctx context.Context, pool *pgxpool.Pool, byStorage, create bool) (*Store, error) {
	c := pool.Config().ConnConfig
	hosts := []string{net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks {
		host := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port)))
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	s := &Store{pool: pool, hosts: strings.Join(hosts, ", "), database: c.Database,
		byStorage: byStorage}
	_, err := connect.Retry(ctx, s.hosts, connect.NoResult(func(ctx context.Context) error {
		return s.prepare(ctx, create)
	}))
	if err != nil {
		return nil, s.failed(err)
	}
	return s, nil
}

// Close waits for the calls in progress, and closes the connections that Open has made.
func (s *Store) Close() error {
	if s.idle != nil {
		s.idle.Stop()
		s.pool.Close()
	}
	return nil
}

func (s *Store) CloseIdleConnections() { s.idle.Rest() }

func (s *Store) String() string {
	return fmt.Sprintf("postgres: database %q at %s", s.database, s.hosts)
}

func (s *Store) Conditions() []string { return s.conditions }

const (
	// pg_logical_emit_message makes this a transaction that writes. So its COMMIT waits for the
	// synchronous standbys.
	getStatement = `SELECT revision, hwm, record,
		CASE WHEN current_setting('synchronous_standby_names') <> ''
		THEN pg_logical_emit_message(true, 'sortid_lease', '') END
		FROM {table} WHERE realm = $1 AND block = $2`
	// OFFSET 0 makes the server look up each block in the index. Otherwise, before its first ANALYZE
	// of the table, it would read the whole realm. The result also has a row for a missing record.
	// This row shows if the server is a standby.
	getManyStatement = `SELECT revision, hwm, record, b, pg_is_in_recovery()
		FROM unnest(string_to_array($2, ' ')) b LEFT JOIN LATERAL (SELECT revision, hwm, record
		FROM {table} WHERE realm = $1 AND block = b OFFSET 0) found ON true`
	realmsStatement = `SELECT realm FROM {table} WHERE block = '0/0'`
	listStatement   = `SELECT revision, hwm, record, block FROM {table} WHERE realm = $1`
	insertStatement = `INSERT INTO {table} (realm, block, revision, hwm, record)
		SELECT $1, $2, $3, $4, $5 WHERE {condition} ON CONFLICT (realm, block) DO NOTHING`
	updateStatement = `UPDATE {table} SET revision = $3, hwm = $4, record = $5
		WHERE realm = $1 AND block = $2 AND revision = $6 AND hwm = $7 AND {condition}`
)

func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	r, err := s.query(ctx, getStatement, realm, b.String())
	if err != nil {
		return lease.Record{}, s.failed(err)
	}
	if len(r.Rows) == 0 {
		return lease.Record{Realm: realm, Block: b}, nil
	}
	return s.decode(realm, b.String(), r.Rows[0])
}

// GetMany reads all records at one moment. Unlike Get, it does not wait for standbys. If
// a failover undoes these records, it also undoes all later changes.
func (s *Store) GetMany(ctx context.Context, realm string,
	blocks []lease.Block) ([]lease.Record, error) {
	keys := make([]string, len(blocks))
	for i, b := range blocks {
		keys[i] = b.String()
	}
	r, err := s.read(ctx, pgx.TextFormatCode, getManyStatement, realm, strings.Join(keys, " "))
	if err != nil {
		return nil, s.failed(err)
	}
	rows := make(map[string][][]byte, len(r.Rows))
	for _, row := range r.Rows {
		if string(row[4]) != "f" {
			return nil, s.failed(errStandby)
		}
		if row[2] != nil {
			rows[string(row[3])] = row
		}
	}
	records := make([]lease.Record, len(blocks))
	for i, b := range blocks {
		records[i] = lease.Record{Realm: realm, Block: b}
		if row := rows[keys[i]]; row != nil {
			if records[i], err = s.decode(realm, keys[i], row); err != nil {
				return nil, err
			}
		}
	}
	return records, nil
}

func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	return s.CompareAndSetMany(ctx, []lease.Change{{Prev: prev, Next: next}})
}

// Atomic returns false, because CompareAndSetMany may make only some changes.
func (s *Store) Atomic() bool { return false }

// CompareAndSetMany makes one change after the other, until it must refuse one. All changes are in
// one statement, so the server holds no lock while it waits for a client. All processes lock larger
// blocks first, so no process waits forever.
func (s *Store) CompareAndSetMany(ctx context.Context, changes []lease.Change) (bool, error) {
	var statement strings.Builder
	var args []string
	before, separator := "true", "WITH "
	for i, c := range changes {
		text, with, err := change(c, len(args), before)
		if err != nil {
			return false, s.failed(err)
		}
		args = append(args, with...)
		if i == len(changes)-1 {
			statement.WriteString(text)
			break
		}
		name := fmt.Sprint("change", i)
		statement.WriteString(separator + name + " AS (" + text + " RETURNING 1) ")
		before, separator = "EXISTS (SELECT FROM "+name+")", ", "
	}
	r, err := s.query(ctx, statement.String(), args...)
	if err != nil {
		return false, s.failed(err)
	}
	return r.CommandTag.RowsAffected() == 1, nil
}

// change returns a statement and its arguments. Their numbers in the statement begin with last+1.
// If the condition is false, the statement changes nothing.
func change(c lease.Change, last int, condition string) (
	statement string, args []string, err error) {
	record, err := json.Marshal(c.Next)
	args = []string{c.Prev.Realm, c.Prev.Block.String(), signed(c.Next.Revision),
		decimal(c.Next.HWM), string(record)}
	types := []string{"text", "text", "bigint", "bigint", "json"}
	form := insertStatement
	if c.Prev.Revision != 0 {
		args = append(args, signed(c.Prev.Revision), decimal(c.Prev.HWM))
		types = append(types, "bigint", "bigint")
		form = updateStatement
	}
	pairs := []string{"{condition}", condition}
	for i, name := range types {
		pairs = append(pairs, fmt.Sprintf("$%d", i+1), fmt.Sprintf("$%d::%s", last+i+1, name))
	}
	return strings.NewReplacer(pairs...).Replace(form), args, err
}

func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	r, err := s.query(ctx, listStatement, realm)
	if err != nil {
		return nil, s.failed(err)
	}
	records := make([]lease.Record, len(r.Rows))
	for i, row := range r.Rows {
		if records[i], err = s.decode(realm, string(row[3]), row); err != nil {
			return nil, err
		}
	}
	return records, nil
}

func (s *Store) Realms(ctx context.Context) ([]string, error) {
	r, err := s.query(ctx, realmsStatement)
	if err != nil {
		return nil, s.failed(err)
	}
	names := make([]string, len(r.Rows))
	for i, row := range r.Rows {
		names[i] = string(row[0])
	}
	return names, nil
}

// epoch is when binary times of PostgreSQL begin, the year 2000, in Unix microseconds.
const epoch = 946_684_800_000_000

func (s *Store) Time(ctx context.Context) (time.Time, error) {
	// The text of a time depends on settings, and to compute a number costs the server more.
	r, err := s.read(ctx, pgx.BinaryFormatCode, "SELECT clock_timestamp()")
	if err != nil {
		return time.Time{}, s.failed(err)
	}
	at := r.Rows[0][0]
	if len(at) != 8 {
		return time.Time{}, s.failed(fmt.Errorf("the time has %d bytes instead of 8", len(at)))
	}
	return time.UnixMicro(epoch + int64(binary.BigEndian.Uint64(at))), nil
}

// begin sets up a transaction that does not depend on the server's defaults. A standby refuses READ
// WRITE. A statement_timeout would end the wait for a synchronous standby, and COMMIT would succeed
// without the standby. Instead, contexts limit the time of calls.
var begin = []string{
	"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
	"SET LOCAL synchronous_commit = on",
	"SET LOCAL statement_timeout = 0",
}

// query sends a statement in its own transaction, once and in one piece. It succeeds only if the
// answer to COMMIT comes.
func (s *Store) query(ctx context.Context, statement string,
	args ...string) (*pgconn.Result, error) {
	var batch pgconn.Batch
	for _, setting := range begin {
		batch.ExecParams(setting, nil, nil, nil, nil)
	}
	batch.ExecParams(s.sql(statement), values(args), nil, nil, nil)
	batch.ExecParams("COMMIT", nil, nil, nil, nil)
	var results []*pgconn.Result
	err := s.send(ctx, func(ctx context.Context, conn *pgconn.PgConn) (err error) {
		results, err = conn.ExecBatch(ctx, &batch).ReadAll()
		return err
	})
	switch n := len(begin) + 2; {
	case len(results) == 0 && code(err) == codeNotSupported:
		return nil, fmt.Errorf("%w (%w)", errStandby, err)
	case err != nil:
		return nil, err
	case len(results) != n:
		return nil, fmt.Errorf("%d answers instead of %d", len(results), n)
	}
	return results[len(begin)], nil
}

// read sends a statement. The format is a format code of pgx for the columns of the result.
func (s *Store) read(ctx context.Context, format int16, statement string,
	args ...string) (*pgconn.Result, error) {
	return connect.Read(ctx, func(ctx context.Context) (r *pgconn.Result, err error) {
		err = s.send(ctx, func(ctx context.Context, conn *pgconn.PgConn) error {
			r = conn.ExecParams(ctx, s.sql(statement), values(args), nil, nil,
				[]int16{format}).Read()
			return r.Err
		})
		return r, err
	})
}

// send calls f, which sends one request. If an error is not from the server, the connection is
// lost.
func (s *Store) send(ctx context.Context, f func(context.Context, *pgconn.PgConn) error) error {
	conn, err := s.connection(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	defer s.idle.Used()
	_, err = connect.Ask(ctx, connect.NoResult(
		func(ctx context.Context) error { return f(ctx, conn.Conn().PgConn()) }))
	if err != nil && code(err) == "" {
		return connect.Temporary(fmt.Errorf("the answer did not come: %w", err))
	}
	return err
}

func (s *Store) sql(statement string) string {
	return strings.ReplaceAll(statement, "{table}", s.table)
}

func values(args []string) [][]byte {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(arg)
	}
	return values
}

func (s *Store) decode(realm, block string, row [][]byte) (r lease.Record, err error) {
	err = json.Unmarshal(row[2], &r)
	if err == nil && (r.Realm != realm || r.Block.String() != block ||
		signed(r.Revision) != string(row[0]) || decimal(r.HWM) != string(row[1])) {
		err = fmt.Errorf("its columns differ from its JSON %s", row[2])
	}
	if err != nil {
		err = s.failed(fmt.Errorf("the row of realm %q, block %s was not written by this store: %w",
			realm, block, err))
	}
	return r, err
}

// signed returns a revision as the bigint with the same 64 bits.
func signed(revision uint64) string { return decimal(int64(revision)) }

func decimal(i int64) string { return strconv.FormatInt(i, 10) }

func (s *Store) failed(err error) error {
	return fmt.Errorf("%v: %w", s, err)
}
