// Package scru64 makes, reads and writes SCRU64 IDs: time-sortable IDs of 62 bits that
// fit an int64 and a text of 12 characters, and are unique because each generator has a
// node ID of its own.
//
//	$ SCRU64_NODE_SPEC=42/8 ./program     # node ID 42, of 8 bits
//
//	id, err := scru64.New()               // 0u375nxqh5cq
//	s := id.String()                      // 12 characters that sort by time
//	id, err = scru64.Parse(s)
//	t := id.Time()                        // the 256 ms in which it was made
//
// Choose it where keys must be 64-bit integers and node IDs can be assigned. Without
// node IDs there is no uniqueness: then use a format of 128 or 160 bits.
//
// # Layout
//
// An ID is the integer
//
//	timestamp * 2^24 + node_id * 2^(24 - node_id_size) + counter
//
//	field      bits               what
//	timestamp  the high 40        Unix milliseconds / 256: 0 to 282429536480, until the year 4261
//	node_id    node_id_size       the generator's own in its realm
//	counter    24 - node_id_size  + 1 for each ID of a tick
//
// It is below 36^12 = 4738381338321616896. The node_id_size is 1 to 23 bits, and each
// realm, the scope in which IDs must be unique, is free to choose it. The ID does not
// contain it: [ID.NodeID] and [ID.Counter] must be told, [ID.NodeCtr] gives the 24 bits
// undivided.
//
// The timestamps 0 and 282429536480 are reserved. IDs that have them parse, for they
// serve as dummies and bounds, as the zero ID and [Max] do, but no generator makes them.
//
// # Encodings
//
// The text is the integer in Base36: 12 digits 0-9a-z, written in lower case, read in
// either. Texts sort as the integers do, and both sort by time. The binary form is the
// integer's 8 bytes, big-endian. Text is what JSON and all else that knows
// [encoding.TextMarshaler] use, so that JavaScript, whose numbers end at 2^53, loses
// nothing. A database gets an int64 for a bigint column, or with the type [Text] the
// text; [ID.Scan] reads an integer, 12 characters or 8 bytes. To find the IDs of a time
// range in an index:
//
//	SELECT ... WHERE id >= $1 AND id < $2     -- First(from), First(to)
//
// # Node specs
//
// A generator needs a [NodeSpec]: 42/8, 0xb00/12, or 0u2r85hm2pt3/16, which continues
// after that ID. The process-wide generator, that of [New] and [NewString], takes it from
// the environment variable SCRU64_NODE_SPEC at its first use. If that is unset or invalid, New
// fails with [ErrNodeSpec] and says what to set. Other generators are given it:
//
//	spec, err := scru64.NewNodeSpec(42, 8)
//	g, err := scru64.NewGenerator(scru64.Options{NodeSpec: spec})
//	id, err := g.Generate()
//	err = g.Fill(ids)                     // many, with one reading of the clock for 4096
//
// The larger the size, the more nodes there may be and the fewer IDs a node can make in
// 256 ms: 2^(24 - size), of which a random start leaves half on average. Sizes may be
// mixed in one realm, few bits for busy nodes and many for idle ones, as long as no
// shorter node ID is the beginning of a longer one, in bits. So 0/1 (bit 0), 2/2 (10),
// 6/3 (110) and 7/3 (111) may go together; 1/1 and 2/2 may not, for 10 begins with 1.
//
// A node ID says nothing about who made an ID: it may have belonged to another process
// at another time, and may belong to yet another one later.
//
// # Leases
//
// Package lease assigns node IDs from a store that all processes share, so that nobody
// needs to, and keeps a node ID from ever being used twice for one tick: after restarts and
// crashes, whatever clocks show and however long a process is stopped.
//
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU64, NodeBits: 8})
//	g, err := scru64.NewGenerator(scru64.Options{Lease: l})
//
// See [Options.Lease] for what changes. Generators that share one lease share its ticks:
// each takes the next one that no other has taken, so they run ahead of the clock, eight
// of them by up to 7 ticks of 256 ms.
//
// # Uniqueness and order
//
// The IDs of a generator strictly increase. The IDs of a realm are all different if
//
//   - no two generators have the same node ID at the same time, or mixed sizes of which
//     one is the beginning of the other: two in one process are no exception;
//   - a generator that takes over a node ID starts after the last ID that was made with
//     it. [NodeSpecAfter] and that ID make sure of this, whatever the clock shows. Without
//     the ID, and as a timestamp may be ahead of the clock by the allowance, let more time
//     than that pass in between;
//   - no generator has the policy [sortid.RollbackReset].
//
// On leases of one realm and one store all of this holds by itself.
//
// Nothing in an ID is secret: the counter counts. Its random start is there to make a
// node ID assigned twice by mistake less harmful, so it takes no strong entropy, although
// by default that is what it gets.
//
// # Overflow and rollback
//
// When the counter is full the generator does not wait: it adds one to the timestamp and
// starts the counter again. The timestamp is then ahead of the clock, and that counts as
// a clock that has gone back: up to the allowance, 10 s by default and in whole ticks,
// the generator goes on with the last timestamp; beyond, its policy decides.
// [sortid.RollbackAbort], the default, fails with [sortid.ErrClockRollback] until the clock
// has caught up, [sortid.RollbackWait] blocks, and [sortid.RollbackReset] starts afresh at the clock's time, WHICH CAN DUPLICATE IDS.
//
// To let a tick hold a certain number of IDs, [Options.OverflowGuard] starts the
// counter lower: its guard bits are zero at first. From a node_id_size of 20 on one guard bit is
// the default, since a counter of four bits or fewer would often start full or nearly so.
//
// # Cost
//
// A generator is safe for concurrent use, and as each needs a node ID, a process usually
// has one. Within a tick an ID costs a lock, a cheap look at the clock and an addition;
// it allocates nothing. Goroutines on many cores that contend for the lock do better with
// [Generator.Fill], or with a generator and a node ID each.
//
// # Source
//
// The format is that of "SCRU64: Sortable, Clock-based, Realm-specifically Unique
// identifier", https://github.com/scru64/spec, in the version that calls itself
// "Specification (work in progress)" and bears neither a number nor a date. The rules that
// are newer than that version, from later ones of the same document:
//
//   - the reserved timestamps 0 and 282429536480;
//   - a full counter adds one to the timestamp, and the lead counts as a rollback;
//   - one guard bit by default from a node_id_size of 20 on;
//   - node specs and the environment variable SCRU64_NODE_SPEC;
//   - node IDs of mixed sizes in one realm.
//
// The rules that are this package's own:
//
//   - the allowance counts in whole ticks, 39 by default;
//   - in a node spec, an ID of 12 digits with timestamp 0 gives the node ID and nothing to
//     continue, 0x is in lower case, and the size has one or two digits;
//   - a conversion such as ID(v) is not checked; with a v above Max the marshalling methods
//     fail;
//   - node IDs from leases.
package scru64
