// Package bolt keeps leases in one bbolt file, for all processes of one machine, without a server.
//
//	store, err := bolt.Open(ctx, "bolt:sortid.db")
//
// # URL
//
// bolt:PATH, with a relative or an absolute path, or bolt:///PATH with an absolute one. The path
// is not decoded, there are no parameters, and a question mark is refused. Open makes the file if
// there is none; the folder must exist.
//
// # How it works
//
// bbolt locks the whole file as long as a process has it open. So each call opens the file and
// closes it again. A read locks out writers only. A call waits until its context ends. On Linux,
// the error then names the process that held the lock.
//
// The bucket "leases" holds each record as JSON under the key "realm/node ID/size", such as
// "orders@0123456789abcdef/42/8". CompareAndSet is one write transaction. It reads the record,
// compares, writes, and ends with a sync of the file to the disk. The first change of a Store also
// syncs the folder, so that the file's name is on the disk too.
//
// Time is this machine's time.
//
// # Guarantee
//
// On one machine no ID is issued twice, provided that
//
//   - the file is on a disk of this machine. A network file system locks or caches
//     differently. On Linux, macOS, FreeBSD and Windows it is refused with
//     [lease.ErrUnsafe]. [Store.Conditions] names a file system that may be one, or that
//     does not survive a restart of the machine or the end of a container;
//   - the disk has stored what it reports as stored;
//   - nobody deletes the file or replaces it, for example with a backup. If that has
//     happened: stop all processes, call [lease.Fence] (sortid lease fence URL), start them
//     again. A Store does not recreate a file that it has used: its calls fail. But a new
//     process makes a new file, which knows nothing of the old grants. [OpenExisting] does
//     not.
//
// A damaged file is an error if the damage can be noticed: bbolt's pages have no checksums.
//
// # Privileges
//
// All processes must be able to read and write the file, and to read its folder. Only its owner
// can read and write a new file. Get and List need no write permission.
package bolt
