// Package etcd keeps leases in an etcd cluster.
//
//	store, err := etcd.Open(ctx, "etcd://sortid:password@e1.example.com,e2.example.com")
//
// The URL is etcd://USER:PASSWORD@HOST:PORT,HOST:PORT,.../PREFIX, or etcds:// with TLS and the
// parameters ca, cert and key. The hosts are members of one cluster. All keys begin with PREFIX, by
// default sortid. If etcd takes the user from the certificate, the URL must have no user. Package
// [github.com/sortid/sortid/store] explains what all stores share.
//
// Each record is a key, /PREFIX/REALM/BLOCK, with JSON as the value. CompareAndSet sends one
// transaction once. The transaction requires that the key still has the revision that was read.
// Reads are linearizable: they return the latest change. Let etcd compact old revisions, as with
// --auto-compaction-retention=1h. Otherwise etcd reaches its quota, and refuses changes.
//
// The time comes from a member: it is the Date of an HTTP answer, exact to a second. If HTTP has a
// separate port (--listen-client-http-urls), Time fails with [lease.ErrNoTime]. Then each process
// uses its own clock, and you must keep the clocks synchronized.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - nobody restores the cluster from a snapshot, or starts it with --force-new-cluster. If this
//     has happened, fence all realms;
//   - no member runs with --unsafe-no-fsync. Clients cannot see this flag;
//   - no member has a version that can lose changes in a crash. Open refuses 3.5.0 to 3.5.4.
//     [Store.Conditions] names versions before 3.4.21, which can lose changes in a cluster of one
//     member.
//
// # Privileges and connections
//
// A store keeps one connection to each member that it has used, and briefly opens another one to
// read the time. Open checks that the user may read and write. To grant this, run
//
//	etcdctl role grant-permission ROLE readwrite --prefix /sortid/
package etcd
