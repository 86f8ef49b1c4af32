// Package uid60 makes, reads and writes uid60s: IDs of 60 bits that fit an int64 and sort by
// time. Import it where IDs must be short and should look random. THEIR TEXTS DO NOT SORT.
//
//	id, err := uid60.New()
//	s := id.String()                 // xinaS8QBh, or ten characters since May 2020
//	id, err = uid60.Parse(s)
//	t := id.Time()                   // to the millisecond
//
// An ID is timestamp (42 bits, milliseconds since 2018-03-01, until 2157-07-13), sequence (9 bits)
// and random (9 bits; its high bits may be a worker ID).
//
// The text is the integer in base 64, with the digits A-Z, a-z, 0-9, - and _, without leading
// zeros. Its last two digits, which change most, come first: 11093174944930914 is naS8QBhxi and so
// reads xinaS8QBh. An integer of fewer than four digits is padded with A. Parsing takes 4 to 10
// characters, and case matters. A database stores an ID as an int64, and the type [Text] as the
// text. [First] gives the bounds of a time range of integers.
//
// # Promises
//
// The IDs of one generator strictly increase, unless its policy is [sortid.RollbackReset]. Two
// generators without worker IDs often make the same ID: do not run many. All IDs are different
// if each generator has its own worker ID and all worker IDs have the same size. A worker ID may
// only be taken over in a later millisecond. Package lease ensures this, even with worker IDs of
// different sizes:
//
//	l, err := lease.Acquire(ctx, store, lease.Config{
//		Realm: "orders", Format: lease.UID60, NodeBits: 4,
//	})
//	g, err := uid60.NewGenerator(uid60.Options{Lease: l})
//
// The sequence goes from 511 to 0 only with a new millisecond. So a generator makes at most 512
// IDs in one, and waits for the next. If the clock was set back, it waits until the clock has
// caught up. A context limits the wait; if it ends, the error is [sortid.ErrOverflow].
//
// Up to the allowance, 10 s by default, a generator keeps the last timestamp when the clock goes
// back. Beyond it, the policy decides; by default the generator fails with
// [sortid.ErrClockRollback]. A generator is safe for concurrent use.
//
// # Source
//
// "Unique ID Generator Design", without version, date or address; uid60 is this project's name.
// The document's heading says 48 bits for the timestamp, its picture 42, which with the other
// fields make 60. Where its rule for the sequence says a second, it means a millisecond. This
// package's own rules: the sequence starts at 0 and does not wrap within a millisecond. The first
// and the last timestamp are reserved. Short texts are padded, and padding parses. The worker ID
// is the high bits of random. ID(v) is not checked. The allowance and the policies for a clock
// that goes back are also its own.
package uid60
