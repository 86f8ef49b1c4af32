// Package lease hands out node IDs from a shared store, so that no ID is ever issued twice. This
// holds even if clocks are wrong, processes pause or messages are lost. Import this package if
// generators of scru64, scru160 or uid60 run in several processes.
//
//	store := lease.NewMemory() // or a store on a server
//	l, err := lease.Acquire(ctx, store, lease.Config{
//		Realm: "orders", Format: lease.SCRU64, NodeBits: 8,
//	})
//	...
//	defer l.Close(context.Background())
//	g, err := scru64.NewGenerator(scru64.Options{Lease: l})
//
// The module github.com/sortid/sortid/store has stores on servers and in a file. Generators of one
// format must lease from one realm (a named set of node IDs) of one store if their IDs must differ.
//
// A lease grants a node ID for some ticks: "node 42, ticks 1000 up to 1234". For each node ID the
// store keeps a high-water mark (HWM), the first tick that was never granted. A grant starts at the
// HWM or above it. The compare-and-set that stores the grant also moves the HWM to the grant's end.
// A process claims each tick once, in rising order. If clocks are wrong, node IDs are wasted or
// refused, but never shared; docs/leases.md says why.
//
// This package cannot detect that a running virtual machine is cloned, that two stores serve one
// realm, or that a store silently loses data. Two clones can make the same IDs until each renews
// its lease. After a store was restored from an old copy, call [Fence]. A server that gives others
// access to its store must check each change with [Known.Check].
package lease
