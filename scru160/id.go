package scru160

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/parseerr"
)

// Size is the size of an ID in bytes.
const Size = 20

// The largest value of each field; random80 has 80 bits of any value.
const (
	MaxTimestamp = 1<<48 - 1
	MaxCounter   = 1<<16 - 1
	MaxRandom16  = 1<<16 - 1
)

// An ID is a SCRU160 ID: a 160-bit unsigned integer in big-endian byte order.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       timestamp, high 32                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       timestamp, low 16       |            counter            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            random16           |        random80, high 16      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      random80, middle 32                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        random80, low 32                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// IDs are immutable, and comparable with ==. The bytes and each of the two texts sort by time. The
// zero ID has the reserved timestamp 0. No generator makes it, so it can mean "none".
type ID [Size]byte

// Max is the largest ID. Its timestamp is reserved: no generator makes it.
var Max = ID{
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
}

// FromFields returns the ID with these fields. It returns [sortid.ErrField] if timestamp has more
// than 48 bits.
func FromFields(timestamp uint64, counter, random16 uint16, random80 [10]byte) (id ID, err error) {
	if timestamp > MaxTimestamp {
		return ID{}, parseerr.Field(name, "timestamp", timestamp, MaxTimestamp)
	}
	mid := uint64(random16)<<48 | uint64(binary.BigEndian.Uint16(random80[0:]))<<32 |
		uint64(binary.BigEndian.Uint32(random80[2:]))
	id.put(timestamp<<16|uint64(counter), mid, binary.BigEndian.Uint32(random80[6:]))
	return id, nil
}

// put sets the ID to its bits from high to low: 64, 64 and 32.
func (id *ID) put(hi, mid uint64, lo uint32) {
	binary.BigEndian.PutUint64(id[0:8], hi)
	binary.BigEndian.PutUint64(id[8:16], mid)
	binary.BigEndian.PutUint32(id[16:20], lo)
}

// FromBytes returns the ID of 20 bytes in big-endian order. Other lengths give a
// [sortid.ParseError].
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, parseerr.Binary(name, len(b), sortid.ErrBinaryLength, "20")
	}
	return ID(b), nil
}

// Bytes returns the ID's 20 bytes in big-endian order.
func (id ID) Bytes() []byte { return id[:] }

// Timestamp returns the timestamp field: Unix time in milliseconds.
func (id ID) Timestamp() uint64 { return binary.BigEndian.Uint64(id[:8]) >> 16 }

// Counter returns the counter field, of 16 bits.
func (id ID) Counter() uint16 { return binary.BigEndian.Uint16(id[6:8]) }

// Random16 returns the 16-bit random16 field. It is random, unless the generator extends the
// counter or puts a node ID there.
func (id ID) Random16() uint16 { return binary.BigEndian.Uint16(id[8:10]) }

// Random80 returns the random80 field, of 80 bits in big-endian order.
func (id ID) Random80() [10]byte { return [10]byte(id[10:]) }

// Micros returns the high 10 bits of the counter. Only if the ID's generator used
// [Options.Microseconds], they are the microseconds after Time, 0 to 999.
func (id ID) Micros() int { return int(id.Counter() >> 6) }

// CounterLow returns the low 6 bits of the counter. Only if the ID's generator used
// [Options.Microseconds], they count IDs within the microsecond.
func (id ID) CounterLow() int { return int(id.Counter() & 63) }

// Time returns the time of the timestamp, in UTC, to the millisecond.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id.Timestamp())).UTC() }

// Compare returns -1, 0 or +1 if id sorts before, with or after other: by time, and within a
// generator in the order of generation.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == ID{} }

// First returns the smallest ID of t's millisecond. So the IDs from time a up to but not including
// time b, in whole milliseconds, are [First(a), First(b)). A time before 1970 gives the zero ID, a
// time after the last timestamp gives [Max].
func First(t time.Time) (id ID) {
	switch ms := clock.UnixMilli(t); {
	case ms < 0:
		return ID{}
	case ms > MaxTimestamp:
		return Max
	default:
		id.put(uint64(ms)<<16, 0, 0)
		return id
	}
}
