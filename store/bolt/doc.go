// Package bolt keeps leases in one bbolt file, for all processes of one machine, without a server.
//
//	store, err := bolt.Open(ctx, "bolt:sortid.db")
//
// The URL is bolt:PATH, or bolt:///PATH with an absolute path. In PATH, %20 is not decoded, and
// a question mark is not allowed. If the file is missing, Open makes it, but the folder must exist.
// To lease node IDs, a process must be able to read and write the file, and to read its folder.
// Only the owner can read and write a new file. Get and List need no write permission.
//
// bbolt locks the whole file while a process has it open. So each call opens the file, waits for
// the lock, and closes the file again. If the context ends while a call waits, the error on Linux
// names the process that has the lock.
//
// The bucket "leases" has each record as JSON under the key "realm/node ID/size", such as
// "orders@0123456789abcdef/42/8". CompareAndSet is one write transaction, which bbolt syncs to the
// disk. Time returns this machine's time.
//
// # Guarantee
//
// On one machine no ID is issued twice, provided that
//
//   - the file is on a disk of this machine, not on a network file system. On Linux, macOS, FreeBSD
//     and Windows, Open refuses a network file system with [lease.ErrUnsafe]. [Store.Conditions]
//     names a file system that may be on a network, or that a restart empties;
//   - the disk really keeps the data that it reports as stored;
//   - nobody deletes the file or replaces it, for example with a backup. If this has happened,
//     fence all realms, as package [github.com/sortid/sortid/store] describes. If the file of a
//     Store is gone, the Store's calls fail. But if a new process calls Open, it makes a new file.
//     [OpenExisting] does not.
//
// If bbolt finds damage in the file, calls fail. But bbolt's pages have no checksums, so bbolt does
// not find all damage.
package bolt
