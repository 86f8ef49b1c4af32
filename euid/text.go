package euid

import (
	"encoding/binary"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/textcodec"
)

// TextLen is the length of an ID's text.
const TextLen = textcodec.CrockfordLen

// checksum returns the integer hi * 2^64 + lo modulo 127. A number has the same remainder as the
// sum of its digits in base 2^7, because 2^7 is 127 + 1. Digits in base 2^35 have this property,
// too. 2^64 has the same remainder as 2.
func checksum(hi, lo uint64) uint64 {
	const block = 35
	n := 2*(hi>>block+hi&(1<<block-1)) + lo>>block + lo&(1<<block-1)
	return n % 127
}

// Parse reads 27 symbols of Crockford's Base32, ignoring case. It reads O as 0, and I and L as 1.
// An error is a [*sortid.ParseError].
func Parse(s string) (id ID, err error) {
	err = id.decode([]byte(s)) // does not copy s
	return id, err
}

// MustParse is like [Parse], but panics on an error.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// decode does not keep b. An error does not change the ID.
func (id *ID) decode(b []byte) error {
	if len(b) != TextLen {
		return parseerr.Text(name, b, -1, sortid.ErrLength, "27")
	}
	hi, lo, check, ok := textcodec.DecodeCrockford((*[TextLen]byte)(b))
	if !ok {
		return parseerr.Text(name, b, textcodec.BadCrockford((*[TextLen]byte)(b)), sortid.ErrSymbol,
			"one of Crockford's Base32, 0-9 or A-Z without U")
	}
	if check != checksum(hi, lo) {
		return parseerr.Text(name, b, -1, sortid.ErrCheck, "")
	}
	id.put(hi, lo)
	return nil
}

// String returns 27 symbols of Crockford's Base32, in upper case.
func (id ID) String() string {
	var b [TextLen]byte
	hi, lo := id.Uint128()
	return string(textcodec.AppendCrockford(b[:0], hi, lo, checksum(hi, lo)))
}

// AppendText appends the ID's text to b.
func (id ID) AppendText(b []byte) ([]byte, error) {
	// Uint128 would copy the ID.
	hi, lo := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	return textcodec.AppendCrockford(b, hi, lo, checksum(hi, lo)), nil
}

// MarshalText returns the ID's text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText is like [Parse], but also reads a UUID of 36 characters, such as PostgreSQL's
// to_jsonb writes. An error does not change the ID.
func (id *ID) UnmarshalText(b []byte) error {
	if len(b) == UUIDLen {
		return textcodec.UnmarshalUUID(name, (*[Size]byte)(id), b)
	}
	return id.decode(b)
}

// AppendBinary appends the ID's 16 bytes to b.
func (id ID) AppendBinary(b []byte) ([]byte, error) { return append(b, id[:]...), nil }

// MarshalBinary returns the ID's 16 bytes.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads 16 bytes. An error is a [*sortid.ParseError] and does not change the ID.
func (id *ID) UnmarshalBinary(b []byte) error {
	parsed, err := FromBytes(b)
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}
