// Package uid60 makes, reads and writes uid60s: time-sortable IDs of 60 bits that fit an
// int64, and are shown as a text of ten characters which looks random.
//
//	id, err := uid60.New()
//	s := id.String()                 // xinaS8QBh, or ten characters since May 2020
//	id, err = uid60.Parse(s)
//	t := id.Time()                   // to the millisecond
//
// Choose it where IDs must be short and should not show that they are a sequence. Their
// integers sort by time; THEIR TEXTS DO NOT.
//
// # Layout
//
//	0000 timestamp(42) sequence(9) random(9)
//
//	field      bits  what
//	timestamp  42    milliseconds since 2018-03-01T00:00:00Z, until 2157-07-13
//	sequence   9     + 1 for each ID of a generator, and 0 after 511
//	random     9     new for each ID; its high bits may be a worker ID
//
// The document calls the timestamp one of 48 bits in its heading, but draws 42, which
// with the rest make the 60 of its name: it is 42. And where its rule for the sequence
// speaks of a second it means a millisecond.
//
// # Encodings
//
// The text is the integer in base 64, with the digits A-Z, a-z, 0-9, - and _ for 0 to
// 63: the most significant first, no zeros in front, and then the last two digits, which
// change most, moved to the front. 11093174944930914 is naS8QBhxi and so reads xinaS8QBh.
// An integer of fewer than four digits is padded with A, the digit 0, to four before that
// move. Parsing takes 4 to 10 characters, with more such padding or less, and never one
// case for the other.
//
// Text is what JSON and all else that knows [encoding.TextMarshaler] use, so that
// JavaScript, whose numbers end at 2^53, loses nothing. The binary form is the integer's
// 8 bytes, big-endian. A database gets an int64 for a bigint column, which sorts by time,
// or with the type [Text] the text, which needs a column that tells upper case from
// lower; [ID.Scan] reads an integer or a text, and takes eight bytes for a text, too. To
// find the IDs of a time range in an index of integers:
//
//	SELECT ... WHERE id >= $1 AND id < $2     -- First(from), First(to)
//
// # Uniqueness and order
//
// The IDs of one generator strictly increase, so no two are the same, while its policy
// is not [sortid.RollbackReset]. Two generators without worker IDs, in one process or two, make
// the same ID in the same millisecond with the same sequence once in 512 cases. As each
// sequence starts at 0 those are not rare: do not run many of them.
//
// With worker IDs uniqueness is certain:
//
//	g, err := uid60.NewGenerator(uid60.Options{WorkerID: 5, WorkerIDSize: 4}) // worker 5 of 16
//
// as long as no two generators have the same worker ID at the same time, all have worker
// IDs of the same size, and one that takes a worker ID over starts in a later millisecond
// than the last ID made with it. The worker ID takes the high bits of random and leaves
// the others random, 9 bits in all, which is nothing to keep a secret with.
//
// # Leases
//
// Package lease assigns worker IDs from a store that all processes share, so that nobody
// needs to, and keeps a worker ID from ever being used twice for one millisecond: after
// restarts and crashes, whatever clocks show and however long a process is stopped.
//
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.UID60, NodeBits: 4})
//	g, err := uid60.NewGenerator(uid60.Options{Lease: l})
//
// On leases of one realm and one store uniqueness is certain by itself, also with worker
// IDs of different sizes. See [Options.Lease] for what changes. Generators that share one
// lease share its milliseconds: each takes the next one that no other has taken, so they
// run ahead of the clock, eight of them by up to 7 ms.
//
// # Sequence
//
// A generator's sequence starts at 0 and goes on from one millisecond to the next. After
// 511 comes 0, but only with a new millisecond: a generator that has used 511 waits for
// it. So a millisecond has at least one ID's room and at most 512, and a steady stream
// fills 512 in each once it has waited for the first time: the sequence of the
// milliseconds after that starts at 0. The document asks only that no sequence number
// occur twice in a millisecond; that it never wraps within one is this package's stricter
// rule, which makes IDs increase.
//
// The wait ends when the clock reaches the millisecond after the last ID's, or when the
// context of [Generator.GenerateContext] or [Generator.FillContext] ends, which is
// [sortid.ErrOverflow]. It is short unless the clock was set back: then the clock must catch up
// first, by as much as the allowance: small steps back block for as long as the step. With an injected clock that stands still it lasts
// for ever.
//
// # Rollback
//
// While the clock is back by at most the allowance, 10 s by default, the generator goes
// on with the last timestamp. Beyond, its policy decides: [sortid.RollbackAbort],
// the default, fails with [sortid.ErrClockRollback] until the clock has caught up,
// [sortid.RollbackWait] blocks, and [sortid.RollbackReset] goes on at the clock's time, WHICH CAN DUPLICATE IDS.
//
// # Options
//
// See [Options]. [New] and [NewString] use a process-wide generator that has the defaults.
//
// # Cost
//
// A generator is safe for concurrent use. One for all goroutines keeps the order over
// all of them and is certain not to repeat itself; more than one need worker IDs, or
// leases, for that. The limit is the format's own, 512 IDs in a millisecond from each
// generator; only several workers make more. Making an ID allocates nothing, unless the
// generator has to wait. [Generator.Fill] takes the lock and looks at the clock once for
// each millisecond that it fills.
//
// # Source
//
// The format is that of the document "Unique ID Generator Design", which bears neither a
// version, a date nor an address; uid60 is this project's name for it. The rules that are
// not the document's but this package's own:
//
//   - the timestamp has 42 bits, see Layout;
//   - the sequence starts at 0, goes on over milliseconds and never wraps within one;
//   - no generator uses the first and the last timestamp, so that the zero ID can stand for
//     "none" and [Max] for the end of a range;
//   - short texts are padded, and padding is accepted;
//   - worker IDs, also from leases, in the high bits of random;
//   - the allowance and the policies for a clock that goes back;
//   - a conversion such as ID(v) is not checked; with a v above Max the marshalling methods
//     fail.
package uid60
