package euid

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

// The largest value of each field. The 64 bits of the field random may have any value.
const (
	MaxTimestamp          = 1<<42 - 1
	MaxRandomAndExtension = 1<<15 - 1
	MaxExtensionLength    = 15
	MaxVersionBits        = 7
)

// An ID is an EUID: a 128-bit big-endian integer. Its bits, from the highest:
//
//	timestamp 42 | random_and_extension 15 | extension_length 4 | version 3 | random 64
//
// The timestamp counts Unix milliseconds until 2109-05-15; no timestamp is reserved. The extension
// is in the low bits of random_and_extension.
//
// IDs are comparable with ==. Bytes and texts sort by time. No generator makes the zero ID after
// the first millisecond of 1970, so the zero ID can mean "none".
type ID [Size]byte

// Max returns the largest ID. Its version is 8, which no generator makes.
func Max() ID {
	return ID{
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	}
}

// FromFields returns the ID with these fields, or [sortid.ErrField] if a value does not fit its
// field. The version bits are 0 for version 1.
func FromFields(timestamp uint64, randomAndExtension uint16, extensionLength, version uint8,
	random uint64) (ID, error) {
	switch {
	case timestamp > MaxTimestamp:
		return ID{}, parseerr.Field(name, "timestamp", timestamp, MaxTimestamp)
	case randomAndExtension > MaxRandomAndExtension:
		return ID{}, parseerr.Field(name, "random_and_extension", uint64(randomAndExtension),
			MaxRandomAndExtension)
	case extensionLength > MaxExtensionLength:
		return ID{}, parseerr.Field(name, "extension_length", uint64(extensionLength),
			MaxExtensionLength)
	case version > MaxVersionBits:
		return ID{}, parseerr.Field(name, "version", uint64(version), MaxVersionBits)
	}
	header := uint64(randomAndExtension)<<7 | uint64(extensionLength)<<3 | uint64(version)
	return FromUint128(timestamp<<22|header, random), nil
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

func (id *ID) put(hi, lo uint64) {
	binary.BigEndian.PutUint64(id[:8], hi)
	binary.BigEndian.PutUint64(id[8:], lo)
}

// Uint128 returns the ID as hi * 2^64 + lo.
func (id ID) Uint128() (hi, lo uint64) {
	return binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
}

// Bytes returns the ID's 16 bytes.
func (id ID) Bytes() []byte { return id[:] }

// Timestamp returns the Unix time in milliseconds.
func (id ID) Timestamp() uint64 { return binary.BigEndian.Uint64(id[:8]) >> 22 }

// RandomAndExtension returns the field random_and_extension.
func (id ID) RandomAndExtension() uint16 {
	return uint16(binary.BigEndian.Uint32(id[4:8])>>7) & MaxRandomAndExtension
}

// ExtensionLength returns how many bits the extension has, 0 to 15.
func (id ID) ExtensionLength() int { return int(id[7] >> 3 & MaxExtensionLength) }

// Extension returns the extension, and whether there is one.
func (id ID) Extension() (value uint16, ok bool) {
	n := id.ExtensionLength()
	return id.RandomAndExtension() & (1<<n - 1), n > 0
}

// VersionBits returns the field version: 0 for version 1.
func (id ID) VersionBits() uint8 { return id[7] & MaxVersionBits }

// Version returns the version bits plus one: 1 in every ID that a generator makes. In other
// versions the meaning of the fields is unknown.
func (id ID) Version() int { return int(id.VersionBits()) + 1 }

// Random returns the field random.
func (id ID) Random() uint64 { return binary.BigEndian.Uint64(id[8:]) }

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
		return FromUint128(uint64(ms)<<22, 0)
	}
}
