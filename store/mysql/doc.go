// Package mysql keeps leases in a table of a MariaDB or MySQL database.
//
//	store, err := mysql.Open(ctx, "mysql://sortid:password@db.example.com/app")
//
// The URL is mysql://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETER=VALUE&..., or mariadb://. The
// parameter socket is the path of a Unix socket. The parameters of github.com/go-sql-driver/mysql
// work too, such as timeout and tls (true, skip-verify, preferred). Without tls nothing is
// encrypted. Package [github.com/sortid/sortid/store] explains what all stores have in common.
//
// Each record is a row of the table sortid_lease, which Open makes, or an administrator with
// [Schema]. CompareAndSet is one statement, UPDATE ... WHERE revision = ? AND hwm = ?, or an
// INSERT. A statement that may have been carried out is never sent again. InnoDB shows a change
// before it is on the disk. So Get makes a change of its own, and its commit waits for the log. On
// a Galera cluster Get and GetMany wait for the changes of other nodes instead.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - innodb_flush_log_at_trx_commit is 1, sync_binlog is 1 if there is a binary log,
//     innodb_flush_method does sync, the redo log is on, and the engine is InnoDB. Otherwise Open
//     fails with [lease.ErrUnsafe];
//   - the server is not a replica. Open and Get refuse a server that is read_only;
//   - no proxy sends reads to replicas, such as MaxScale's readwritesplit, ProxySQL's query rules
//     or MySQL Router's read-write splitting. Open cannot detect this;
//   - no replica that lacks changes becomes the primary, beside another or alone.
//     [Store.Conditions] names visible replicas. After such a failover, or a restored backup, fence
//     all realms;
//   - without innodb_doublewrite, the file system writes whole pages; a Galera cluster is started
//     from its latest node; Group Replication uses at least BEFORE_ON_PRIMARY_FAILOVER. Conditions
//     names what applies;
//   - the disk keeps what it has synced, and nobody changes these settings or the table.
//
// # Privileges and connections
//
// SELECT, INSERT and UPDATE on the table, and CREATE if it does not exist. With PROCESS, Open sees
// MySQL's replicas. There are at most two connections, closed soon after a lease was acquired or
// renewed. If the server has no connection to spare, calls wait until their contexts end.
package mysql
