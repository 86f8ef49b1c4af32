// Package postgres keeps leases in a table of a PostgreSQL database.
//
//	store, err := postgres.Open(ctx, "postgres://sortid:password@db.example.com/app")
//
// The URL is postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETER=VALUE&..., or postgresql://.
// Missing parts come from PGHOST, PGUSER, PGPASSWORD, ... and ~/.pgpass. The parameters of psql and
// pgx work, such as pool_max_conns (2 by default) and pool_max_conn_idle_time (1s). Settings of the
// server also work, such as search_path. A URL with several hosts needs
// target_session_attrs=read-write. Package [github.com/sortid/sortid/store] explains what all
// stores share.
//
// Each record is a row of the table sortid_lease, which Open or an administrator makes with
// [Schema]. [OpenExisting] makes no table.
//
// CompareAndSet is one statement, UPDATE ... WHERE revision = $6 AND hwm = $7, or INSERT ... ON
// CONFLICT DO NOTHING. It runs at READ COMMITTED with synchronous_commit on. The store sends
// a transaction once and in one piece, so a stopped process holds no locks. With synchronous
// replication, Get waits until the standbys have the record that it returns.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - fsync and full_page_writes are on, and the table is not UNLOGGED. Otherwise Open fails with
//     [lease.ErrUnsafe]. Some managed servers turn these settings off, because their storage does
//     the work. With durable=storage in the URL, you guarantee that it does, and
//     [Store.Conditions] says so. Function New has no such parameter;
//   - the server is the primary. Open and each call except Time refuse a standby;
//   - if a standby becomes the primary, it has all commits, and the old primary has stopped. After
//     any other failover, fence all realms. [Store.Conditions] names asynchronous standbys;
//   - nobody changes these settings, or cancels a COMMIT that waits for a standby (with
//     pg_cancel_backend).
//
// Conditions names a server that adds something else to PostgreSQL's version() as not tested. Open
// refuses CockroachDB and YugabyteDB.
//
// # Privileges and connections
//
// A user needs SELECT, INSERT and UPDATE on the table, and CREATE on the schema if the table does
// not exist. A store has at most two connections, and closes them soon after use. If the server has
// no free connection, calls wait until their contexts end. Poolers such as PgBouncer can be in
// transaction mode: the store uses no prepared statements, and no session settings except the
// search_path.
package postgres
