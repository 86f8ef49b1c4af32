package scru64

import (
	"cmp"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/textcodec"
)

// Size is the length of an ID's binary form in bytes.
const Size = 8

// The largest value of each field.
const (
	MaxTimestamp = textcodec.Base36Limit>>nodeCtrBits - 1 // 282429536480, in the year 4261
	MaxNodeCtr   = 1<<nodeCtrBits - 1
)

const (
	nodeCtrBits = 24 // shared by node ID and counter
	tickBits    = 8  // a timestamp is a Unix time in milliseconds without its low 8 bits
)

// Tick is the unit of the timestamp.
const Tick = 256 * time.Millisecond

// An ID is a SCRU64 ID: an integer below 36^12, which is a little above 2^62. Its bits, from the
// highest:
//
//	timestamp 40 | node_id n | counter 24-n
//
// The timestamp counts ticks of 256 ms from 1970 to 4261. The node_id_size n, 1 to 23, is not in
// the ID. The timestamps 0 and [MaxTimestamp] are reserved: no generator uses them, but IDs with
// these timestamps parse. So the zero ID can mean "none".
//
// IDs are comparable with ==. Integers, texts and the 8 big-endian bytes all sort by time. The
// conversion ID(v) does not check v. If v is above [Max], String returns a message that does not
// parse, and methods with an error result return [sortid.ErrRange].
type ID uint64

// Max returns the largest ID.
func Max() ID { return maxID }

const maxID = textcodec.Base36Limit - 1

// FromFields returns the ID with these fields. The parameter nodeCtr is the node ID followed by the
// counter. If a value is above [MaxTimestamp] or [MaxNodeCtr], the error is [sortid.ErrField].
func FromFields(timestamp uint64, nodeCtr uint32) (ID, error) {
	switch {
	case timestamp > MaxTimestamp:
		return 0, parseerr.Field(name, "timestamp", timestamp, MaxTimestamp)
	case nodeCtr > MaxNodeCtr:
		return 0, parseerr.Field(name, "node_ctr", uint64(nodeCtr), MaxNodeCtr)
	}
	return ID(timestamp<<nodeCtrBits | uint64(nodeCtr)), nil
}

// FromUint64 returns the ID with the integer v, or a [*sortid.ParseError] if v is above [Max].
func FromUint64(v uint64) (ID, error) {
	if v > maxID {
		return 0, parseerr.Integer(name, v, integers)
	}
	return ID(v), nil
}

// Uint64 returns the ID as an integer, which also fits an int64.
func (id ID) Uint64() uint64 { return uint64(id) }

// Timestamp returns the Unix time in units of 256 ms.
func (id ID) Timestamp() uint64 { return uint64(id) >> nodeCtrBits }

// NodeCtr returns the node ID and the counter, together 24 bits.
func (id ID) NodeCtr() uint32 { return uint32(id) & MaxNodeCtr }

// NodeID returns the node ID, which has the given number of bits. A number below 0 counts as 0, and
// a number above 24 as 24.
func (id ID) NodeID(size int) uint32 { return id.NodeCtr() >> counterBits(size) }

// Counter returns the counter. The node ID has the given number of bits; see [ID.NodeID].
func (id ID) Counter(size int) uint32 { return uint32(id) & (1<<counterBits(size) - 1) }

func counterBits(size int) int { return nodeCtrBits - min(max(size, 0), nodeCtrBits) }

// Time returns the start of the timestamp's tick, in UTC.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id.Timestamp() << tickBits)).UTC() }

// Compare returns -1 if id sorts before the other ID, 0 if both are equal, and +1 otherwise.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// Equal reports whether both IDs are equal, as == does. Package go-cmp calls it.
func (id ID) Equal(other ID) bool { return id == other }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == 0 }

// First returns the smallest ID of t's tick. It returns the zero ID before 1970, and [Max] after
// the last timestamp.
func First(t time.Time) ID {
	switch tick := clock.UnixMilli(t) >> tickBits; {
	case tick < 0:
		return 0
	case tick > MaxTimestamp:
		return maxID
	default:
		return ID(tick << nodeCtrBits)
	}
}
