package mysql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
)

// A Store is a [lease.Store] in a MariaDB or MySQL database. It is safe for concurrent
// use.
type Store struct {
	db         *sql.DB
	idle       *connect.Idle // closes the connections
	address    string
	database   string
	galera     bool
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
	return New(ctx, config)
}

// New is Open for what a URL cannot say, such as certificates (config.TLS) or a dialer;
// config is not changed. It makes connections of its own, whose sessions have the
// settings that the store needs; Close closes them.
func New(ctx context.Context, config *mysql.Config) (*Store, error) {
	s := &Store{address: config.Addr, database: config.DBName}
	_, err := connect.Retry(ctx, s.address, func(ctx context.Context) (struct{}, error) {
		err := s.connect(config, session)
		if err == nil {
			if err = s.prepare(ctx, config); err != nil {
				s.db.Close()
			}
		}
		return struct{}{}, err
	})
	if err != nil {
		return nil, s.failed(err)
	}
	s.idle = connect.NewIdle(connect.IdleTime, s.disconnect)
	return s, nil
}

// connect prepares a pool of connections with sessions that are set up in this way.
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

// disconnect closes the connections that nobody uses. It is called when nobody has used
// one for a while, so each call of the store puts it off.
func (s *Store) disconnect() {
	s.db.SetMaxIdleConns(0)
	s.db.SetMaxIdleConns(maxConns)
}

// Close closes the connections.
func (s *Store) Close() error {
	s.idle.Stop()
	return s.db.Close()
}

// CloseIdleConnections closes, in a moment, the connections that nobody uses then. [lease.Acquire]
// calls it when it is done, and so do renewals.
func (s *Store) CloseIdleConnections() { s.idle.Rest() }

// String says which store it is, for people.
func (s *Store) String() string {
	return fmt.Sprintf("mysql: database %q at %s", s.database, s.address)
}

// Conditions says, in sentences for people, on what the guarantee of this server rests
// that may not hold; nil if Open has seen nothing of that kind.
func (s *Store) Conditions() []string { return s.conditions }

const (
	// A row in any case, so that a replica that has no record does not go unnoticed.
	getStatement = `SELECT @@GLOBAL.read_only, l.revision, l.hwm, l.record
		FROM (SELECT 1) one LEFT JOIN sortid_lease l ON l.realm = ? AND l.block = ?`
	getManyStatement = `SELECT @@GLOBAL.read_only, l.block, l.revision, l.hwm, l.record
		FROM (SELECT 1) one LEFT JOIN sortid_lease l ON l.realm = ? AND l.block IN (?)`
	realmsStatement = `SELECT realm FROM sortid_lease WHERE block = '0/0'`
	waitStatement   = `UPDATE sortid_lease SET gets = gets + 1 WHERE realm = ? AND block = ?`
	listStatement   = `SELECT block, revision, hwm, record FROM sortid_lease WHERE realm = ?`
	insertStatement = `INSERT INTO sortid_lease (realm, block, revision, hwm, record) VALUES (?, ?, ?, ?, ?)`
	updateStatement = `UPDATE sortid_lease SET revision = ?, hwm = ?, record = ? WHERE realm = ? AND block = ? AND revision = ? AND hwm = ?`
)

// Get returns the record of a block.
func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	defer s.idle.Used()
	var (
		readOnly string
		revision sql.Null[uint64]
		hwm      sql.Null[int64]
		record   []byte
	)
	if err := s.db.QueryRowContext(ctx, getStatement, []byte(realm), b.String()).Scan(&readOnly, &revision, &hwm, &record); err != nil {
		return lease.Record{}, s.failed(err)
	}
	if !writable(readOnly) {
		return lease.Record{}, s.failed(errReplica)
	}
	if !revision.Valid {
		return lease.Record{Realm: realm, Block: b}, nil
	}
	if !s.galera {
		// What was read may not be on the disk yet. Logs are written in order, so it is
		// when a later change is.
		if _, err := s.db.ExecContext(ctx, waitStatement, []byte(realm), b.String()); err != nil {
			return lease.Record{}, s.failed(err)
		}
	}
	r, err := decode(realm, b.String(), revision.V, hwm.V, record)
	if err != nil {
		return lease.Record{}, s.failed(err)
	}
	return r, nil
}

// GetMany returns the records of blocks, all of one moment. It does not wait for the log, as
// Get does: logs are written in order, so if a crash undoes what was read, then it undoes
// all later changes.
func (s *Store) GetMany(ctx context.Context, realm string, blocks []lease.Block) ([]lease.Record, error) {
	defer s.idle.Used()
	keys := make([]any, len(blocks))
	for i, b := range blocks {
		keys[i] = b.String()
	}
	// A list of constants, for the primary key to be used.
	query := strings.Replace(getManyStatement, "(?)", "(?"+strings.Repeat(", ?", len(blocks)-1)+")", 1)
	found := map[string]lease.Record{}
	err := s.rows(ctx, func(scan func(...any) error) error {
		var (
			readOnly string
			block    sql.Null[string]
			revision sql.Null[uint64]
			hwm      sql.Null[int64]
			record   []byte
		)
		if err := scan(&readOnly, &block, &revision, &hwm, &record); err != nil {
			return err
		}
		if !writable(readOnly) {
			return errReplica
		}
		if !block.Valid {
			return nil
		}
		r, err := decode(realm, block.V, revision.V, hwm.V, record)
		found[block.V] = r
		return err
	}, query, append([]any{[]byte(realm)}, keys...)...)
	if err != nil {
		return nil, s.failed(err)
	}
	records := make([]lease.Record, len(blocks))
	for i, b := range blocks {
		r, ok := found[b.String()]
		if !ok {
			r = lease.Record{Realm: realm, Block: b}
		}
		records[i] = r
	}
	return records, nil
}

// CompareAndSet stores next in the place of prev.
//
// database/sql sends a statement again after driver.ErrBadConn. That is no danger: the
// driver returns it only if the connection was found closed, or not one byte of the
// statement could be written; once something has been sent, it returns another error.
func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	defer s.idle.Used()
	ok, err := change(ctx, s.db, prev, next)
	if err != nil {
		return false, s.failed(err)
	}
	return ok, nil
}

// CompareAndSetMany makes all changes or none.
func (s *Store) CompareAndSetMany(ctx context.Context, changes []lease.Change) (bool, error) {
	if len(changes) == 1 {
		return s.CompareAndSet(ctx, changes[0].Prev, changes[0].Next)
	}
	defer s.idle.Used()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return false, s.failed(err)
	}
	defer tx.Rollback() // does nothing after Commit
	for _, c := range changes {
		ok, err := change(ctx, tx, c.Prev, c.Next)
		if number(err) == numberDeadlock { // the transaction is rolled back, for another to go on
			return false, nil
		}
		if err != nil {
			return false, s.failed(err)
		}
		if !ok {
			return false, nil
		}
	}
	if err := tx.Commit(); err != nil {
		return false, s.failed(err)
	}
	return true, nil
}

// change changes a record, by itself or within a transaction.
func change(ctx context.Context, on interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, prev, next lease.Record) (bool, error) {
	record, err := json.Marshal(next)
	if err != nil {
		return false, err
	}
	realm, block := []byte(prev.Realm), prev.Block.String()
	if prev.Revision == 0 {
		_, err := on.ExecContext(ctx, insertStatement, realm, block, next.Revision, next.HWM, string(record))
		if number(err) == numberDuplicate {
			return false, nil
		}
		return err == nil, err
	}
	result, err := on.ExecContext(ctx, updateStatement, next.Revision, next.HWM, string(record), realm, block, prev.Revision, prev.HWM)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// List returns the records of a realm.
func (s *Store) List(ctx context.Context, realm string) (records []lease.Record, err error) {
	defer s.idle.Used()
	err = s.rows(ctx, func(scan func(...any) error) error {
		var (
			block    string
			revision uint64
			hwm      int64
			record   []byte
		)
		if err := scan(&block, &revision, &hwm, &record); err != nil {
			return err
		}
		r, err := decode(realm, block, revision, hwm, record)
		records = append(records, r)
		return err
	}, listStatement, []byte(realm))
	if err != nil {
		return nil, s.failed(err)
	}
	return records, nil
}

// Realms returns the names of the realms.
func (s *Store) Realms(ctx context.Context) (names []string, err error) {
	defer s.idle.Used()
	err = s.rows(ctx, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	}, realmsStatement)
	if err != nil {
		return nil, s.failed(err)
	}
	return names, nil
}

// Time returns the time of the server.
func (s *Store) Time(ctx context.Context) (time.Time, error) {
	defer s.idle.Used()
	var text string // which the driver leaves alone, while it takes a time for one of its Loc
	if err := s.db.QueryRowContext(ctx, "SELECT CAST(UTC_TIMESTAMP(6) AS CHAR)").Scan(&text); err != nil {
		return time.Time{}, s.failed(err)
	}
	t, err := time.Parse("2006-01-02 15:04:05.999999", text)
	if err != nil {
		return time.Time{}, s.failed(err)
	}
	return t, nil
}

// rows calls f for each row of a query's result.
func (s *Store) rows(ctx context.Context, f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
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

// decode returns the record of a row.
func decode(realm, block string, revision uint64, hwm int64, record []byte) (r lease.Record, err error) {
	err = json.Unmarshal(record, &r)
	if err == nil && (r.Realm != realm || r.Block.String() != block || r.Revision != revision || r.HWM != hwm) {
		err = fmt.Errorf("its columns say otherwise than its JSON %s", record)
	}
	if err != nil {
		err = fmt.Errorf("the row of realm %q, block %s was not written by this store: %w", realm, block, err)
	}
	return r, err
}

// failed words an error.
func (s *Store) failed(err error) error {
	if errors.Is(err, mysql.ErrInvalidConn) {
		err = fmt.Errorf("the answer did not come: %w", err)
	}
	return fmt.Errorf("%v: %w", s, err)
}
