// Package redis keeps leases in Redis, or in what speaks its protocol, such as Valkey.
//
//	store, err := redis.Open(ctx, "redis://sortid:password@redis.example.com/0")
//	...
//	defer store.Close()
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU64, NodeBits: 8})
//
// By default Redis forgets the last seconds in a crash, and more in a failover. So look at
// [Store.Conditions]: with the settings below it is empty.
//
// # URL
//
// redis://USER:PASSWORD@HOST:PORT/DATABASE?prefix=TEXT, or rediss:// for an encrypted
// connection. In user and password the characters / ? # @ % must be written as %2F %3F %23
// %40 %25. The port is 6379 by default, the database 0, and the prefix, with which all
// keys begin, "sortid:". With rediss there are the parameters
//
//   - ca: a file with the certificates that are trusted; by default the system's;
//   - cert and key: files with the certificate and the key of this client, where the
//     server demands them.
//
// # How it works
//
// A realm is a hash. In it each record is a field, whose name is the block ("42/8") and
// whose value is the record as JSON. Look at a realm by
//
//	HGETALL sortid:orders
//	HGETALL sortid:orders@5b0c1e7f90a2d4c3
//
// CompareAndSet runs a script that writes the field if it still has the value that was
// read, by Get or by CompareAndSet itself. Redis runs one script at a time. Records
// are read by a script, too, of a kind that a replica refuses to run: a server that was
// made a replica in the meantime answers with an error, and not with what it happens to
// have. Each request is sent once.
//
// Time is the server's (TIME).
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - the server is a master and not part of a cluster, and drops no records when memory
//     is short: maxmemory is 0, or maxmemory-policy does not begin with allkeys-. Open
//     fails with [lease.ErrUnsafe] otherwise;
//   - appendonly is yes, appendfsync is always, and no-appendfsync-on-rewrite is no, so
//     that what was answered is on the disk. What is missing is named by
//     [Store.Conditions], as is that the server does not show it;
//   - the append-only file can be written, which Open makes sure of, and has been rewritten
//     as a whole since appendonly was turned on: a rewrite that failed, or is not finished,
//     is named;
//   - the server has no replicas. Redis answers before these have a change, so that one
//     that becomes master has forgotten something. They are named, too. After a failover,
//     as after restoring a copy: stop all processes, call [lease.Fence] (sortid lease
//     fence URL), start them again;
//   - none of that is changed after Open, the server keeps its settings when it is started
//     again, the disk has stored what it says that it has, and nobody edits the keys.
//
// # Connections
//
// A connection is closed when it has been idle for three seconds. A lease needs one about
// twice a minute, for some milliseconds, so that many more processes than the server's
// maxclients (10,000 by default) can hold node IDs. Open tries again, while the server is
// away or has no connection to spare, until its context ends, or, if that has no deadline, for 30 seconds.
//
// # Privileges
//
// Open finds out whether the user may read. All that is needed is
//
//	ACL SETUSER name ~sortid:* +eval +hget +hmget +hset +hdel +hgetall +hexists +scan +time +info +config|get
//
// Without +config|get the settings cannot be seen, and are named as conditions.
package redis
