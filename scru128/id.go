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

// An ID is a SCRU128 ID: a 128-bit unsigned integer in big-endian byte order.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       timestamp, high 32                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       timestamp, low 16       |      counter_hi, high 16      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| counter_hi, 8 |                   counter_lo                  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            entropy                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// IDs are immutable, and comparable with ==. The bytes and the text both sort by time. The zero ID
// has the reserved timestamp 0. No generator makes it, so it can mean "none".
type ID [Size]byte

// Max is the largest ID. Its timestamp is reserved: no generator makes it.
var Max = ID{
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
}

// FromFields returns the ID with these fields. It returns [sortid.ErrField] if a value does not
// fit its field: 48, 24, 24 and 32 bits.
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

// pack builds an ID, given counter_hi and counter_lo as one integer of 48 bits.
func pack(timestamp, counter uint64, entropy uint32) ID {
	return FromUint128(timestamp<<16|counter>>32, counter<<32|uint64(entropy))
}

// put writes the two halves to their places. If it returned an ID, the caller would copy that at
// once, and the copy would wait for both writes.
func (id *ID) put(hi, lo uint64) {
	binary.BigEndian.PutUint64(id[:8], hi)
	binary.BigEndian.PutUint64(id[8:], lo)
}

// FromBytes returns the ID of 16 bytes in big-endian order, or a [sortid.ParseError].
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, parseerr.Binary(name, len(b), sortid.ErrBinaryLength, "16")
	}
	return ID(b), nil
}

// FromUint128 returns the ID of the integer hi * 2^64 + lo. Every such integer is an ID.
func FromUint128(hi, lo uint64) (id ID) {
	id.put(hi, lo)
	return id
}

// Uint128 returns the ID as the integer hi * 2^64 + lo.
func (id ID) Uint128() (hi, lo uint64) {
	return binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
}

// Bytes returns the ID's 16 bytes in big-endian order.
func (id ID) Bytes() []byte { return id[:] }

// Timestamp returns the timestamp field: Unix time in milliseconds.
func (id ID) Timestamp() uint64 { return binary.BigEndian.Uint64(id[:8]) >> 16 }

// CounterHi returns the counter_hi field, of 24 bits.
func (id ID) CounterHi() uint32 { return binary.BigEndian.Uint32(id[5:9]) & MaxCounterHi }

// CounterLo returns the counter_lo field, of 24 bits.
func (id ID) CounterLo() uint32 { return binary.BigEndian.Uint32(id[8:12]) & MaxCounterLo }

// Entropy returns the entropy field, of 32 bits.
func (id ID) Entropy() uint32 { return binary.BigEndian.Uint32(id[12:]) }

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
func First(t time.Time) ID {
	switch ms := clock.UnixMilli(t); {
	case ms < 0:
		return ID{}
	case ms > MaxTimestamp:
		return Max
	default:
		return pack(uint64(ms), 0, 0)
	}
}
