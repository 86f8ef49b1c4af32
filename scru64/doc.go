// Package scru64 makes, reads and writes SCRU64 IDs. Import it if keys must be 64-bit integers and
// each generator can have its own node ID. If not, use a format of 128 or 160 bits.
//
//	$ SCRU64_NODE_SPEC=42/8 ./program     # node ID 42, of 8 bits
//
//	id, err := scru64.New()               // 0u375nxqh5cq
//	s := id.String()                      // 12 characters that sort by time
//	id, err = scru64.Parse(s)
//	t := id.Time()                        // in steps of 256 ms
//
// [ID] describes the layout. A database stores an ID as an int64, and a [Text] as text. Use [First]
// for the bounds of a time range: id >= First(from) and id < First(to).
//
// # Promises
//
// The IDs of a generator strictly increase, unless its policy is [sortid.RollbackReset]. A realm is
// the scope in which IDs must be unique. All IDs of a realm differ under these conditions:
//
//   - All generators that run at the same time have different node IDs.
//   - None of these node IDs begins with the bits of another. For example, 1/1 (binary 1) and 2/2
//     (binary 10) must not run at the same time. The node IDs 0/1 (binary 0) and 2/2 may.
//   - A generator that takes over a node ID continues after the last ID with this node ID; see
//     [NodeSpecAfter]. Or it first waits for longer than the allowance.
//   - No generator has the policy [sortid.RollbackReset].
//
// Leases of one realm and one store meet these conditions: see [Options] and package lease.
//
// If the clock goes back by at most the allowance, 39 ticks of 256 ms by default, the generator
// keeps the last timestamp. If the clock goes back further, the policy decides. The default policy
// fails with [sortid.ErrClockRollback]. Functions and generators are safe for concurrent use. IDs
// are easy to guess.
//
// # Source
//
// "SCRU64: Sortable, Clock-based, Realm-specifically Unique identifier",
// https://github.com/scru64/spec, Specification v1.0.0 of 2023-09-23. This package adds rules: If a
// [NodeSpec] contains an ID with timestamp 0, the package uses only the ID's node ID. The 0x of a
// hexadecimal node ID must be in lower case. Leases can grant node IDs.
package scru64
