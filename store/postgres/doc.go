// Package postgres keeps leases in a table of a PostgreSQL database.
//
//	store, err := postgres.Open(ctx, "postgres://sortid:password@db.example.com/app")
//	...
//	defer store.Close()
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU64, NodeBits: 8})
//
// # URL
//
// postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETER=VALUE&..., or postgresql://. In
// user and password the characters : / ? # @ % must be written as %3A %2F %3F %23 %40 %25.
// What is left out comes from the environment variables that psql knows (PGHOST, PGUSER,
// PGPASSWORD, ...), and the password from ~/.pgpass. There are
//
//   - the parameters of psql: sslmode, sslrootcert, sslcert, sslkey, connect_timeout,
//     application_name, ...; several hosts (host1:5432,host2:5432) together with
//     target_session_attrs=read-write;
//   - settings of the server, of which search_path says in which schema the table is;
//   - pool_max_conns, 2 by default; pool_max_conn_idle_time, 1s; and the others of pgx.
//
// # How it works
//
// All is in one table, sortid_lease, with one row for each record: the key, realm and
// block ("42/8"), compared byte by byte; the two columns that are compared, revision and hwm;
// and the record itself as JSON, for instance
//
//	SELECT block, record->>'name', record->>'deadline' FROM sortid_lease
//
// Open makes the table if there is none. CompareAndSet is one statement,
//
//	UPDATE sortid_lease SET ... WHERE realm = $1 AND block = $2 AND revision = $3 AND hwm = $4
//
// or, for a first record, INSERT ... ON CONFLICT DO NOTHING, in a transaction of the level
// READ COMMITTED with synchronous_commit on, whatever the defaults of the server are. A
// transaction is sent in one piece, from BEGIN to COMMIT, so that a process that is
// stopped holds no lock. Several changes are one statement, in which each waits for the one
// before it. Nothing is ever sent twice.
//
// Where there is synchronous replication, a change that a standby has not confirmed can
// become visible: when the client that waits for it is gone. So Get, too, waits until the
// standbys have all that it has seen. GetMany does without, and is a SELECT by itself: the
// changes that are made after it come later in the log.
//
// Time is the server's clock_timestamp().
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - fsync and full_page_writes are on, and the table is not UNLOGGED. That is checked by
//     Open, which else fails with [lease.ErrUnsafe];
//   - the server is the primary. A standby is refused, by Open and by each call but Time;
//   - no standby that lacks commits becomes the primary. Only synchronous replication can
//     rule that out; where standbys replicate without it, [Store.Conditions] says so. After
//     such a failover, as after restoring a backup: stop all processes, call [lease.Fence]
//     (sortid lease fence URL), start them again. There must not be two primaries;
//   - the disk has stored what it says that it has, and nobody changes fsync or
//     full_page_writes while the server runs, cancels a COMMIT that waits for a standby
//     (pg_cancel_backend), or edits the table.
//
// # Privileges
//
// SELECT, INSERT and UPDATE on the table. Open needs CREATE on the schema only if the table
// does not exist; an administrator can make it instead, by the statement [Schema].
//
// # Connections
//
// There are at most two at a time. They are closed when a lease has been acquired or
// renewed, and when they have been idle for a second. A lease needs one about twice a
// minute, for some milliseconds. If the server has none to spare, calls wait for one until
// their contexts end: a thousand processes can start together on the 100 connections that
// a server allows by default. Open also waits for a server that is away, for 30 seconds if
// its context has no deadline.
//
// Poolers such as PgBouncer may stand in between, if they keep to transactions: no
// prepared statements or settings of the session are used, but for search_path if the URL
// has it; set it for the role instead. The conditions that Open checks are those of the
// server behind.
package postgres
