// Package lease hands out node IDs from a shared store, for a time, in such a way that no
// ID is ever issued twice: whatever clocks do, however long a process is stopped, whatever
// messages are lost.
//
//	store := lease.NewMemory() // or one on a server
//	l, err := lease.Acquire(ctx, store, lease.Config{
//		Realm: "orders", Format: lease.SCRU64, NodeBits: 8,
//	})
//	...
//	defer l.Close(context.Background())
//	g, err := scru64.NewGenerator(scru64.Options{Lease: l})
//
// A generator on a lease takes its node ID and its ticks from [Lease.ClaimTick], which hands
// out each tick once. The Options of scru64, scru160 and uid60 have a field Lease.
// The module github.com/sortid/sortid/store has stores on servers and in a file.
//
// All generators of a format whose IDs must differ lease from one realm of one store.
//
// # Why it is safe
//
// A lease is not "node 42 for a minute" but "node 42, ticks 1000 up to 1234": a grant. IDs
// carry their tick, so two IDs with one node ID differ if their ticks do. Nothing depends
// on anybody's sense of time.
//
//   - For each node ID the store keeps a high-water mark, the first tick never granted.
//     A grant starts at the mark or above it and moves it to its own end, in one atomic
//     compare-and-set. So no tick of a node ID is in two grants.
//   - A process uses ticks of its grants only, and each tick once, in rising order. It
//     claims a tick before it makes IDs of it. A process that was stopped, for however
//     long, finds its ticks spent, and fails; a thread that was stopped after its claim
//     makes an ID of its own tick.
//   - What was not answered counts as not granted. If the very same request is made again,
//     and the first one has been carried out, then the record in the store shows it: it is
//     still word for word the one asked for, with a random number that was drawn for this
//     request alone. So nobody has been granted anything since, and its ticks were not used.
//     A request that is refused when it is made for the first time was not carried out.
//   - A lease that is closed gives back ticks, so the mark goes down. That is done by its
//     owner, after its generators have been stopped for good, to the tick after the last
//     one claimed, and only if the record is the one that the owner knows. The record's
//     revision goes up, as with each change, so that nothing that was decided before can
//     still be carried out.
//
// The record says from which tick on all was granted to this owner: the mark never goes below
// that. And it shows the key whose hash the owner is.
//
// Neither clocks nor deadlines occur in this. Clocks decide where a grant starts, and
// deadlines when a node ID is offered to another process. If they are wrong, then node IDs
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
//     whole, with at least its mark, by a process that has read the half before it saw the
//     block split, or at the same moment. Where several records can be changed at once, a
//     block is divided and its half granted in one change.
//   - To make a block whole again it is set to merging; then both halves are retired, if
//     nobody holds them, by a write even where they are retired already; then the block
//     is set to whole, with the highest of the three marks.
//
// Suppose process A makes a half whole because it has seen the block split, and process B
// is merging the block. Either B finds the half whole, and gives up if it is in use, or B's
// write to the half comes first, and A's is refused. A crash on the way leaves a block
// unused; the next process that needs it goes on, or back.
//
// # After a loss
//
// A store that was restored from an old copy knows of too few grants. But no grant ends
// later than the realm's window and lead after its time. [Fence] starts a new generation
// of the realm, with a floor above that, below which nothing is granted, and with the marks
// above the floor that the store still knows. A process asks for the generation after each
// commit and before it uses the grant; so a process that was stopped while the store was
// restored finds out that what it got in the old one counts for nothing.
//
// # Behind a server
//
// A server that hands on its store need not trust its clients. [Known.Check] says, by the
// records that the server has read, whether the protocol allows a change. So a client that
// does not keep to the protocol can take node IDs from others, and cannot make them issue an
// ID twice.
//
// # Limits
//
// Three things this cannot see: a virtual machine that is cloned while it runs, two stores
// that serve one realm, and a store that forgets without anybody noticing. Two clones have
// one lease, and can make the same IDs until the next renewal of each: then one of them
// loses the node ID, and what is left of the window with it. A lease that itself notices
// that a record is older than it was takes nothing more from the store until that is fenced
// ([ErrForgotten]).
package lease
