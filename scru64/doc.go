// Package scru64 makes, reads and writes SCRU64 IDs. Import it if keys must be 64-bit integers and
// each generator can have its own node ID. Without node IDs, use a format of 128 or 160 bits.
//
//	$ SCRU64_NODE_SPEC=42/8 ./program     # node ID 42, of 8 bits
//
//	id, err := scru64.New()               // 0u375nxqh5cq
//	s := id.String()                      // 12 characters that sort by time
//	id, err = scru64.Parse(s)
//	t := id.Time()                        // the 256 ms in which it was made
//
// An ID is the integer timestamp * 2^24 + node_id * 2^(24 - node_id_size) + counter. The timestamp
// counts ticks of 256 ms since 1970, until the year 4261. A realm is the scope in which IDs must
// be unique; it chooses the node_id_size, 1 to 23 bits. The text is the integer in Base36.
// Integers, texts and the 8 bytes, big-endian, all sort by time. The timestamps 0 and 282429536480
// are reserved: they parse, but no generator makes them.
//
// A database stores an ID as an int64, and the type [Text] as the text. [First] gives the bounds
// of a time range: WHERE id >= First(from) AND id < First(to).
//
// # Promises
//
// The IDs of a generator strictly increase. The IDs of a realm are all different if
//
//   - at any time, all generators have different node IDs, and none begins with the bits of
//     another: 1/1 (1) and 2/2 (10) may not run together, 0/1 (0) and 2/2 (10) may;
//   - a generator that takes over a node ID starts after the last ID made with it, which
//     [NodeSpecAfter] ensures, or after more time than the allowance;
//   - no generator has the policy [sortid.RollbackReset].
//
// With leases of one realm and one store, all of this is ensured; see package lease.
//
//	l, err := lease.Acquire(ctx, store, lease.Config{
//		Realm: "orders", Format: lease.SCRU64, NodeBits: 8,
//	})
//	g, err := scru64.NewGenerator(scru64.Options{Lease: l})
//
// When the counter is full, the timestamp goes up by one, ahead of the clock. That counts as a
// clock that went back. Up to the allowance, 39 ticks by default, the generator keeps the last
// timestamp. Beyond it, the policy decides; by default the generator fails with
// [sortid.ErrClockRollback]. A generator is safe for concurrent use. Nothing in an ID is secret.
//
// # Source
//
// "SCRU64: Sortable, Clock-based, Realm-specifically Unique identifier",
// https://github.com/scru64/spec, "Specification (work in progress)", without number or date.
// Its later versions added reserved timestamps, the lead of a full counter, guard bits, node
// specs and mixed node sizes. This package's own rules: in a node spec, an ID with timestamp 0
// gives the node ID alone, and 0x is in lower case; ID(v) is not checked; node IDs from leases.
package scru64
