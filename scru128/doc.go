// Package scru128 makes, reads and writes SCRU128 IDs: 128 bits that sort by time and need no
// coordination. Import it if you have no reason for another format.
//
//	id := scru128.New()              // 0372hg16csmsm50l8dikcvukc
//	s := id.String()                 // 25 characters that sort by time
//	id, err := scru128.Parse(s)
//	t := id.Time()                   // to the millisecond
//
// An ID is timestamp (48 bits, Unix milliseconds until the year 10889), counter_hi (24),
// counter_lo (24) and entropy (32). The timestamps 0 and 2^48 - 1 are reserved: they parse, but no
// generator makes them. The text is the integer in Base36. Texts and the 16 bytes, big-endian,
// sort by time. Databases store an ID as its text, a [UUID] in a uuid column, and [Bytes] as 16
// bytes. [First] gives the bounds of a time range:
//
//	SELECT ... WHERE id >= $1 AND id < $2     -- First(from), First(to)
//
// # Promises
//
// The IDs of one generator strictly increase and are all different. There are two exceptions:
// [Options.Stateless], and [sortid.RollbackReset], the default, when the clock goes back by more
// than the allowance. IDs of different generators, or from before and after a reset, differ in 80
// random bits, or in fewer if a generator makes many IDs in a second: 32 bits are new in each. IDs
// are not secret: one ID shows all but 32 bits of the next.
//
// When counter_lo is full, counter_hi goes up by one. When both are full, the timestamp goes up by
// one, ahead of the clock. That counts as a clock that went back. Up to the allowance, 10 s by
// default, the generator keeps the last timestamp. Beyond it, the policy decides; by default the
// generator starts again, out of order.
//
// [New] panics only if the clock shows a time that no ID can carry. A generator is safe for
// concurrent use. On many cores a generator for each goroutine is faster, and IDs of different
// goroutines then sort by the millisecond. [Generator.Fill] locks once for 4096 IDs:
//
//	g, err := scru128.NewGenerator(scru128.Options{})
//	err = g.Fill(ids)
//
// # Source
//
// "SCRU128: Sortable, Clock and Random number-based Unique identifier", Specification v2.1.1,
// https://github.com/scru128/spec, without a date. This package's own rules: the binary form is 16
// bytes, big-endian, for uuid columns; the allowance is 10 seconds, where the document says "a few
// seconds"; there is a policy that waits.
package scru128
