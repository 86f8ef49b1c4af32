// Package lease hands out node IDs from a shared store, for a time, in such a way that no
// ID is ever issued twice: whatever clocks do, however long a process is stopped, whatever
// messages are lost.
//
//	store := lease.NewMemory() // or one on a server
//	l, err := lease.Acquire(ctx, store, lease.Config{
//		Realm: "orders", Format: lease.SCRU64, NodeIDSize: 8,
//	})
//	...
//	defer l.Close(context.Background())
//	g, err := scru64.NewGenerator(scru64.NodeSpec{}, scru64.WithLease(l))
//
// A generator on a lease takes its node ID and its ticks from [Lease.Window], which hands
// out each tick once. The packages scru64, scru160 and uid60 have the option WithLease.
// The module github.com/sortid/sortid/service has stores on servers and in a file.
//
// # Why it is safe
//
// A lease is not "node 42 for a minute" but "node 42, ticks 1000 up to 1234": a grant. IDs
// carry their tick, so two IDs with one node ID differ if their ticks do. The fence is in
// the ID itself, not in anybody's sense of time.
//
//   - For each node ID the store keeps a high-water mark, the first tick never granted.
//     A grant starts at the mark or above it and moves it to its own end, in one atomic
//     compare-and-set. So no tick of a node ID is in two grants.
//   - A process uses ticks of its grants only, and each tick once, in rising order. It
//     claims a tick before it makes IDs of it. A process that was stopped, for however
//     long, finds its ticks spent, and fails; a thread that was stopped after its claim
//     makes an ID of its own tick.
//   - What was not answered counts as not granted. If the request is made again, the very
//     same, and has been carried out, then the record in the store shows it: it is still
//     word for word the one asked for, by an owner that is this lease alone, so nobody
//     has been granted anything since, and its ticks were not used.
//   - A lease that is closed gives back ticks, so the mark goes down. That is done by its
//     owner, after its generators have been stopped for good, to the tick after the last
//     one claimed; and the record's epoch goes up, as with each change, so that nothing
//     that was decided before can still be carried out.
//
// Neither clocks nor deadlines occur in this. Clocks decide where a grant starts, and
// deadlines when a node ID is offered to somebody else. If they are wrong, then node IDs
// are lost, unused or refused, and never used twice.
//
// # Node IDs of different sizes
//
// No leased node ID is the beginning of another. The realm is divided in halves again and
// again, and a block is whole only while the block around it is split, and everything
// within it is retired. Each change is that of one record, so that any compare-and-set
// will do:
//
//   - To divide a block it is set to split, if nobody holds it. Then its halves may be made
//     whole, with at least its mark. Whoever does that has read the half first, and then,
//     that its parent is split.
//   - To make a block whole again it is set to merging; then both halves are retired, if
//     nobody holds them, by a write even where they are retired already; then the block
//     is set to whole, with the highest of the three marks.
//
// So if somebody makes a half whole on the ground of a parent that meanwhile is merging,
// either the merge finds the half in use, and gives up, or its write to the half came in
// between, and that one fails. A crash on the way leaves a block unused; the next who
// needs it goes on, or back.
//
// # After a loss
//
// A store that was restored from an old copy knows of too few grants. But no grant ends
// later than the realm's window and lead after its time. [Fence] starts a new generation
// of the realm, with no records but its own and with a floor above that, below which
// nothing is granted. A process asks for the generation after each commit and before it
// uses the grant; so of those who were on their way when the store was restored, none uses
// what it got in the old one.
//
// # Limits
//
// Three things this cannot see: a virtual machine that is cloned while it runs (two
// processes with one memory have one lease), two stores that serve one realm, and a store
// that forgets without anybody noticing. A lease that itself notices, for a record is older
// than it was, takes nothing more from the store until that is fenced ([ErrForgotten]).
package lease
