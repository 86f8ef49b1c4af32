// Package bolt keeps leases in one bbolt file, for all processes of one machine: no
// server is needed.
//
//	store, err := bolt.Open(ctx, "bolt:sortid.db")
//	...
//	defer store.Close()
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU64, NodeBits: 8})
//
// # URL
//
// bolt:PATH, with a relative or an absolute path, or bolt:///PATH with an absolute one.
// The path is taken as it stands: nothing in it is decoded, there are no parameters, and
// a question mark is refused. Open makes the file if there is none; the folder must exist.
//
// # How it works
//
// bbolt locks the whole file for as long as a process has it open, so the file is opened
// for each call, and closed again. A read locks it against writers only. A call waits for
// its turn until its context ends. Its error then names, on Linux, the process that had the
// file locked.
//
// The bucket "leases" holds each record as JSON under the key "realm/node ID/size", as in
// "orders@0123456789abcdef/42/8". CompareAndSet is one write transaction, which reads the
// record, compares, writes, and ends with a sync of the file to the disk. The first change
// of a Store also syncs the folder, so that the file's name lasts, too.
//
// Time is that of this machine.
//
// # Guarantee
//
// On one machine no ID is issued twice, provided that
//
//   - the file is on a disk of this machine. A network file system locks or caches
//     differently and is refused with [lease.ErrUnsafe], on Linux, macOS, FreeBSD and
//     Windows; what may be one is named by [Store.Conditions], as is a file system that
//     does not outlast a restart of the machine or the end of a container;
//   - the disk has stored what it says that it has;
//   - nobody deletes the file or puts another one, such as a backup, in its place. If that
//     has happened: stop all processes, call [lease.Fence] (sortid lease fence URL), start
//     them again. A Store does not make a file anew that it has had, and its calls fail; but
//     a process that starts then makes a new one, in which nothing is known of the old
//     grants. [OpenExisting] does not.
//
// A damaged file is an error, as far as it can be noticed: bbolt's pages have no checksums.
//
// # Privileges
//
// All processes must be able to read and write the file, and to read its folder. A new
// file can be read and written by its owner alone. Get and List need no right to write.
package bolt
