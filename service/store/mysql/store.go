package mysql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/sortid/sortid/lease"
)

// A Store is a [lease.Store] in a MariaDB or MySQL database. It is safe for concurrent
// use.
type Store struct {
	db         *sql.DB
	idle       *time.Timer // closes the connections
	name       string
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
	s := &Store{name: fmt.Sprintf("database %q at %s", config.DBName, config.Addr)}
	err := s.connect(config, session)
	if err == nil {
		if err = s.prepare(ctx, config); err == nil {
			s.idle = time.AfterFunc(idleTime, s.disconnect)
			return s, nil
		}
		s.db.Close()
	}
	return nil, s.failed(err)
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

// An idle connection costs the server one of the few that it allows, and making one some
// milliseconds. sql.DB itself looks for idle ones only once a second.
const (
	maxConns = 2
	idleTime = 250 * time.Millisecond
)

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

// Conditions says, in sentences for people, on what the guarantee of this server rests
// that may not hold; nil if Open has seen nothing of that kind.
func (s *Store) Conditions() []string { return s.conditions }

const (
	// A row in any case, so that a replica that has no record does not go unnoticed.
	getStatement = `SELECT @@GLOBAL.read_only, l.epoch, l.hwm, l.record
		FROM (SELECT 1) one LEFT JOIN sortid_lease l ON l.realm = ? AND l.block = ?`
	waitStatement   = `UPDATE sortid_lease SET gets = gets + 1 WHERE realm = ? AND block = ?`
	listStatement   = `SELECT block, epoch, hwm, record FROM sortid_lease WHERE realm = ?`
	insertStatement = `INSERT INTO sortid_lease (realm, block, epoch, hwm, record) VALUES (?, ?, ?, ?, ?)`
	updateStatement = `UPDATE sortid_lease SET epoch = ?, hwm = ?, record = ? WHERE realm = ? AND block = ? AND epoch = ? AND hwm = ?`
)

// Get returns the record of a block.
func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	defer s.idle.Reset(idleTime)
	var (
		readOnly string
		epoch    sql.Null[uint64]
		hwm      sql.Null[int64]
		record   []byte
	)
	if err := s.db.QueryRowContext(ctx, getStatement, realm, b.String()).Scan(&readOnly, &epoch, &hwm, &record); err != nil {
		return lease.Record{}, s.failed(err)
	}
	if !writable(readOnly) {
		return lease.Record{}, s.failed(errReplica)
	}
	if !epoch.Valid {
		return lease.Record{Realm: realm, Block: b}, nil
	}
	if !s.galera {
		// What was read may not be on the disk yet. Logs are written in order, so it is
		// when a later change is.
		if _, err := s.db.ExecContext(ctx, waitStatement, realm, b.String()); err != nil {
			return lease.Record{}, s.failed(err)
		}
	}
	r, err := decode(realm, b.String(), epoch.V, hwm.V, record)
	if err != nil {
		return lease.Record{}, s.failed(err)
	}
	return r, nil
}

// CompareAndSet stores next in the place of prev.
//
// database/sql sends a statement again after driver.ErrBadConn. That is no danger: the
// driver returns it only if the connection was found closed, or not one byte of the
// statement could be written; once something has been sent, it returns another error.
func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	defer s.idle.Reset(idleTime)
	record, err := json.Marshal(next)
	if err != nil {
		return false, s.failed(err)
	}
	realm, block := prev.Realm, prev.Block.String()
	if prev.Epoch == 0 {
		_, err := s.db.ExecContext(ctx, insertStatement, realm, block, next.Epoch, next.HWM, record)
		if number(err) == numberDuplicate {
			return false, nil
		}
		if err != nil {
			return false, s.failed(err)
		}
		return true, nil
	}
	result, err := s.db.ExecContext(ctx, updateStatement, next.Epoch, next.HWM, record, realm, block, prev.Epoch, prev.HWM)
	if err != nil {
		return false, s.failed(err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, s.failed(err)
	}
	return n == 1, nil
}

// List returns the records of a realm.
func (s *Store) List(ctx context.Context, realm string) (records []lease.Record, err error) {
	defer s.idle.Reset(idleTime)
	err = s.rows(ctx, func(scan func(...any) error) error {
		var (
			block  string
			epoch  uint64
			hwm    int64
			record []byte
		)
		if err := scan(&block, &epoch, &hwm, &record); err != nil {
			return err
		}
		r, err := decode(realm, block, epoch, hwm, record)
		records = append(records, r)
		return err
	}, listStatement, realm)
	if err != nil {
		return nil, s.failed(err)
	}
	return records, nil
}

// Time returns the time of the server.
func (s *Store) Time(ctx context.Context) (time.Time, error) {
	defer s.idle.Reset(idleTime)
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
func decode(realm, block string, epoch uint64, hwm int64, record []byte) (r lease.Record, err error) {
	err = json.Unmarshal(record, &r)
	if err == nil && (r.Realm != realm || r.Block.String() != block || r.Epoch != epoch || r.HWM != hwm) {
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
	return fmt.Errorf("mysql: %s: %w", s.name, err)
}
