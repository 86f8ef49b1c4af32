package scru64

import (
	"cmp"
	"time"

	"github.com/sortid/sortid/internal/base36"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/parseerr"
)

// Size is the size of an ID's binary form in bytes.
const Size = 8

// The largest value of each field.
const (
	MaxTimestamp = base36.Limit62>>nodeCtrBits - 1 // 282429536480, in the year 4261
	MaxNodeCtr   = 1<<nodeCtrBits - 1
)

const (
	nodeCtrBits = 24 // shared by node ID and counter
	tickBits    = 8  // the bits of a Unix time in milliseconds below the timestamp
)

// Tick is the length of a tick, the unit of the timestamp.
const Tick = 256 * time.Millisecond

// An ID is a SCRU64 ID: an unsigned integer below 36^12, which is a little over 2^62.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       timestamp, high 32                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|timestamp, lo 8|        node_id        :        counter        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// The node_id is the node_id_size high bits, 1 to 23, of the 24 that it shares with the counter.
// The ID does not tell its node_id_size.
//
// IDs are immutable, and comparable with ==. The integers and the texts both sort by time. The
// zero ID has the reserved timestamp 0. No generator makes it, so it can mean "none". A conversion
// ID(v) does not check v: if v is above [Max], the marshalling methods return [sortid.ErrRange].
// [FromUint64] checks.
type ID uint64

// Max is the largest ID. Its timestamp is reserved: no generator makes it.
const Max ID = base36.Limit62 - 1

// FromFields returns the ID of a timestamp, in units of 256 ms, and of node ID and counter as one
// integer of 24 bits. It returns [sortid.ErrField] if the timestamp is above [MaxTimestamp] or
// nodeCtr is above [MaxNodeCtr].
func FromFields(timestamp uint64, nodeCtr uint32) (ID, error) {
	switch {
	case timestamp > MaxTimestamp:
		return 0, parseerr.Field(name, "timestamp", timestamp, MaxTimestamp)
	case nodeCtr > MaxNodeCtr:
		return 0, parseerr.Field(name, "node_ctr", uint64(nodeCtr), MaxNodeCtr)
	}
	return ID(timestamp<<nodeCtrBits | uint64(nodeCtr)), nil
}

// FromUint64 returns the ID of an integer, or a [sortid.ParseError] if it is above [Max].
func FromUint64(v uint64) (ID, error) {
	if v > uint64(Max) {
		return 0, parseerr.Integer(name, v, integers)
	}
	return ID(v), nil
}

// Uint64 returns the ID as an integer. It also fits an int64.
func (id ID) Uint64() uint64 { return uint64(id) }

// Timestamp returns the timestamp field: Unix time in units of 256 ms.
func (id ID) Timestamp() uint64 { return uint64(id) >> nodeCtrBits }

// NodeCtr returns the node ID and the counter, together 24 bits.
func (id ID) NodeCtr() uint32 { return uint32(id) & MaxNodeCtr }

// NodeID returns the node_id, given its size in bits: 1 to 23. A smaller size counts as 0, which
// leaves no node ID; a larger one counts as 24, which leaves no counter.
func (id ID) NodeID(size int) uint32 { return id.NodeCtr() >> counterBits(size) }

// Counter returns the counter, given the size of the node ID as for [ID.NodeID].
func (id ID) Counter(size int) uint32 { return uint32(id) & (1<<counterBits(size) - 1) }

// counterBits returns the counter's size, given the node ID's.
func counterBits(size int) int { return nodeCtrBits - min(max(size, 0), nodeCtrBits) }

// Time returns the start of the timestamp's 256 ms, in UTC.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id.Timestamp() << tickBits)).UTC() }

// Compare returns -1, 0 or +1 if id sorts before, with or after other: by time, then by node ID,
// and within a generator in the order of generation.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == 0 }

// First returns the smallest ID of t's tick of 256 ms. So the IDs from time a up to but not
// including time b, in whole ticks, are [First(a), First(b)). A time before 1970 gives the zero
// ID, a time after the last timestamp gives [Max].
func First(t time.Time) ID {
	switch tick := clock.UnixMilli(t) >> tickBits; {
	case tick < 0:
		return 0
	case tick > MaxTimestamp:
		return Max
	default:
		return ID(tick << nodeCtrBits)
	}
}
