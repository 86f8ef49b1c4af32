// Package uid60 makes, reads and writes uid60s: IDs of 60 bits that fit an int64 and sort by time.
// Import it if IDs must be short and should look random. THE TEXTS DO NOT SORT BY TIME.
//
//	id, err := uid60.New()
//	s := id.String()                 // xinaS8QBh, or ten characters since May 2020
//	id, err = uid60.Parse(s)
//	t := id.Time()                   // to the millisecond
//
// [ID] describes the layout. The text is the integer in base 64, padded with A to at least four
// digits. The digits are A-Z, a-z, 0-9, - and _. The text begins with the last two digits, which
// change most: the digits of 11093174944930914 are naS8QBhxi, so its text is xinaS8QBh. Case
// matters. A database stores an ID as an int64, and a [Text] as text. Use [First] for the bounds of
// a time range of integers: id >= First(from) and id < First(to).
//
// # Promises
//
// The IDs of a generator strictly increase, unless its policy is [sortid.RollbackReset]. Two
// generators without worker IDs (node IDs) often make the same ID. All IDs are different if each
// generator has its own worker ID, and all worker IDs have the same size. A generator that takes
// over a worker ID must start after the last ID's millisecond. A realm is the scope in which IDs
// must be unique. Leases of one realm and one store meet these conditions, even with different
// sizes: see [Options] and package lease.
//
// If the clock goes back by at most the allowance, 10 seconds by default, a generator keeps the
// last timestamp. If the clock goes back further, the policy decides. The default policy fails with
// [sortid.ErrClockRollback]. Functions and generators are safe for concurrent use.
//
// # Source
//
// "Unique ID Generator Design", without a version, a date or a web address; this project chose the
// name uid60. In the document, the timestamp has 48 bits in the heading, but 42 in the picture. The
// rule for the sequence says a second, but means a millisecond. This package adds rules: The
// sequence starts at 0 and does not wrap within a millisecond. The first and the last timestamp are
// reserved. Short texts are padded, and Parse accepts padding. The worker ID is in the high bits of
// the field random. The document has no allowance, no policies and no leases.
package uid60
