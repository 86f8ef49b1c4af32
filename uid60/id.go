package uid60

import (
	"cmp"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/parseerr"
)

// Size is the size of an ID's binary form in bytes.
const Size = 8

// The largest value of each field.
const (
	MaxTimestamp = 1<<42 - 1 // in the year 2157
	MaxSequence  = 1<<9 - 1
	MaxRandom    = 1<<9 - 1
)

const (
	sequenceShift  = 9
	timestampShift = 18

	// epoch is 2018-03-01T00:00:00Z in Unix milliseconds.
	epoch = 1_519_862_400_000
)

// An ID is a uid60: an unsigned integer below 2^60.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|0 0 0 0|                  timestamp, high 28                   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|     timestamp, low 14     |     sequence    |      random     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// A generator's worker ID, if any, is the high bits of random.
//
// IDs are immutable, and comparable with ==. The integers sort by time, the texts do not. The zero
// ID has timestamp 0. No generator makes it, so it can mean "none". A conversion ID(v) does not
// check v: if v is above [Max], the marshalling methods return [sortid.ErrRange]. [FromUint64]
// checks.
type ID uint64

// Max is the largest ID. No generator uses its timestamp.
const Max ID = 1<<60 - 1

// FromFields returns the ID with these fields; timestamp is in milliseconds since
// 2018-03-01T00:00:00Z. It returns [sortid.ErrField] if a value does not fit its field: 42, 9 and
// 9 bits.
func FromFields(timestamp uint64, sequence, random uint16) (ID, error) {
	switch {
	case timestamp > MaxTimestamp:
		return 0, parseerr.Field(name, "timestamp", timestamp, MaxTimestamp)
	case sequence > MaxSequence:
		return 0, parseerr.Field(name, "sequence", uint64(sequence), MaxSequence)
	case random > MaxRandom:
		return 0, parseerr.Field(name, "random", uint64(random), MaxRandom)
	}
	return ID(timestamp<<timestampShift | uint64(sequence)<<sequenceShift | uint64(random)), nil
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

// Timestamp returns the timestamp field: milliseconds since 2018-03-01T00:00:00Z.
func (id ID) Timestamp() uint64 { return uint64(id) >> timestampShift }

// Sequence returns the sequence field, of 9 bits.
func (id ID) Sequence() uint16 { return uint16(id>>sequenceShift) & MaxSequence }

// Random returns the random field, of 9 bits, with the worker ID if there is one.
func (id ID) Random() uint16 { return uint16(id) & MaxRandom }

// Worker returns the worker ID, given its size in bits: 1 to 9. The ID does not tell whether it
// has one. A smaller size counts as 0, which leaves no worker ID; a larger one counts as 9.
func (id ID) Worker(bits int) uint16 {
	return id.Random() >> (sequenceShift - min(max(bits, 0), sequenceShift))
}

// Time returns the time of the timestamp, in UTC, to the millisecond.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id.Timestamp()) + epoch).UTC() }

// Compare returns -1, 0 or +1 if id sorts before, with or after other: by time, and within a
// generator in the order of generation.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == 0 }

// First returns the smallest ID of t's millisecond. So the IDs from time a up to but not including
// time b, in whole milliseconds, are [First(a), First(b)), as integers. A time before 2018-03-01
// gives the zero ID, a time after the last timestamp gives [Max].
func First(t time.Time) ID {
	switch ms := clock.UnixMilli(t) - epoch; {
	case ms < 0:
		return 0
	case ms > MaxTimestamp:
		return Max
	default:
		return ID(ms << timestampShift)
	}
}
