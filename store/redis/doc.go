// Package redis keeps leases in Redis, or in a server with the same protocol, such as Valkey.
//
//	store, err := redis.Open(ctx, "redis://sortid:password@redis.example.com/0")
//
// By default, Redis loses the changes of the last seconds in a crash, and more in a failover. So
// check the list of [Store.Conditions]. With the settings below, the list is empty.
//
// The URL is redis://USER:PASSWORD@HOST:PORT/DATABASE?prefix=TEXT, or rediss:// with TLS and the
// parameters ca, cert and key. All keys begin with the prefix, by default "sortid:". Package
// [github.com/sortid/sortid/store] explains what all stores share.
//
// A realm is a hash. Each record is a field with the name of the block, such as "42/8", and JSON as
// the value. CompareAndSet runs a script once. The script writes the field if it still has the
// value that was read. A replica's data may be old. So reads also run a script, one that replicas
// refuse.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - the server is a master outside a cluster, can write its append-only file, and drops no
//     records: maxmemory is 0, or maxmemory-policy does not begin with allkeys-. Otherwise Open
//     fails with [lease.ErrUnsafe];
//   - appendonly is yes, appendfsync is always, and no-appendfsync-on-rewrite is no.
//     [Store.Conditions] names settings that are different or not visible. After appendonly is
//     turned on, the server writes all data to the file. Conditions says if this has failed or
//     has not finished;
//   - the server has no replicas. Conditions names connected replicas. A replica that becomes the
//     master can lack changes: after a failover, fence all realms;
//   - nobody changes these settings.
//
// Conditions also names Valkey, KeyDB and Dragonfly, on which this store was not tested.
//
// # Privileges and connections
//
// A connection closes after it was idle for three seconds. A user needs
//
//	ACL SETUSER name ~sortid:* +eval +hget +hmget +hset +hdel +hgetall +hexists +scan +time
//		+info +config|get
//
// Without +config|get, Open cannot see the settings, and Conditions names them.
package redis
