// Package lease gives each process a node ID from a shared store. So no ID is ever issued twice,
// even if clocks are wrong, processes pause or messages are lost. Import this package if generators
// of scru64, scru160 or uid60 run in several processes.
//
//	store := lease.NewMemory() // or a store on a server
//	l, err := lease.Acquire(ctx, store, lease.Config{
//		Realm: "orders", Format: lease.SCRU64(), NodeBits: 8,
//	})
//	...
//	defer l.Close(context.Background())
//	g, err := scru64.NewGenerator(scru64.Options{Lease: l})
//
// The module github.com/sortid/sortid/store has stores on servers and in a file. A realm is a named
// set of node IDs in a store. If IDs of one format must differ, all their generators must lease
// from one realm of one store.
//
// These words describe a lease:
//
//   - A tick is the unit of a format's timestamp: 256 ms in SCRU64, 1 ms in SCRU160 and uid60.
//   - A grant is a node ID for some ticks, such as node ID 42 for the ticks 1000 to 1233. Before a
//     generator makes IDs in a tick, it claims the tick. It can claim only granted ticks, and each
//     tick only once.
//   - The window is how far in the future a grant ends, by default 1 minute. When about half of the
//     window is left, a renewal moves the grant's end to a whole window from now.
//   - The high-water mark (HWM) of a node ID is the first tick that can still be granted. A grant
//     starts at the HWM or later. The store saves the grant and moves the HWM to the grant's end in
//     one atomic step. So grants never overlap.
//   - The lead is how far in the future a grant may start, by default 10 seconds.
//   - A fence makes a realm safe after its store was restored from an old copy: after [Fence], new
//     grants start only after the end of all earlier grants.
//
// If clocks are wrong, node IDs are wasted or refused, but never shared; docs/leases.md says why.
// This package cannot detect that a running virtual machine is cloned, that two stores serve one
// realm, or that a store silently loses data. Two clones can make the same IDs until each has
// renewed its lease.
//
// # Worker IDs for any generator
//
// Generators of other formats, such as Snowflake and Sonyflake, need a node ID, too. They may call
// it worker ID or machine ID. Lease it from a realm of one size:
//
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "workers", NodeBits: 10})
//	...
//	guard := lease.NewGuard(l, lease.Generator[snowflake.ID]{
//		New:  newSnowflake, // makes a generator with a node ID
//		Time: func(id snowflake.ID) time.Time { return time.UnixMilli(id.Time()) },
//	})
//	id, err := guard.Next(ctx)
//
// Such a generator does not claim ticks. A [Guard] does it: it returns an ID only if the ID's tick
// is granted and claimed for the ID's node ID. So no ID is made twice, whatever happens to clocks,
// processes and the store. The folders examples/snowflake and examples/sonyflake have programs.
//
// Without a Guard, take [Lease.NodeID], make no ID before [Lease.From], and stop when
// [Lease.Context] ends. This is safe if the clock is right, and if the process does not stand still
// past the end of the lease. The context must end early enough for a generator that is ahead of the
// clock.
//
// A program that does not take part in this protocol leases from a [Lessor], which takes part for
// it. The server of the command sortid does this for clients in all languages. [AcquireFrom] leases
// from a Lessor, and package store/http has the Lessor that asks a server.
package lease
