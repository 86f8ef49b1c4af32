package scru128

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/parseerr"
)

// Size is the size of an ID in bytes.
const Size = 16

// The largest value of each field.
const (
	MaxTimestamp = 1<<48 - 1
	MaxCounterHi = 1<<24 - 1
	MaxCounterLo = 1<<24 - 1
	MaxEntropy   = 1<<32 - 1
)

// An ID is a SCRU128 ID: a 128-bit big-endian integer. Its bits, from the highest:
//
//	timestamp 48 | counter_hi 24 | counter_lo 24 | entropy 32
//
// The timestamp counts Unix milliseconds until the year 10889. The timestamps 0 and [MaxTimestamp]
// are reserved: no generator uses them, but IDs with these timestamps parse. So the zero ID can
// mean "none".
//
// IDs are comparable with ==. Integers, bytes and texts all sort by time.
type ID [Size]byte

// Max returns the largest ID.
func Max() ID {
	return ID{
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	}
}

// FromFields returns the ID with these fields, or [sortid.ErrField] if a value does not fit its
// field.
func FromFields(timestamp uint64, counterHi, counterLo, entropy uint32) (ID, error) {
	switch {
	case timestamp > MaxTimestamp:
		return ID{}, parseerr.Field(name, "timestamp", timestamp, MaxTimestamp)
	case counterHi > MaxCounterHi:
		return ID{}, parseerr.Field(name, "counter_hi", uint64(counterHi), MaxCounterHi)
	case counterLo > MaxCounterLo:
		return ID{}, parseerr.Field(name, "counter_lo", uint64(counterLo), MaxCounterLo)
	}
	return pack(timestamp, uint64(counterHi)<<24|uint64(counterLo), entropy), nil
}

// pack returns the ID with these fields. The parameter counter is counter_hi and counter_lo.
func pack(timestamp, counter uint64, entropy uint32) ID {
	return FromUint128(timestamp<<16|counter>>32, counter<<32|uint64(entropy))
}

// put sets the ID. A function that returns the ID would be slower: its caller would copy the ID,
// and the copy would wait for both writes.
func (id *ID) put(hi, lo uint64) {
	binary.BigEndian.PutUint64(id[:8], hi)
	binary.BigEndian.PutUint64(id[8:], lo)
}

// FromBytes returns the ID with these 16 bytes, or a [*sortid.ParseError].
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, parseerr.Binary(name, len(b), sortid.ErrBinaryLength, "16")
	}
	return ID(b), nil
}

// FromUint128 returns the ID hi * 2^64 + lo.
func FromUint128(hi, lo uint64) (id ID) {
	id.put(hi, lo)
	return id
}

// Uint128 returns the ID as hi * 2^64 + lo.
func (id ID) Uint128() (hi, lo uint64) {
	return binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
}

// Bytes returns the ID's 16 bytes.
func (id ID) Bytes() []byte { return id[:] }

// Timestamp returns the Unix time in milliseconds.
func (id ID) Timestamp() uint64 { return binary.BigEndian.Uint64(id[:8]) >> 16 }

// CounterHi returns the field counter_hi.
func (id ID) CounterHi() uint32 { return binary.BigEndian.Uint32(id[5:9]) & MaxCounterHi }

// CounterLo returns the field counter_lo.
func (id ID) CounterLo() uint32 { return binary.BigEndian.Uint32(id[8:12]) & MaxCounterLo }

// Entropy returns the field entropy.
func (id ID) Entropy() uint32 { return binary.BigEndian.Uint32(id[12:]) }

// Time returns the time of the timestamp, in UTC.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id.Timestamp())).UTC() }

// Compare returns -1 if id sorts before the other ID, 0 if both are equal, and +1 otherwise.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// Equal reports whether both IDs are equal, as == does. Package go-cmp calls it.
func (id ID) Equal(other ID) bool { return id == other }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == ID{} }

// First returns the smallest ID of t's millisecond. It returns the zero ID before 1970, and [Max]
// after the last timestamp.
func First(t time.Time) ID {
	switch ms := clock.UnixMilli(t); {
	case ms < 0:
		return ID{}
	case ms > MaxTimestamp:
		return Max()
	default:
		return pack(uint64(ms), 0, 0)
	}
}
