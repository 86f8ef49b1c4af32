// Package etcd keeps leases in etcd: a [lease.Store] for everybody who has an etcd
// cluster anyway.
//
// # URL
//
//	etcd://[user:password@]host[:2379][,host[:2379]...][/prefix][?ca=file&cert=file&key=file]
//	etcds://...
//
// The hosts are members of one cluster; name several, so that the store works while one
// is away. The prefix is that of all keys, by default "sortid". With etcds the connection
// is encrypted: ca is a file with the certificates that are trusted (by default those of
// the system), cert and key are those of this client, where etcd demands one; a user then
// is the common name of cert, and stays out of the URL.
//
// # What is stored
//
// A record is the JSON form of [lease.Record] at a key of its own, for example
//
//	/sortid/orders                     + /0/0     the realm itself
//	/sortid/orders@5b0c1e7f90a2d4c3    + /42/8    a node ID
//
// In a realm's name, / is written %2F and % is written %25. Look at a realm with
// "etcdctl get --prefix /sortid/orders@". A user needs to read and write the prefix:
// "etcdctl role grant-permission ROLE readwrite --prefix /sortid/". Each change leaves an
// old revision behind, as all changes in etcd do: have etcd compact them
// (--auto-compaction-retention=1h), or its quota fills up.
//
// # Guarantee
//
// A change is a transaction that writes the key if its revision still is that of the
// record that was read and compared; reads are linearizable, which is etcd's default.
// etcd answers when a majority has the change on its disks. So what leases rest on holds
// as long as etcd itself keeps its promises, in crashes and failovers, and [Store.Conditions]
// names nothing. They are broken by three things that no client can see:
//
//   - A cluster restored from a snapshot, or forced to go on without its majority
//     (--force-new-cluster). Before any process can reach it, fence its realms:
//     "sortid lease fence URL", or [lease.Fence].
//   - A member that runs with --unsafe-no-fsync.
//   - A key that is deleted by hand. Leases that run notice ([lease.ErrForgotten]); fence
//     the realm then, too.
//
// Each request is sent once, and what was sent and not answered is an error: etcd's client
// would repeat some, and then report as refused what it had itself carried out.
//
// etcd has no clock for its clients, so [Store.Time] fails with [lease.ErrNoTime] and each
// process goes by its own. A process whose clock is ahead of the others' by more than the
// realm's lead then is found out only by the node IDs that it leaves behind: they are not
// granted before that time ([lease.ErrLead]). Have all clocks synchronized.
package etcd
