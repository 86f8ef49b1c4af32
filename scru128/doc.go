// Package scru128 makes, reads and writes SCRU128 IDs: 128 bits that sort by time and need no
// coordination. Import it unless you have a reason for another format.
//
//	id := scru128.New()              // 0372hg16csmsm50l8dikcvukc
//	s := id.String()                 // 25 characters that sort by time
//	id, err := scru128.Parse(s)
//	t := id.Time()                   // to the millisecond
//
// The IDs of a time range match id >= First(from) and id < First(to).
//
// # Promises
//
// The IDs of a generator strictly increase, except with [Options.Stateless], or if the clock goes
// back by more than the allowance, 10 seconds by default. Then the default policy continues at the
// clock's time, out of order.
//
// IDs of different generators, or from before and after a reset, differ in 80 random bits. If a
// generator makes many IDs in a second, only 32 bits are new in each ID. IDs are not secret: one ID
// shows all bits of the next except 32.
//
// Everything is safe for concurrent use.
//
// # Source
//
// "SCRU128: Sortable, Clock and Random number-based Unique identifier", Specification v2.1.1,
// https://github.com/scru128/spec, without a date. This package adds: The binary form is 16 bytes,
// big-endian. The allowance is 10 seconds, where the document says "a few seconds". A policy can
// wait.
package scru128
