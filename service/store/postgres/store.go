package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sortid/sortid/lease"
)

// A Store is a [lease.Store] in a PostgreSQL database. It is safe for concurrent use.
type Store struct {
	pool       *pgxpool.Pool
	owned      bool // Close closes the pool
	name       string
	statements statements
	conditions []string
}

// Open returns the store in the database of a URL; see the package comment. It fails with
// [lease.ErrUnsafe] if the server could forget what it has stored, or with the error of
// the connection or of the server. No error contains the password.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s, err := New(ctx, pool)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.owned = true
	return s, nil
}

// New is Open for a program that has a pool of connections already. Close leaves it open.
func New(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	c := pool.Config().ConnConfig
	s := &Store{pool: pool, name: fmt.Sprintf("database %q at %s", c.Database, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))))}
	if err := s.prepare(ctx); err != nil {
		return nil, s.failed(err)
	}
	return s, nil
}

// Close closes the connections that Open has made, when calls that are under way have ended.
func (s *Store) Close() error {
	if s.owned {
		s.pool.Close()
	}
	return nil
}

// Conditions says, in sentences for people, on what the guarantee of this server rests
// that may not hold; nil if Open has seen nothing of that kind.
func (s *Store) Conditions() []string { return s.conditions }

type statements struct{ get, list, insert, update string }

func statementsFor(table string) statements {
	return statements{
		// The message makes this a transaction that writes, whose COMMIT waits for the
		// synchronous standbys, if there are any.
		get: `SELECT epoch, hwm, record, CASE WHEN current_setting('synchronous_standby_names') <> ''
			THEN pg_logical_emit_message(true, 'sortid_lease', '') END FROM ` + table + ` WHERE realm = $1 AND block = $2`,
		list: `SELECT epoch, hwm, record, block FROM ` + table + ` WHERE realm = $1`,
		insert: `INSERT INTO ` + table + ` (realm, block, epoch, hwm, record) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (realm, block) DO NOTHING`,
		update: `UPDATE ` + table + ` SET epoch = $3, hwm = $4, record = $5
			WHERE realm = $1 AND block = $2 AND epoch = $6 AND hwm = $7`,
	}
}

// Get returns the record of a block.
func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	r, err := s.query(ctx, s.statements.get, realm, b.String())
	if err != nil {
		return lease.Record{}, s.failed(err)
	}
	if len(r.Rows) == 0 {
		return lease.Record{Realm: realm, Block: b}, nil
	}
	return s.decode(realm, b.String(), r.Rows[0])
}

// CompareAndSet stores next in the place of prev.
func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	record, err := json.Marshal(next)
	if err != nil {
		return false, s.failed(err)
	}
	statement := s.statements.insert
	args := []string{prev.Realm, prev.Block.String(), signed(next.Epoch), decimal(next.HWM), string(record)}
	if prev.Epoch != 0 {
		statement = s.statements.update
		args = append(args, signed(prev.Epoch), decimal(prev.HWM))
	}
	r, err := s.query(ctx, statement, args...)
	if err != nil {
		return false, s.failed(err)
	}
	return r.CommandTag.RowsAffected() == 1, nil
}

// List returns the records of a realm.
func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	r, err := s.query(ctx, s.statements.list, realm)
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

// Time returns the time of the server.
func (s *Store) Time(ctx context.Context) (time.Time, error) {
	r, err := s.query(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
	if err != nil {
		return time.Time{}, s.failed(err)
	}
	micros, err := strconv.ParseInt(string(r.Rows[0][0]), 10, 64)
	if err != nil {
		return time.Time{}, s.failed(err)
	}
	return time.UnixMicro(micros), nil
}

// begin makes a transaction what the store needs, whatever the defaults are. It fails on a
// standby, which knows no READ WRITE. A statement_timeout would end the wait for a
// synchronous standby, and COMMIT would succeed without; it is the context that ends calls.
var begin = []string{
	"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
	"SET LOCAL synchronous_commit = on",
	"SET LOCAL statement_timeout = 0",
}

// query carries out a statement with its arguments, in a transaction of its own. It all
// goes to the server in one piece, once; nothing but the answer of COMMIT makes it a
// success.
func (s *Store) query(ctx context.Context, statement string, args ...string) (*pgconn.Result, error) {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(arg)
	}
	var batch pgconn.Batch
	for _, setting := range begin {
		batch.ExecParams(setting, nil, nil, nil, nil)
	}
	batch.ExecParams(statement, values, nil, nil, nil)
	batch.ExecParams("COMMIT", nil, nil, nil, nil)

	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, oneLine{err}
	}
	defer conn.Release()
	results, err := conn.Conn().PgConn().ExecBatch(ctx, &batch).ReadAll()
	if len(results) == 0 && code(err) == codeNotSupported {
		return nil, fmt.Errorf("%w (%w)", errStandby, err)
	}
	if err != nil && code(err) == "" {
		return nil, fmt.Errorf("the answer did not come: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if n := len(begin) + 2; len(results) != n {
		return nil, fmt.Errorf("%d answers instead of %d", len(results), n)
	}
	return results[len(begin)], nil
}

// decode returns the record of a row, whose key is known.
func (s *Store) decode(realm, block string, row [][]byte) (r lease.Record, err error) {
	err = json.Unmarshal(row[2], &r)
	if err == nil && (r.Realm != realm || r.Block.String() != block || signed(r.Epoch) != string(row[0]) || decimal(r.HWM) != string(row[1])) {
		err = fmt.Errorf("its columns say otherwise than its JSON %s", row[2])
	}
	if err != nil {
		err = s.failed(fmt.Errorf("the row of realm %q, block %s was not written by this store: %w", realm, block, err))
	}
	return r, err
}

// signed returns an epoch as the bigint with the same 64 bits.
func signed(epoch uint64) string { return decimal(int64(epoch)) }

func decimal(i int64) string { return strconv.FormatInt(i, 10) }

// oneLine is an error of a connection attempt, of which pgx has one in each line.
type oneLine struct{ error }

func (e oneLine) Error() string {
	return strings.NewReplacer(":\n\t", ": ", "\n\t", "; ").Replace(e.error.Error())
}

func (e oneLine) Unwrap() error { return e.error }

// failed words an error.
func (s *Store) failed(err error) error { return fmt.Errorf("postgres: %s: %w", s.name, err) }
