// Package euid makes and reads EUIDs, Extendable Universally Unique Identifiers, draft 3: 128
// bits that sort by time and need no coordination. Import it if IDs carry a small number of
// your own, or if people type them: the text detects typing errors.
//
//	id := euid.New()
//	fmt.Println(id, id.Time())   // C8EE934SR007G5Q94QKKXFRFV8B 2023-05-31 ...
//	id, err := euid.Parse(text)
//
// An ID has five fields, big-endian: timestamp (42 bits, Unix milliseconds until 2109-05-15),
// random bits and the extension (together 15), the extension's length (4), version (3) and
// random (64). No timestamp is reserved.
//
// The text is the 128-bit number and its remainder modulo 127, as 27 symbols of Crockford's
// Base32. Texts sort as IDs do. Parsing ignores case, and takes O for 0, and I and L for 1. One
// wrong symbol, or two neighbors swapped, always give [sortid.ErrCheck]. [UUID] is the same ID
// in the form of a UUID, and [Bytes] stores 16 bytes; neither has a check value.
//
// An extension is a number that a generator puts into its IDs, such as a shard. Unless you set
// its length, it takes as many bits as the number needs. It is in front of the bits that keep
// the order, so it belongs to a generator:
//
//	orders, err := euid.NewGenerator(euid.Options{Extension: 7, ExtensionLength: 6})
//	id, err := orders.Generate()
//	value, ok := id.Extension()  // 7, true
//
// # Promises
//
// The IDs of one generator strictly increase, unless the clock goes back by more than the
// allowance, 10 seconds by default. Then the policy decides; by default the generator starts
// again, out of order. IDs of different generators sort by the millisecond.
//
// Two IDs of different generators, or from before and after a reset, are equal with a chance of
// 1 in 2^79, and only in the same millisecond. An extension uses some of these bits. Random
// bits come from ChaCha8, seeded by the operating system in each second of use.
//
// Within a millisecond, the high 32 bits of random count up from a random start. With a chance
// of n in 2^32 for n IDs they run out. Then Generate fails with [sortid.ErrOverflow] until
// the next millisecond, and [New] waits for it. Everything is safe for concurrent use.
//
// # Source
//
// "Extendable Universally Unique Identifier", DRAFT#3, without date or address. Later drafts
// are another format. This package's own rules:
//
//   - Version bits 0 mean version 1, and other versions parse.
//   - An extension takes as many bits as its value has, or the given length.
//   - The allowance, and the policies for a clock that goes back.
package euid
