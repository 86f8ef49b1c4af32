// Package lease hands out node IDs from a shared store, so that no ID is ever issued twice. This
// holds even if clocks are wrong, processes pause or messages are lost.
//
//	store := lease.NewMemory() // or one on a server
//	l, err := lease.Acquire(ctx, store, lease.Config{
//		Realm: "orders", Format: lease.SCRU64, NodeBits: 8,
//	})
//	...
//	defer l.Close(context.Background())
//	g, err := scru64.NewGenerator(scru64.Options{Lease: l})
//
// The Options of scru64, scru160 and uid60 have a field Lease. The module
// github.com/sortid/sortid/store has stores on servers and in a file. Generators of one format
// must lease from one realm of one store if their IDs must differ.
//
// # Why it is safe
//
// A lease does not grant "node 42 for a minute" but "node 42, ticks 1000 up to 1234": a grant. IDs
// carry their tick, so two IDs with one node ID differ if their ticks do.
//
//   - For each node ID the store keeps a high-water mark, the first tick never granted. A grant
//     starts at the mark or above it, and moves it to its own end in one compare-and-set.
//   - A process claims each tick once, in rising order, and only in its grants.
//   - A grant counts only if the store confirms it, or if the record read back is exactly the
//     one requested.
//   - Only the owner lowers the mark, after it has stopped its generators.
//
// None of this depends on clocks or deadlines. Clocks decide where a grant starts, and deadlines
// when a node ID is offered to others. If they are wrong, node IDs are lost or refused, and never
// used twice. docs/leases.md has the whole argument. It also covers node IDs of different sizes,
// and stores restored from an old copy ([Fence]).
//
// # Limits
//
// This package cannot detect three things: a virtual machine cloned while it runs, two stores that
// serve one realm, and a store that loses data without anybody noticing. Two clones can make the
// same IDs until each renews; then one of them loses the node ID and the window. A lease that
// finds a record older than before takes nothing more from the store until somebody calls [Fence]
// ([ErrForgotten]). A server that gives others access to its store checks each change with
// [Known.Check]. Clients can then take node IDs from others, but cannot make them issue an ID
// twice.
package lease
