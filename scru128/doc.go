// Package scru128 makes, reads and writes SCRU128 IDs: 128 bits that sort by time and need no
// coordination. Import it if you have no reason for another format.
//
//	id := scru128.New()              // 0372hg16csmsm50l8dikcvukc
//	s := id.String()                 // 25 characters that sort by time
//	id, err := scru128.Parse(s)
//	t := id.Time()                   // to the millisecond
//
// [ID] describes the layout. In a database, an ID is text, a [UUID] fits a uuid column, and [Bytes]
// are 16 bytes. [First] gives the bounds of a time range: id >= First(from) and id < First(to).
//
// # Promises
//
// The IDs of a generator strictly increase, with two exceptions: [Options.Stateless], and a clock
// that goes back by more than the allowance, 10 seconds by default. Then the policy decides. By
// default, the next IDs follow the clock, so they are smaller.
//
// 80 random bits separate IDs of different generators, and IDs from before and after a reset. If a
// generator makes many IDs in a second, they share some of these bits: only 32 are new in each ID.
// IDs are not secret: one ID shows all bits of the next except 32.
//
// Everything is safe for concurrent use. [New] panics only if the clock shows a time that no ID can
// carry.
//
// # Source
//
// "SCRU128: Sortable, Clock and Random number-based Unique identifier", Specification v2.1.1,
// https://github.com/scru128/spec, without a date. This package adds rules: The binary form is 16
// bytes, big-endian. The allowance is 10 seconds; the document says "a few seconds". A generator
// can have a policy that waits.
package scru128
