// Package mysql keeps leases in a table of a MariaDB or MySQL database.
//
//	store, err := mysql.Open(ctx, "mysql://sortid:password@db.example.com/app")
//
// The URL is mysql://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETER=VALUE&..., or mariadb://. The
// parameter socket is the path of a Unix socket. The parameters of github.com/go-sql-driver/mysql
// also work, such as timeout and tls (true, skip-verify, preferred). Without tls, nothing is
// encrypted. Package [github.com/sortid/sortid/store] explains what all stores share.
//
// Each record is a row of the table sortid_lease, which Open or an administrator makes with
// [Schema]. [OpenExisting] makes no table.
//
// CompareAndSet is one statement, UPDATE ... WHERE revision = ? AND hwm = ?, or an INSERT. The store
// never repeats this statement if the server may have executed it. InnoDB shows a change before it
// is on the disk. So Get also commits a small change of its own, and so does CompareAndSet before it
// refuses a change. When this commit returns, both changes are on the disk. On a Galera cluster, all
// calls wait for the changes of other nodes instead.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - innodb_flush_log_at_trx_commit is 1, sync_binlog is 1 if there is a binary log,
//     innodb_flush_method is a method that syncs, the redo log is on, and the engine is InnoDB.
//     Otherwise Open fails with [lease.ErrUnsafe];
//   - the server is not a replica. Open and Get refuse a server that is read_only;
//   - no proxy sends reads to replicas, as MaxScale's readwritesplit, ProxySQL's query rules and
//     MySQL Router's read-write splitting do. Open cannot detect this;
//   - if a replica becomes the primary, it has all changes, and the old primary has stopped. After
//     any other failover, fence all realms. [Store.Conditions] counts the replicas that Open sees;
//   - if innodb_doublewrite is off, the file system writes whole pages;
//   - a Galera cluster is started from the node with the latest state;
//   - in Group Replication, group_replication_consistency is not EVENTUAL;
//   - nobody changes these settings.
//
// The tests of this store run on MariaDB. Conditions names another server, such as MySQL or Percona
// Server, as not tested. Open refuses TiDB, which does not show how safe its changes are.
//
// Conditions says if innodb_doublewrite is off, if Galera is on, or if Group Replication uses
// EVENTUAL.
//
// # Privileges and connections
//
// A user needs SELECT, INSERT and UPDATE on the table, and CREATE if the table does not exist.
// With the privilege PROCESS, Open sees MySQL's replicas. A store has at most two connections, and
// closes them soon after use. If the server has no free connection, calls wait until their contexts
// end.
package mysql
