// Package scru128 makes, reads and writes SCRU128 IDs: time-sortable IDs of 128 bits that
// are unique without any coordination, fit a database's uuid type, and have a text of 25
// characters.
//
//	id := scru128.New()              // 0372hg16csmsm50l8dikcvukc
//	s := id.String()                 // 25 characters that sort by time
//	id, err := scru128.Parse(s)
//	t := id.Time()                   // to the millisecond
//
// # Layout
//
//	timestamp(48) counter_hi(24) counter_lo(24) entropy(32)
//
//	field       bits  what
//	timestamp   48    Unix milliseconds, until the year 10889
//	counter_hi  24    random, new after a second or more
//	counter_lo  24    random in each new millisecond, and then + 1 for each ID
//	entropy     32    random in each ID
//
// The timestamps 0 and 2^48 - 1 are reserved. IDs that have them parse, for they serve as
// dummies and bounds, as the zero ID and [Max] do, but no generator makes them.
//
// # Encodings
//
// The text is the 128-bit integer in Base36: 25 digits 0-9a-z, written in lower case, read
// in either, and at most f5lxx1zz5pnorynqglhzmsp33. The binary form is the integer's 16
// bytes, big-endian. Both sort by time. JSON and all else that knows
// [encoding.TextMarshaler] use the text. A database gets the text, or with the type
// [UUID] a value for a native uuid column, with the type [Bytes] 16 raw bytes; [ID.Scan]
// reads all three. The document leaves the binary form open; big-endian is this package's
// choice because of uuid columns. To find the IDs of a time range in an index:
//
//	SELECT ... WHERE id >= $1 AND id < $2     -- First(from), First(to)
//
// # Uniqueness and order
//
// The IDs of one generator strictly increase and are all different, whatever the clock
// does, with two exceptions: [sortid.RollbackReset], the default, when the clock goes back
// by more than the allowance; and [Options.Stateless], which keeps no order within a
// millisecond. IDs of different generators, and those before and after a reset, differ by
// their randomness: 80 bits where a generator makes less than an ID a second; in a busy
// one the counters are drawn less often, and 32 bits are new in each ID.
//
// Neighbouring IDs are no secret: whoever sees one can guess all but 32 bits of the next.
//
// # Overflow and rollback
//
// When counter_lo is full, counter_hi goes up by one and counter_lo to 0. When both are
// full, which hardly ever happens, the timestamp goes up by one, counter_hi to 0 and
// counter_lo to a random number; that the timestamp is then ahead of the clock counts as
// a clock that has gone back.
//
// While the clock is back by at most the allowance, 10 s by default, the generator goes
// on with the last timestamp. Beyond, its policy decides: [sortid.RollbackReset], the
// default, starts afresh at the clock's time, as if it were another generator: unique, but in no
// order with what was before. [sortid.RollbackAbort] fails with
// [sortid.ErrClockRollback] until the clock has caught up, and [sortid.RollbackWait] blocks.
//
// # Generators
//
// [New] and [NewString] use a process-wide generator that has the defaults and does not
// fail; with a clock that shows a time which no ID can carry they panic. Others are made
// so:
//
//	g, err := scru128.NewGenerator(scru128.Options{
//		GeneratorOptions: sortid.GeneratorOptions{RollbackPolicy: sortid.RollbackAbort},
//	})
//	id, err := g.Generate()
//	err = g.Fill(ids)                // many, with one reading of the clock for 4096
//
// # Cost
//
// A generator is safe for concurrent use. One for all goroutines keeps the order over all
// of them, at the price of a lock, for which goroutines on many cores contend. A generator
// each is faster there, and just as unique; IDs are then in order for each goroutine, and
// those of different goroutines to the millisecond. [Generator.Fill] takes the lock once
// for 4096 IDs. Making an ID, parsing and appending allocate nothing; String and NewString
// allocate their result.
//
// # Source
//
// The format is that of "SCRU128: Sortable, Clock and Random number-based Unique
// identifier", Specification v2.1.1, https://github.com/scru128/spec; the document bears no
// date. The rules that are not the document's but this package's own:
//
//   - the binary form is 16 bytes, big-endian, and the UUID form has the same bits;
//   - the allowance of 10 seconds, where the document says "a few seconds", and the policy of
//     waiting beside those of a reset and an error, which the document recommends.
package scru128
