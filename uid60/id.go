package uid60

import (
	"cmp"
	"time"

	"github.com/sortid/sortid/internal/clock"
	"github.com/sortid/sortid/internal/parseerr"
)

// Size is the length of an ID's binary form in bytes.
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

// An ID is a uid60: an integer below 2^60. Its bits, from the highest:
//
//	0000 | timestamp 42 | sequence 9 | random 9
//
// The timestamp counts milliseconds from 2018-03-01T00:00:00Z to 2157-07-13. The timestamps 0 and
// [MaxTimestamp] are reserved: no generator uses them, but IDs with these timestamps parse. So the
// zero ID can mean "none".
//
// IDs are comparable with ==. Integers sort by time, texts do not. The conversion ID(v) does not
// check v. If v is above [Max], String returns a message that does not parse, and methods with an
// error result return [sortid.ErrRange].
type ID uint64

// Max returns the largest ID.
func Max() ID { return maxID }

const maxID = 1<<60 - 1

// FromFields returns the ID with these fields, or [sortid.ErrField] if a value does not fit its
// field.
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

// FromUint64 returns the ID with the integer v, or a [*sortid.ParseError] if v is above [Max].
func FromUint64(v uint64) (ID, error) {
	if v > maxID {
		return 0, parseerr.Integer(name, v, integers)
	}
	return ID(v), nil
}

// Uint64 returns the ID as an integer, which also fits an int64.
func (id ID) Uint64() uint64 { return uint64(id) }

// Timestamp returns the milliseconds since 2018-03-01T00:00:00Z.
func (id ID) Timestamp() uint64 { return uint64(id) >> timestampShift }

// Sequence returns the field sequence.
func (id ID) Sequence() uint16 { return uint16(id>>sequenceShift) & MaxSequence }

// Random returns the field random, with the worker ID if there is one.
func (id ID) Random() uint16 { return uint16(id) & MaxRandom }

// Worker returns the worker ID, which has the given number of bits. The ID does not show whether it
// has a worker ID. A number below 0 counts as 0, and a number above 9 as 9.
func (id ID) Worker(bits int) uint16 {
	return id.Random() >> (sequenceShift - min(max(bits, 0), sequenceShift))
}

// Time returns the time of the timestamp, in UTC.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id.Timestamp()) + epoch).UTC() }

// Compare returns -1 if id sorts before the other ID, 0 if both are equal, and +1 otherwise.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// Equal reports whether both IDs are equal, as == does. Package go-cmp calls it.
func (id ID) Equal(other ID) bool { return id == other }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == 0 }

// First returns the smallest ID of t's millisecond. It returns the zero ID before 2018-03-01, and
// [Max] after the last timestamp.
func First(t time.Time) ID {
	switch ms := clock.UnixMilli(t) - epoch; {
	case ms < 0:
		return 0
	case ms > MaxTimestamp:
		return maxID
	default:
		return ID(ms << timestampShift)
	}
}
