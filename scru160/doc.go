// Package scru160 makes and reads SCRU160 IDs: 160 bits that sort by time, need no coordination
// and are mostly random. Import it if IDs must be unique with certainty, or almost, and may be
// long.
//
//	id := scru160.New()
//	fmt.Println(id, id.Time())      // 05TTUP1HNCPNH30VEK64KDQT9BSNU4C4 2021-09-13 ...
//	id, err := scru160.Parse(text)  // either text, in either case
//
// An ID is four fields in 20 bytes, big-endian: timestamp (48 bits, Unix milliseconds until the
// year 10889), counter (16), random16 (16) and random80 (80). The timestamps 0 and 2^48-1 are
// reserved: they parse, but no generator makes them.
//
// An ID has two texts. String, JSON and databases use 32 symbols of base32hex, in upper case.
// [ID.Hex] and the type [Hex] use 40 hexadecimal digits, in lower case. Texts of one kind sort as
// IDs do, so keep only one kind in a column. [Bytes] stores the 20 bytes.
//
// # Promises
//
// The IDs of one generator strictly increase, unless the clock goes back by more than the
// allowance, 10 seconds by default. Then the policy decides; by default the generator starts
// again, out of order. IDs of different generators sort by the millisecond.
//
// Two IDs of different generators, or from before and after a reset, are equal with a chance of 1
// in 2^111, and only in the same millisecond. A smaller [Options.CounterWidth], a node ID and
// [Options.Microseconds] use some of these bits. Random bits come from ChaCha8, seeded by the
// operating system in each second of use.
//
// A millisecond has room for at least 32,769 IDs. A generator that has used them up waits for the
// next one. If the clock has gone back a little, it also waits for the clock to catch up. A
// context with a deadline, a smaller allowance or a counter extension shortens the wait.
//
// Generators with different node IDs never make the same ID. Package lease assigns node IDs. With
// leases of one realm and one store, and the same counter extension for all, no two IDs are equal,
// whatever the random bits are.
//
//	l, err := lease.Acquire(ctx, store, lease.Config{
//		Realm: "orders", Format: lease.SCRU160, NodeBits: 8,
//	})
//	g, err := scru160.NewGenerator(scru160.Options{Lease: l})
//
// Everything is safe for concurrent use. [New] panics only if the clock shows a time that no
// ID can carry.
//
// # Source
//
// "SCRU160: Sortable, Clock and Random number-based Unique identifier", Specification v0.1.0 of
// 2021-09-24, without an address. This package's own rules: a generator with a full counter waits
// for the next tick; a node ID follows the counter extension in random16. The allowance, the
// policies for a clock that goes back, and node IDs from leases are also its own.
package scru160
