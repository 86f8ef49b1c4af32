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

// The largest value of each field. The 80 bits of random80 may have any value.
const (
	MaxTimestamp = 1<<48 - 1
	MaxCounter   = 1<<16 - 1
	MaxRandom16  = 1<<16 - 1
)

// An ID is a SCRU160 ID: a 160-bit big-endian integer. Its bits, from the highest:
//
//	timestamp 48 | counter 16 | random16 16 | random80 80
//
// The timestamp counts Unix milliseconds until the year 10889. The timestamps 0 and [MaxTimestamp]
// are reserved: no generator uses them, but IDs with these timestamps parse. So the zero ID can
// mean "none".
//
// IDs are comparable with ==. The bytes and each of the two texts sort by time.
type ID [Size]byte

// Max returns the largest ID.
func Max() ID {
	return ID{
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	}
}

// FromFields returns the ID with these fields, or [sortid.ErrField] if timestamp has more than 48
// bits.
func FromFields(timestamp uint64, counter, random16 uint16, random80 [10]byte) (id ID, err error) {
	if timestamp > MaxTimestamp {
		return ID{}, parseerr.Field(name, "timestamp", timestamp, MaxTimestamp)
	}
	mid := uint64(random16)<<48 | uint64(binary.BigEndian.Uint16(random80[0:]))<<32 |
		uint64(binary.BigEndian.Uint32(random80[2:]))
	id.put(timestamp<<16|uint64(counter), mid, binary.BigEndian.Uint32(random80[6:]))
	return id, nil
}

func (id *ID) put(hi, mid uint64, lo uint32) {
	binary.BigEndian.PutUint64(id[0:8], hi)
	binary.BigEndian.PutUint64(id[8:16], mid)
	binary.BigEndian.PutUint32(id[16:20], lo)
}

// FromBytes returns the ID with these 20 bytes, or a [*sortid.ParseError].
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, parseerr.Binary(name, len(b), sortid.ErrBinaryLength, "20")
	}
	return ID(b), nil
}

// Bytes returns the ID's 20 bytes.
func (id ID) Bytes() []byte { return id[:] }

// Timestamp returns the Unix time in milliseconds.
func (id ID) Timestamp() uint64 { return binary.BigEndian.Uint64(id[:8]) >> 16 }

// Counter returns the field counter.
func (id ID) Counter() uint16 { return binary.BigEndian.Uint16(id[6:8]) }

// Random16 returns the field random16. With [Options.CounterExtension] or a node ID, not all its
// bits are random.
func (id ID) Random16() uint16 { return binary.BigEndian.Uint16(id[8:10]) }

// Random80 returns the field random80.
func (id ID) Random80() [10]byte { return [10]byte(id[10:]) }

// Micros returns the high 10 bits of the counter. If the generator used [Options.Microseconds],
// they are the microseconds after [ID.Time], 0 to 999.
func (id ID) Micros() int { return int(id.Counter() >> 6) }

// CounterLow returns the low 6 bits of the counter. With [Options.Microseconds] they count the IDs
// within a microsecond.
func (id ID) CounterLow() int { return int(id.Counter() & 63) }

// Time returns the time of the timestamp, in UTC, to the millisecond.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id.Timestamp())).UTC() }

// Compare returns -1 if id sorts before the other ID, 0 if both are equal, and +1 otherwise.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// Equal reports whether both IDs are equal, as == does. Package go-cmp calls it.
func (id ID) Equal(other ID) bool { return id == other }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == ID{} }

// First returns the smallest ID of t's millisecond. It returns the zero ID before 1970, and [Max]
// after the last timestamp.
func First(t time.Time) (id ID) {
	switch ms := clock.UnixMilli(t); {
	case ms < 0:
		return ID{}
	case ms > MaxTimestamp:
		return Max()
	default:
		id.put(uint64(ms)<<16, 0, 0)
		return id
	}
}
