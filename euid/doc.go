// Package euid makes, reads and writes EUIDs, Extendable Universally Unique Identifiers, draft 3:
// 128 bits that sort by time and need no coordination. Import it if IDs must contain a number
// that you choose, or if people type IDs: a check value finds typing errors.
//
//	orders, err := euid.NewGenerator(euid.Options{Extension: 7, ExtensionLength: 6})
//	id, err := orders.Generate()     // or euid.New(), without an extension
//	value, ok := id.Extension()      // 7, true
//	id, err = euid.Parse("C8EE934SR007G5Q94QKKXFRFV8B")
//
// [ID] describes the layout. The text is the 128-bit integer and its remainder modulo 127, as 27
// symbols of Crockford's Base32. Parse ignores case, and reads O as 0, and I and L as 1. If one
// symbol is replaced by another, or two neighbors are swapped, Parse always returns
// [sortid.ErrCheck]. [UUID] and [Bytes] store the ID without a check value.
//
// # Promises
//
// The IDs of a generator strictly increase, except after a reset. If the clock goes back by more
// than the allowance, 10 seconds by default, the policy decides. The default policy is a reset: the
// next IDs follow the clock, so they are smaller.
//
// Two IDs of different generators, or from before and after a reset, can be equal only in the same
// millisecond. The chance is then 1 in 2^79. An extension leaves fewer random bits.
//
// Functions and generators are safe for concurrent use. [New] panics only if the clock is outside
// the timestamp's range.
//
// # Source
//
// "Extendable Universally Unique Identifier", DRAFT#3, without a date or a web address. Later
// drafts describe another format. This package adds rules:
//
//   - Version bits 0 mean version 1. Parse also reads IDs of other versions.
//   - An extension has as many bits as its value needs, or the given length.
//   - An allowance and policies apply if the clock goes back.
package euid
