// Package scru160 makes, reads and writes SCRU160 IDs: 160 bits that sort by time, need no
// coordination and are mostly random. Import it if IDs may be long, and if they need more
// randomness or microseconds.
//
//	id := scru160.New()
//	fmt.Println(id, id.Time())      // 05TTUP1HNCPNH30VEK64KDQT9BSNU4C4 2021-09-13 ...
//	id, err := scru160.Parse(text)
//
// [ID] describes the layout. An ID has two texts. [ID.String], JSON and databases use 32 symbols of
// base32hex. [ID.Hex] and the type [Hex] use 40 hexadecimal digits. Texts of one kind sort like
// IDs, but not together with the other kind. So keep only one kind in a column. [Bytes] stores the
// 20 bytes.
//
// # Promises
//
// The IDs of a generator strictly increase, except after a reset. If the clock goes back by more
// than the allowance, 10 seconds by default, the policy decides. The default policy is a reset: the
// next IDs follow the clock, so they are smaller.
//
// Two IDs of different generators, or from before and after a reset, can be equal only in the same
// millisecond. The chance is then 1 in 2^111. A smaller [Options.CounterWidth], a node ID and
// [Options.Microseconds] leave fewer random bits.
//
// Generators never make the same ID if their node IDs differ but have the same size, and if they
// have the same [Options.CounterExtension]. A realm is the scope in which IDs must be unique.
// Leases of one realm and one store assign such node IDs: see [Options] and package lease.
//
// Functions and generators are safe for concurrent use. [New] panics only if the clock is outside
// the timestamp's range.
//
// # Source
//
// "SCRU160: Sortable, Clock and Random number-based Unique identifier", Specification v0.1.0 of
// 2021-09-24, without a web address. This package adds rules: A generator with a full counter waits
// until the clock moves on. A node ID follows the counter extension in random16. The document has
// no allowance, no policies and no leases.
package scru160
