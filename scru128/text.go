package scru128

import (
	"encoding/binary"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/textcodec"
)

// TextLen is the length of an ID's text.
const TextLen = textcodec.Base36LongLen

// Parse reads 25 Base36 digits, ignoring case. An error is a [*sortid.ParseError].
func Parse(s string) (id ID, err error) {
	// Parse is short, so the compiler inlines it and avoids a copy of the ID. The conversion does
	// not copy s.
	err = id.decode([]byte(s))
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
	hi, lo, bad := textcodec.DecodeBase36Long(b)
	if bad != textcodec.OK {
		return textError(b[:len(b):len(b)], bad) // so Decode128 need not save cap(b)
	}
	id.put(hi, lo)
	return nil
}

func textError(s []byte, bad textcodec.Status) error {
	switch bad {
	case textcodec.WrongLength:
		return parseerr.Text(name, s, -1, sortid.ErrLength, "25")
	case textcodec.WrongSymbol:
		return parseerr.Text(name, s, textcodec.BadBase36(s), sortid.ErrSymbol,
			"a Base36 digit, 0-9 or a-z")
	default:
		return parseerr.Text(name, s, -1, sortid.ErrRange,
			"at most f5lxx1zz5pnorynqglhzmsp33, the largest ID")
	}
}

// String returns 25 Base36 digits in lower case.
func (id ID) String() string {
	var b [TextLen]byte
	return string(textcodec.AppendBase36Long(b[:0], binary.BigEndian.Uint64(id[:8]),
		binary.BigEndian.Uint64(id[8:])))
}

// AppendText appends the ID's text to b.
func (id ID) AppendText(b []byte) ([]byte, error) {
	return textcodec.AppendBase36Long(b, binary.BigEndian.Uint64(id[:8]),
		binary.BigEndian.Uint64(id[8:])), nil
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
