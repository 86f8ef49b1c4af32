package mysql

import (
	"context"
	"database/sql/driver"

	"github.com/go-sql-driver/mysql"
)

// A connector makes connections whose sessions are set up for the store, whatever the
// defaults of the server or the parameters of the URL are.
type connector struct {
	driver.Connector
	setup []string
}

var session = []string{
	"SET NAMES utf8mb4",
	// Not SERIALIZABLE, with which a read locks, nor one with which it sees what is not
	// committed. READ COMMITTED would do, but not with a binary log of statements.
	"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE",
	"SET SESSION autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
}

// galera is for sessions on a node of a Galera cluster: statements of all kinds wait until
// the node has what the others have committed, and fail if it is cut off from them.
var galera = []string{"SET SESSION wsrep_sync_wait = 7, wsrep_dirty_reads = OFF"}

func newConnector(config *mysql.Config, setup []string) (*connector, error) {
	config = config.Clone()
	config.ClientFoundRows = true // rows that match count, even if they stay as they are
	c, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return &connector{c, setup}, nil
}

// Connect returns a connection that is set up.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
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
