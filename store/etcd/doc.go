// Package etcd keeps leases in an etcd cluster.
//
//	store, err := etcd.Open(ctx, "etcd://sortid:password@e1.example.com,e2.example.com,e3.example.com")
//	...
//	defer store.Close()
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU64, NodeBits: 8})
//
// # URL
//
// etcd://USER:PASSWORD@HOST:PORT,HOST:PORT,.../PREFIX, or etcds:// for an encrypted
// connection. In user and password the characters / ? # @ % must be written as %2F %3F %23
// %40 %25. The hosts are members of one cluster; name several, so that the store works
// while one is away. The port is 2379 by default, and PREFIX, with which all keys begin,
// is sortid. With etcds there are the parameters
//
//   - ca: a file with the certificates that are trusted; by default the system's;
//   - cert and key: files with the certificate and the key of this client, where etcd
//     demands them. If it takes the user from the certificate, the URL has none.
//
// # How it works
//
// Each record is a key, /PREFIX/REALM/BLOCK, whose value is the record as JSON. In REALM
// the characters / and % are written as %2F and %25. Look at a realm by
//
//	etcdctl get --prefix /sortid/orders@
//
// CompareAndSet writes by a transaction on the condition that the key has the revision at
// which the record was read, by Get or by CompareAndSet itself. Reads are linearizable, as
// etcd's are by default. Each request is sent once; etcd's client would repeat some of
// those that got no answer, and then take for refused what it had carried out.
//
// Each change leaves an old revision behind. Have etcd compact these, as by
// --auto-compaction-retention=1h, or it uses up its quota and refuses to write.
//
// Time is that of a member, from the Date of an HTTP answer of its client port, and known
// to within a second: a process whose own clock lies in that second is not corrected. If
// HTTP has a port of its own (--listen-client-http-urls), Time fails with
// [lease.ErrNoTime], and each process goes by its own clock: keep them synchronized.
//
// # Guarantee
//
// No ID is issued twice, in crashes and failovers, as etcd answers only when a majority of
// its members have a change on their disks. That is provided that
//
//   - no cluster takes the place of another: restored from a snapshot, or made from the
//     rest of one by --force-new-cluster. If that has happened: stop all processes, call
//     [lease.Fence] (sortid lease fence URL), start them again;
//   - no member runs with --unsafe-no-fsync, which clients cannot see, and the disks have
//     stored what they say that they have;
//   - no member is of a version that can lose changes when it crashes: 3.5.0 to 3.5.4,
//     which Open refuses where it can ask the member, and, in a cluster of one, those before
//     3.4.21, which [Store.Conditions] names;
//   - nobody edits or deletes the keys.
//
// # Connections
//
// A store has one connection to each member that it has needed, for as long as it is open, and
// opens another for a moment when it reads the time. Open tries again, while etcd is away,
// until its context ends, or, if that has no deadline, for 30 seconds.
//
// # Privileges
//
// To read and write the keys that begin with /PREFIX/, which Open makes sure of:
//
//	etcdctl role grant-permission ROLE readwrite --prefix /sortid/
package etcd
