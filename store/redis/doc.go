// Package redis keeps leases in Redis, or in a server with the same protocol, such as Valkey.
//
//	store, err := redis.Open(ctx, "redis://sortid:password@redis.example.com/0")
//
// By default Redis loses the last seconds in a crash, and more in a failover. So check
// [Store.Conditions]: with the settings below it is empty.
//
// The URL is redis://USER:PASSWORD@HOST:PORT/DATABASE?prefix=TEXT, or rediss:// with TLS. In user
// and password the characters / ? # @ % are written %2F %3F %23 %40 %25. All keys begin with the
// prefix, "sortid:" by default. With rediss, ca is a file with the trusted certificates, by
// default the system's. cert and key are files with this client's certificate and key.
//
// A realm is a hash. Each record is a field, named like the block ("42/8"), with its JSON as the
// value. CompareAndSet runs a script that writes the field if it still has the value that was
// read. Reads run a script that a replica refuses. Each change is sent once.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - the server is a master, is not part of a cluster, and drops no records when memory is
//     short: maxmemory is 0, or maxmemory-policy does not begin with allkeys-. The append-only
//     file can be written. Otherwise Open fails with [lease.ErrUnsafe];
//   - appendonly is yes, appendfsync is always, and no-appendfsync-on-rewrite is no.
//     [Store.Conditions] names settings that differ or are not shown. It also names a rewrite
//     that failed or has not finished since appendonly was turned on;
//   - the server has no replicas: one that becomes master lacks changes. Conditions names
//     replicas, too. After a failover, or a restored copy: stop all processes, call
//     [lease.Fence] (sortid lease fence URL), start them again;
//   - the disk keeps what it has synced, and nobody changes these settings after Open, or
//     edits the keys.
//
// # Privileges and connections
//
// A connection closes after three idle seconds. Open waits for a server that is away or full, for
// 30 seconds if its context has no deadline. A user needs
//
//	ACL SETUSER name ~sortid:* +eval +hget +hmget +hset +hdel +hgetall +hexists +scan +time
//		+info +config|get
//
// Without +config|get the settings cannot be seen, and Conditions names them.
package redis
