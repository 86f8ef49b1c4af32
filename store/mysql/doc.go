// Package mysql keeps leases in a table of a MariaDB or MySQL database.
//
//	store, err := mysql.Open(ctx, "mysql://sortid:password@db.example.com/app")
//	...
//	defer store.Close()
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU64, NodeBits: 8})
//
// # URL
//
// mysql://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETER=VALUE&..., or mariadb://. In user and
// password the characters : / ? # @ % must be written as %3A %2F %3F %23 %40 %25. Without a
// host it is 127.0.0.1, without a port 3306. The parameters are
//
//   - socket, the path of a Unix socket to be used instead of host and port;
//   - those of github.com/go-sql-driver/mysql, of which some use are tls (true,
//     skip-verify, preferred; without it nothing is encrypted) and timeout (10s). What it
//     does not know is taken for a variable of the session; those that the store itself
//     needs it sets after that.
//
// # How it works
//
// All is in one table, sortid_lease, with one row for each record: the key, realm and
// block ("42/8"), compared byte by byte; the two columns that are compared, revision and hwm;
// the record itself as JSON; and a number that each Get counts up. For instance
//
//	SELECT JSON_VALUE(record, '$.block'), JSON_VALUE(record, '$.name') FROM sortid_lease
//
// Open makes the table if there is none. CompareAndSet is one statement,
//
//	UPDATE sortid_lease SET ... WHERE realm = ? AND block = ? AND revision = ? AND hwm = ?
//
// or, for a first record, an INSERT that finds the key taken. Each statement is a
// transaction of its own, so that a process that is stopped holds no lock. None that may
// have been carried out is sent again. A deadlock, or a conflict between nodes of a Galera
// cluster, is an error, and nothing has changed.
//
// InnoDB shows a change to others a little before it is on the disk; on a slow disk, long
// before. So Get, after it has read a record, makes a change of its own, whose commit waits
// until the log, and with it all that Get has seen, is on the disk. GetMany does without:
// the changes that are made after it come later in the log. On a Galera cluster Get does
// without, too, for there other nodes have the change; it waits until its node has all
// changes of others (wsrep_sync_wait).
//
// Time is the server's UTC_TIMESTAMP(6).
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - innodb_flush_log_at_trx_commit is 1, sync_binlog is 1 if there is a binary log
//     (a change that is missing there is undone after a crash), innodb_flush_method does sync,
//     MySQL's redo log has not been disabled, and the table is of the engine InnoDB. That
//     is checked by Open, which else fails with [lease.ErrUnsafe];
//   - the server is no replica. One that is read_only is refused, by Open and by Get;
//   - no proxy stands between that sends reads to replicas (MaxScale's readwritesplit,
//     ProxySQL's query rules, MySQL Router's read-write splitting): a Get would be answered
//     with an old record. Such a proxy cannot be seen; connect to the primary itself, or
//     through a port of the proxy that sends everything there;
//   - no replica that lacks changes is put in its place. MySQL's replication does not rule
//     that out; where replicas can be seen, [Store.Conditions] says so. After such a
//     failover, as after restoring a backup: stop all processes, call [lease.Fence]
//     (sortid lease fence URL), start them again. There must not be two primaries;
//   - without innodb_doublewrite, the file system writes a page as a whole or not at all; a
//     Galera cluster that was down as a whole is started from its latest node; Group
//     Replication has a group_replication_consistency of BEFORE_ON_PRIMARY_FAILOVER or
//     more. [Store.Conditions] names what applies;
//   - the disk has stored what it says that it has, and nobody changes these settings while
//     the server runs, or edits the table.
//
// # Privileges
//
// SELECT, INSERT and UPDATE on the table. Open needs CREATE only if the table does not
// exist; an administrator can make it instead, by the statement [Schema]. With PROCESS,
// Open sees MySQL's replicas; those of MariaDB it sees without.
//
// # Connections
//
// There are at most two at a time. They are closed when a lease has been acquired or
// renewed, and when they have been idle for a second. A lease needs one about twice a
// minute, for some milliseconds. If the server has none to spare, calls wait for one until
// their contexts end. Open also waits for a server that is away, for 30 seconds if its
// context has no deadline.
package mysql
