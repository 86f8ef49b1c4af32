// Package scru128 makes, reads and writes SCRU128 IDs: 128 bits that sort by time and need no
// coordination. Import it if you have no reason for another format.
//
//	id := scru128.New()              // 0372hg16csmsm50l8dikcvukc
//	s := id.String()                 // 25 characters that sort by time
//	id, err := scru128.Parse(s)
//	t := id.Time()                   // to the millisecond
//
// [ID] describes the layout. A database stores an ID as text, a [UUID] in a uuid column, and
// [Bytes] as 16 bytes. Use [First] for the bounds of a time range: id >= First(from) and id <
// First(to).
//
// # Promises
//
// The IDs of a generator strictly increase, except with [Options.Stateless] or after a reset. If
// the clock goes back by more than the allowance, 10 seconds by default, the policy decides. The
// default policy is a reset: the next IDs follow the clock, so they are smaller.
//
// 80 random bits distinguish IDs of different generators, and IDs from before and after a reset.
// Within a millisecond, only 32 of these bits are new in each ID; the other 48 are counters with
// random starts. So do not use IDs as secrets: one ID shows all bits of the next ID except 32.
//
// Functions and generators are safe for concurrent use. [New] panics only if the clock is outside
// the timestamp's range.
//
// # Source
//
// "SCRU128: Sortable, Clock and Random number-based Unique identifier", Specification v2.1.1,
// https://github.com/scru128/spec, without a date. This package adds rules: The binary form is 16
// bytes, big-endian. The allowance is 10 seconds; the document says "a few seconds". A generator
// can have a policy that waits.
package scru128
