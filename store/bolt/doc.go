// Package bolt keeps leases in one bbolt file, for all processes of one machine, without a server.
//
//	store, err := bolt.Open(ctx, "bolt:sortid.db")
//
// The URL is bolt:PATH, or bolt:///PATH with an absolute path. The path is not decoded, and a
// question mark is refused. Open makes the file if there is none; the folder must exist. All
// processes must be able to read and write the file, and to read its folder. Only its owner can
// read and write a new file. Get and List need no write permission.
//
// bbolt locks the whole file as long as a process has it open. So each call opens the file, waits
// for the lock until its context ends, and closes it again. On Linux, the error then names the
// process that has the lock.
//
// The bucket "leases" holds each record as JSON under the key "realm/node ID/size", such as
// "orders@0123456789abcdef/42/8". CompareAndSet is one write transaction, synced to the disk. Time
// is this machine's.
//
// # Guarantee
//
// On one machine no ID is issued twice, provided that
//
//   - the file is on a disk of this machine, not on a network file system. On Linux, macOS, FreeBSD
//     and Windows that is refused with [lease.ErrUnsafe]. [Store.Conditions] names a file system
//     that may be one, or that a restart of the machine or container empties;
//   - the disk has stored what it reports as stored;
//   - nobody deletes the file or replaces it, for example with a backup. If that has happened,
//     fence all realms, as package [github.com/sortid/sortid/store] says. The calls of a Store fail
//     if its file is gone. But a new process makes a new file, unless it calls [OpenExisting].
//
// A damaged file is an error if the damage can be noticed: bbolt's pages have no checksums.
package bolt
