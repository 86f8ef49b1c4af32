// Package redis keeps leases in Redis, or what speaks its protocol, such as Valkey: a
// [lease.Store] whose guarantee depends on the server's settings. By default Redis may
// forget the last seconds, or everything, and a replica that takes over lacks what had
// not reached it. [Store.Conditions] says what this server's settings leave open.
//
// # URL
//
//	redis://[[user]:password@]host[:6379][/db][?prefix=text]
//	rediss://...[?prefix=text&ca=file&cert=file&key=file]
//
// The prefix is that of all keys, by default "sortid:". With rediss the connection is
// encrypted: ca is a file with the certificates that are trusted (by default those of the
// system), cert and key are those of this client, where the server demands one.
//
// # What is stored
//
// A realm is a hash, and a record a field of it, whose name is the block and whose value
// the JSON form of [lease.Record]:
//
//	sortid:orders                     0/0     the realm itself
//	sortid:orders@5b0c1e7f90a2d4c3    42/8    a node ID
//
// Look at one with "HGETALL sortid:orders@5b0c1e7f90a2d4c3". A user needs
//
//	ACL SETUSER name ~sortid:* +eval +hget +hset +hdel +hgetall +time +info +config|get
//
// where without the last the settings cannot be seen, and are named as conditions.
//
// # Guarantee
//
// A change is one script, which sets the field if its value still is the one that was
// read and compared. Redis runs one script at a time, so that it is atomic. It is done
// with no other change in between and answered when it is on the disk, and so never
// forgotten, if
//
//   - appendonly is yes, appendfsync is always, and no-appendfsync-on-rewrite is no;
//   - the server is one node, without replicas;
//   - maxmemory is 0, or maxmemory-policy is not one of the allkeys-* ones.
//
// Without the third, or in a cluster, or on a replica, the store is refused with
// [lease.ErrUnsafe]; without the first or the second it serves, and says so. All this is
// looked at when the store is opened; do not change it afterwards. Sentinel is a set of
// replicas. After a failover, or after the server has been restored from a copy or started
// without its files, fence the realms before any process can reach it: "sortid lease fence
// URL", or [lease.Fence].
//
// Records are read by a script, too, one that a replica refuses, so that a server that was
// made a replica meanwhile answers with an error and not with what it happens to have.
//
// Each request is sent once, and what was sent and not answered is an error.
//
// [Store.Time] is the server's clock (TIME).
package redis
