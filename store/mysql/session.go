package mysql

import (
	"context"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/sortid/sortid/store/internal/connect"
)

// A connector makes connections whose sessions are set up for the store, whatever the
// defaults of the server or the parameters of the URL are.
type connector struct {
	driver.Connector
	address string
	setup   []string
}

var session = []string{
	// Not SERIALIZABLE, with which a read locks, nor one with which it sees what is not
	// committed. READ COMMITTED would do, but not with a binary log of statements.
	"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE",
	"SET NAMES utf8mb4, SESSION autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
}

// galera is for sessions on a node of a Galera cluster: statements of all kinds wait until
// the node has what the others have committed, and fail if it is cut off from them.
var galera = []string{"SET SESSION wsrep_sync_wait = 7, wsrep_dirty_reads = OFF"}

func newConnector(config *mysql.Config, setup []string) (*connector, error) {
	config = config.Clone()
	config.ClientFoundRows = true   // rows that match count, even if they stay as they are
	config.InterpolateParams = true // one request for each statement, not two
	if config.DialFunc == nil && config.Net == "tcp" {
		config.DialFunc = connect.Dial
	}
	c, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return &connector{c, config.Addr, setup}, nil
}

// Connect returns a connection that is set up. If the server has none to spare, it waits
// for one.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.connect(ctx)
	if !busy(err) {
		return conn, err
	}
	return connect.Retry(ctx, c.address, func(ctx context.Context) (driver.Conn, error) {
		conn, err := c.connect(ctx)
		if busy(err) {
			err = connect.Busy(err, busyPause)
		}
		return conn, err
	})
}

// busyPause is short: a refusal costs the server little.
const busyPause = 300 * time.Millisecond

// busy reports whether a server has refused a connection because it has too many.
func busy(err error) bool {
	return slices.Contains([]uint16{numberTooManyConnections, numberTooManyOfUser, numberLimitOfUser}, number(err))
}

func (c *connector) connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, statement := range c.setup {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, statement, nil); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return conn, nil
}
