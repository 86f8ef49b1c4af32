package mysql

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/sortid/sortid/store/internal/connect"
)

// A connector makes connections with the store's session settings, not the server's defaults.
type connector struct {
	driver.Connector
	address string
	setup   []string
	limit   connect.Limit
}

var session = []string{
	// With SERIALIZABLE, reads lock rows. READ COMMITTED fails with a statement-based binary log.
	"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE",
	"SET NAMES utf8mb4, SESSION autocommit = 1, " +
		"sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
}

// The settings in galera make statements wait until the node has what other nodes have committed.
// If the node is cut off, statements fail.
var galera = []string{"SET SESSION wsrep_sync_wait = 7, wsrep_dirty_reads = OFF"}

func newConnector(config *mysql.Config, setup []string) (*connector, error) {
	config = config.Clone()
	config.ClientFoundRows = true   // count matching rows, even if they do not change
	config.InterpolateParams = true // one request for each statement, not two
	if config.DialFunc == nil && config.Net == "tcp" {
		config.DialFunc = connect.Dial
	}
	c, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return &connector{Connector: c, address: config.Addr, setup: setup}, nil
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	return connect.Connect(ctx, c.address, c.connect)
}

// A refused connection costs the server little, so the pause after it is short.
const busyPause = 250 * time.Millisecond

func (c *connector) connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*c.limit.Next()) // connect sends several requests
	defer cancel()
	conn, err := c.Connector.Connect(ctx)
	switch number(err) {
	case numberTooManyConnections, numberTooManyOfUser, numberLimitOfUser:
		err = connect.Busy(err, busyPause)
	}
	if err != nil {
		return nil, err
	}
	for _, statement := range c.setup {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, statement, nil); err != nil {
			conn.Close()
			return nil, err
		}
	}
	c.limit.Connected()
	return conn, nil
}
