// Package euid makes and reads EUIDs, Extendable Universally Unique Identifiers, as
// draft 3 describes them: 128-bit unique IDs that sort by the time of their generation,
// need no coordination, carry up to 15 bits of the user's own, and have a text that
// tells when it was mistyped.
//
//	id := euid.New()
//	fmt.Println(id, id.Time())   // C8EE934SR007G5Q94QKKXFRFV8B 2023-05-31 ...
//	id, err := euid.Parse(text)
//
// # Layout
//
// An ID is five fields in 128 bits, big-endian; see the diagram at [ID].
//
//	timestamp              42 bits   Unix time in milliseconds, until 2109-05-15
//	random-and-extension   15 bits   the extension in the low bits, random bits above it
//	extension length        4 bits   0 to 15
//	version                 3 bits   0, which means version 1
//	random                 64 bits
//
// The draft does not say how version 1 is written; here bits of 0 mean version 1. That
// is the only version that a generator makes; an ID with other bits parses, and
// [ID.Version] reports it. Later drafts of EUID gave up the version for a wider
// timestamp: theirs are another format, which this package does not read.
//
// No timestamp is reserved.
//
// # Text
//
// The text is the 128-bit number and behind it, in 7 bits, its remainder modulo 127:
// 135 bits, as 27 symbols of Crockford's Base32 (digits and capital letters without I,
// L, O and U). Texts sort as the IDs do. Reading ignores case and takes O for 0, and I
// and L for 1, but forgives no space and no hyphen.
//
// A text of another length is [sortid.ErrLength], one with a character that is no symbol
// is [sortid.ErrSymbol] with the offset, and one whose check value does not fit is
// [sortid.ErrCheck]. Any one wrong symbol and any two neighbours swapped are found for certain.
//
// [UUID] is the same ID in the form of a UUID, for a database's native uuid type, and
// [Bytes] stores the 16 bytes. These have no check value.
//
// # Extension
//
// An extension is a number that the generator's user attaches to its IDs, such as the
// kind of thing that an ID stands for, or a shard. [Options]
// has it, and [ID.Extension] reads it.
//
//	orders, err := euid.NewGenerator(euid.Options{Extension: 7, ExtensionLength: 6})
//	id, err := orders.Generate()
//	value, ok := id.Extension()  // 7, true
//
// The draft does not say in how many bits a value goes. Without a stated length it
// is as many as the value has, so that the most random bits are left, and attaching 0 is attaching
// nothing.
//
// It belongs to a generator and not to single IDs because it stands in front of the
// bits that keep IDs of one millisecond in order: IDs of different extensions cannot be
// in order of generation.
//
// # Generation
//
// [New] never fails; see there for its only panic, at an impossible clock. A generator
// of your own takes, besides an extension, the [sortid.GeneratorOptions].
//
// # Order
//
// The IDs of one generator strictly increase, over all goroutines that share it, while
// the clock does not go back by more than the allowance, 10 seconds unless configured.
// Within the allowance a generator goes on with its last timestamp. Further back, the
// policy decides: by default it starts afresh at the clock's time, out of order.
//
// In each new millisecond all random bits are new. Within one, the high 32 bits of
// random go up by one with each ID, the low 32 are new, and the other bits stay. The
// high 32 start anywhere, so there is a chance that they are used up before the
// millisecond ends: n in 2^32 for n IDs in it. Generate and Fill then fail, as the draft
// asks, with [sortid.ErrOverflow], and succeed again in the next millisecond. New waits for that
// instead.
//
// IDs of different generators sort by the millisecond, as far as their clocks agree.
//
// # Uniqueness
//
// The IDs of one generator are all different while it keeps their order. IDs of
// different generators, and those before and after a reset, can only be the same within
// one millisecond and with the same extension, and then any two are with a chance of 1
// in 2^79: 64 random bits and 15 in the header, of which an extension takes as many as
// it has.
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
// The format is that of "Extendable Universally Unique Identifier", DRAFT#3; the document
// bears neither a date nor an address. The rules that are not the document's but this
// package's own:
//
//   - version bits 0 mean version 1, and other versions parse;
//   - an extension takes as many bits as its value has, or as many as are stated;
//   - the allowance and the policies for a clock that goes back.
package euid
