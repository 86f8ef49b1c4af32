package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
)

// A Store is a [lease.Store] in a table of MariaDB or MySQL. It is safe for concurrent use.
type Store struct {
	db         *sql.DB
	idle       *connect.Idle // closes the connections
	address    string
	database   string
	galera     bool
	conditions []string
}

// Open opens the store in the database of a URL; see the package comment and [lease.ErrUnsafe].
func Open(ctx context.Context, url string) (*Store, error) { return openURL(ctx, url, true) }

// OpenExisting is like Open, but fails with [lease.ErrNoRealm] if there is no table.
func OpenExisting(ctx context.Context, url string) (*Store, error) {
	return openURL(ctx, url, false)
}

func openURL(ctx context.Context, url string, create bool) (*Store, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	return use(ctx, config, create)
}

// New is like Open, for settings that a URL cannot express, such as config.TLS or a dialer. It does
// not change config.
func New(ctx context.Context, config *mysql.Config) (*Store, error) {
	return use(ctx, config, true)
}

func use(ctx context.Context, config *mysql.Config, create bool) (*Store, error) {
	s := &Store{address: config.Addr, database: config.DBName}
	_, err := connect.Retry(ctx, s.address, connect.NoResult(func(ctx context.Context) error {
		err := s.connect(config, session)
		if err == nil {
			if err = explained(s.prepare(ctx, config, create)); err != nil {
				s.db.Close()
			}
		}
		return err
	}))
	if err != nil {
		return nil, s.failed(err)
	}
	s.idle = connect.NewIdle(connect.IdleTime, s.disconnect)
	return s, nil
}

// connect makes a pool. Each of its connections first executes the statements in setup.
func (s *Store) connect(config *mysql.Config, setup []string) error {
	c, err := newConnector(config, setup)
	if err != nil {
		return err
	}
	s.db = sql.OpenDB(c)
	s.db.SetMaxOpenConns(maxConns)
	s.db.SetMaxIdleConns(maxConns)
	return nil
}

const maxConns = 2

func (s *Store) disconnect() {
	s.db.SetMaxIdleConns(0)
	s.db.SetMaxIdleConns(maxConns)
}

func (s *Store) Close() error {
	s.idle.Stop()
	return s.db.Close()
}

func (s *Store) CloseIdleConnections() { s.idle.Rest() }

func (s *Store) String() string {
	return fmt.Sprintf("mysql: database %q at %s", s.database, s.address)
}

func (s *Store) Conditions() []string { return s.conditions }

const (
	// Even without a record, the result has a row. This row shows if the server is a replica.
	getStatement = `SELECT @@GLOBAL.read_only, l.block, l.revision, l.hwm, l.record
		FROM (SELECT 1) one LEFT JOIN sortid_lease l ON l.realm = ? AND l.block IN (?)`
	listStatement   = `SELECT 'OFF', block, revision, hwm, record FROM sortid_lease WHERE realm = ?`
	realmsStatement = `SELECT realm FROM sortid_lease WHERE block = '0/0'`
	waitStatement   = `UPDATE sortid_lease SET gets = gets + 1 WHERE realm = ? AND block = ?`
	insertStatement = `INSERT INTO sortid_lease (realm, block, revision, hwm, record)
		VALUES (?, ?, ?, ?, ?)`
	updateStatement = `UPDATE sortid_lease SET revision = ?, hwm = ?, record = ?
		WHERE realm = ? AND block = ? AND revision = ? AND hwm = ?`
)

// Get waits until the record is on the disk.
func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	found := map[lease.Block]lease.Record{}
	_, err := connect.Read(ctx, connect.NoResult(func(ctx context.Context) error {
		return s.ask(ctx, func(ctx context.Context, conn *sql.Conn) error {
			clear(found)
			err := each(ctx, conn, collect(found, realm), getStatement, []byte(realm), b.String())
			if err != nil || len(found) == 0 {
				return err
			}
			return s.wait(ctx, conn, realm, b)
		})
	}))
	if err != nil {
		return lease.Record{}, s.failed(err)
	}
	return cmp.Or(found[b], lease.Record{Realm: realm, Block: b}), nil
}

// wait makes a small change to a record. The server writes its log in order, so all that the
// connection has seen is then on the disk. If the server has crashed since, wait fails, because the
// connection is broken.
func (s *Store) wait(ctx context.Context, conn *sql.Conn, realm string, b lease.Block) error {
	if s.galera {
		return nil
	}
	_, err := conn.ExecContext(ctx, waitStatement, []byte(realm), b.String())
	return err
}

// GetMany reads all records at one moment. Unlike Get, it does not wait until they are on the disk.
// If a crash undoes these records, it also undoes all later changes.
func (s *Store) GetMany(ctx context.Context, realm string,
	blocks []lease.Block) ([]lease.Record, error) {
	args := []any{[]byte(realm)}
	for _, b := range blocks {
		args = append(args, b.String())
	}
	// With constants in the list, the server uses the primary key.
	query := strings.Replace(getStatement, "(?)", "(?"+strings.Repeat(", ?", len(blocks)-1)+")", 1)
	found, err := s.records(ctx, realm, query, args...)
	if err != nil {
		return nil, err
	}
	records := make([]lease.Record, len(blocks))
	for i, b := range blocks {
		records[i] = cmp.Or(found[b], lease.Record{Realm: realm, Block: b})
	}
	return records, nil
}

func (s *Store) records(ctx context.Context, realm, query string,
	args ...any) (map[lease.Block]lease.Record, error) {
	found := map[lease.Block]lease.Record{}
	if err := s.rows(ctx, collect(found, realm), query, args...); err != nil {
		return nil, s.failed(err)
	}
	return found, nil
}

// collect returns a function that adds the record in a row.
func collect(found map[lease.Block]lease.Record, realm string) func(func(...any) error) error {
	return func(scan func(...any) error) error {
		var (
			readOnly string
			block    sql.Null[string]
			revision sql.Null[uint64]
			hwm      sql.Null[int64]
			record   []byte
		)
		err := scan(&readOnly, &block, &revision, &hwm, &record)
		switch {
		case err != nil:
			return err
		case !writable(readOnly):
			return errReplica
		case !block.Valid:
			return nil
		}
		r, err := decode(realm, block.V, revision.V, hwm.V, record)
		found[r.Block] = r
		return err
	}
}

func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	return s.CompareAndSetMany(ctx, []lease.Change{{Prev: prev, Next: next}})
}

// CompareAndSetMany makes all changes, or none. If it refuses them, it waits until the record that
// differs is on the disk. Otherwise, a crash could undo this record.
func (s *Store) CompareAndSetMany(ctx context.Context,
	changes []lease.Change) (done bool, err error) {
	err = s.ask(ctx, func(ctx context.Context, conn *sql.Conn) error {
		refused := 0
		if len(changes) == 1 {
			done, err = change(ctx, conn, changes[0])
		} else {
			done, refused, err = changeAll(ctx, conn, changes)
		}
		if done || err != nil {
			return err
		}
		return s.wait(ctx, conn, changes[refused].Prev.Realm, changes[refused].Prev.Block)
	})
	if err != nil {
		return false, s.failed(err)
	}
	return done, nil
}

func changeAll(ctx context.Context, conn *sql.Conn, changes []lease.Change) (done bool, refused int,
	err error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return false, 0, err
	}
	defer tx.Rollback() // does nothing after Commit
	for i, c := range changes {
		ok, err := change(ctx, tx, c)
		if number(err) == numberDeadlock { // the server has rolled back tx
			return false, i, nil
		}
		if !ok || err != nil {
			return false, i, err
		}
	}
	err = tx.Commit()
	return err == nil, 0, err
}

func change(ctx context.Context, on interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, c lease.Change) (bool, error) {
	prev, next := c.Prev, c.Next
	record, err := json.Marshal(next)
	if err != nil {
		return false, err
	}
	realm, block := []byte(prev.Realm), prev.Block.String()
	if prev.Revision == 0 {
		_, err := on.ExecContext(ctx, insertStatement, realm, block, next.Revision, next.HWM,
			string(record))
		if number(err) == numberDuplicate {
			return false, nil
		}
		return err == nil, err
	}
	result, err := on.ExecContext(ctx, updateStatement, next.Revision, next.HWM, string(record),
		realm, block, prev.Revision, prev.HWM)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	found, err := s.records(ctx, realm, listStatement, []byte(realm))
	return slices.Collect(maps.Values(found)), err
}

func (s *Store) Realms(ctx context.Context) ([]string, error) {
	found := map[string]bool{} // a repeated request returns the names again
	err := s.rows(ctx, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		found[name] = true
		return err
	}, realmsStatement)
	if err != nil {
		return nil, s.failed(err)
	}
	return slices.Collect(maps.Keys(found)), nil
}

func (s *Store) Time(ctx context.Context) (t time.Time, err error) {
	err = s.rows(ctx, func(scan func(...any) error) error {
		var text string // the driver changes the time zone of a time, but not of a text
		if err := scan(&text); err != nil {
			return err
		}
		t, err = time.Parse("2006-01-02 15:04:05.999999", text)
		return err
	}, "SELECT CAST(UTC_TIMESTAMP(6) AS CHAR)")
	if err != nil {
		return time.Time{}, s.failed(err)
	}
	return t, nil
}

// ask calls f once, with one connection for all its requests.
func (s *Store) ask(ctx context.Context, f func(context.Context, *sql.Conn) error) error {
	defer s.idle.Used()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = connect.Ask(ctx, connect.NoResult(
		func(ctx context.Context) error { return f(ctx, conn) }))
	return err
}

// rows calls f for each row of a query's result. If the answer is not complete in time, it sends
// the query again, and f gets all rows again.
func (s *Store) rows(ctx context.Context, f func(scan func(...any) error) error, query string,
	args ...any) error {
	_, err := connect.Read(ctx, connect.NoResult(func(ctx context.Context) error {
		return s.ask(ctx, func(ctx context.Context, conn *sql.Conn) error {
			return each(ctx, conn, f, query, args...)
		})
	}))
	return err
}

func each(ctx context.Context, conn *sql.Conn, f func(scan func(...any) error) error, query string,
	args ...any) error {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func decode(realm, block string, revision uint64, hwm int64,
	record []byte) (r lease.Record, err error) {
	err = json.Unmarshal(record, &r)
	if err == nil && (r.Realm != realm || r.Block.String() != block || r.Revision != revision ||
		r.HWM != hwm) {
		err = fmt.Errorf("its columns differ from its JSON %s", record)
	}
	if err != nil {
		err = fmt.Errorf("the row of realm %q, block %s was not written by this store: %w", realm,
			block, err)
	}
	return r, err
}

func (s *Store) failed(err error) error {
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn) {
		err = fmt.Errorf("the answer did not come: %w", err)
	}
	return fmt.Errorf("%v: %w", s, err)
}
