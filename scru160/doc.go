// Package scru160 makes and reads SCRU160 IDs (specification v0.1.0): 160-bit unique IDs
// that sort by the time of their generation, need no coordination, and are mostly
// random.
//
//	id := scru160.New()
//	fmt.Println(id, id.Time())      // 05TTUP1HNCPNH30VEK64KDQT9BSNU4C4 2021-09-13 ...
//	id, err := scru160.Parse(text)  // either text, in either case
//
// # Layout
//
// An ID is four big-endian fields in 20 bytes; see the diagram at [ID].
//
//	timestamp   48 bits   Unix time in milliseconds, until the year 10889
//	counter     16 bits   orders the IDs of a millisecond
//	random16    16 bits   random, or partly more counter or a node ID
//	random80    80 bits   random in each ID
//
// Timestamps 0 and 2^48-1 are reserved. No generator makes such IDs, but they parse:
// the zero ID serves as "none", and [First] and [Max] as bounds.
//
// # Text
//
// An ID has two texts, which an [ID] reads both, ignoring case, by their length:
//
//   - 32 symbols of base32hex (RFC 4648), 0-9 and A-V, five bits each. That is what
//     String, JSON and a database get, in upper case.
//   - 40 hexadecimal digits: [ID.Hex], in lower case, and the type [Hex] for JSON and
//     databases.
//
// Texts of one kind sort as the IDs do; the two kinds do not sort among each other, so
// a column or a file should hold one of them. [Bytes] stores the 20 bytes themselves.
// The specification prints examples of both kinds; they are different IDs, not pairs.
//
// A text of another length is [sortid.ErrLength], one with a character that does not
// belong there [sortid.ErrSymbol] with the offset; nothing is trimmed.
//
// # Generation
//
// [New] never fails; see there for its only panic, at an impossible clock. For anything
// else make a generator:
//
//	g, err := scru160.NewGenerator(scru160.Options{
//		CounterExtension: 8,                // 256 times as many IDs in a millisecond
//		NodeID:           42,
//		NodeBits:       6,
//	})
//	id, err := g.Generate()
//	err = g.Fill(ids)                           // many at once, for less
//
// See [Options] for all of them. Of the 16 bits of random16 the counter extension comes
// first, then the node ID, then random bits.
//
// # Leases
//
// A node ID makes it certain that generators with different ones never make the same ID,
// where random bits make it very likely. Package lease assigns node IDs from a store that
// all processes share, so that nobody needs to, and keeps a node ID from ever being used
// twice for one millisecond: after restarts and crashes, whatever clocks show and however
// long a process is stopped.
//
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU160, NodeBits: 8})
//	g, err := scru160.NewGenerator(scru160.Options{Lease: l})
//
// See [Options.Lease] for what changes. Generators that share one lease share its
// milliseconds: each takes the next one that no other has taken. So they run ahead of the
// clock: eight of them, each busy in every millisecond, by up to 7 ms. Where IDs must not
// be ahead of the clock, share a generator, or give each its own lease.
//
// # Order
//
// The IDs of one generator strictly increase, over all goroutines that share it, while
// the clock does not go back by more than the allowance, 10 seconds unless configured.
// Within the allowance a generator goes on with its last timestamp. Further back, the
// policy decides: by default it starts afresh at the clock's time, out of order. On a lease
// it never does.
//
// A small step back of the clock can block a generator: if it has used up the counter of
// its last timestamp, it waits until the clock has passed that timestamp, which takes as
// long as the step was, up to the allowance. A program that cannot wait passes a context
// with a deadline, sets a smaller allowance, or extends the counter.
//
// When the timestamp moves on, the counter starts at a random number with its top bit
// clear, and goes up by one with each ID until the next millisecond, which therefore has
// room for at least 32,769 IDs. A generator that has used them up waits for the next
// millisecond, and does not run ahead of the clock: the timestamp is the Unix time. Only
// a program that does nothing but make IDs will notice. A negative CounterWidth doubles the
// room, and an extension by k bits makes it 2^k times as large.
//
// IDs of different generators sort by the millisecond, with [Options.Microseconds] by the
// microsecond, as far as their clocks agree.
//
// # Uniqueness
//
// The IDs of one generator are all different while it keeps their order. IDs of
// different generators, and those before and after a reset, can only be the same within
// one millisecond, and then any two are with a chance of 1 in 2^111: 15 random bits of
// the counter's start and 96 of random16 and random80. Extending the counter leaves it
// so. Each bit less of [Options.CounterWidth] takes one away, a node ID as many as it has
// (between generators of the same node ID; others never make the same ID), and
// [Options.Microseconds] ten, but only IDs of one microsecond then count.
//
// On leases of one realm and one store, with one counter extension for all, no two IDs are
// the same, and that does not rest on random bits.
//
// Random bits come from ChaCha8, a cryptographically strong generator, seeded from the
// operating system at least once in each second of use.
//
// # Concurrency
//
// Everything here is safe for concurrent use. All goroutines may share one generator, as
// they do with New: one lock, held for a few nanoseconds, and one order over all IDs. On
// many busy cores that lock is what they wait for; a generator for each goroutine has no
// such limit, takes about a kilobyte each, orders only the IDs of its goroutine, and
// rests on randomness for uniqueness between them.
//
// # Source
//
// The format is that of "SCRU160: Sortable, Clock and Random number-based Unique
// identifier", Specification v0.1.0 of 2021-09-24; the document gives no address of its own.
// The rules that are not the document's but this package's own:
//
//   - a generator whose counter is full waits for the next tick;
//   - bits of a node ID follow those of the counter extension in random16;
//   - the allowance and the policies for a clock that goes back;
//   - node IDs from leases.
package scru160
