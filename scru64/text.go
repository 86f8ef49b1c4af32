package scru64

import (
	"encoding/binary"
	"fmt"

	"github.com/sortid/sortid/internal/base36"
	"github.com/sortid/sortid/internal/fault"
)

// TextLen is the length of an ID's text: 12 digits of 0-9a-z.
const TextLen = base36.Len62

// Parse returns the ID of a text of 12 Base36 digits, in either case. Its errors are of
// type [*ParseError].
func Parse(s string) (ID, error) {
	v, at, err := decode([]byte(s))
	if err != nil {
		return 0, &ParseError{Input: fault.Clip(s), Length: len(s), Offset: at, Err: err}
	}
	return ID(v), nil
}

// MustParse is [Parse] for texts known to be right: it panics on any other.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// decode does not keep b, so that Parse need not copy its string.
func decode(b []byte) (v uint64, at int, err error) {
	if len(b) != TextLen {
		return 0, -1, ErrLength
	}
	v, at, bad := base36.Decode62((*[TextLen]byte)(b))
	if bad != base36.OK {
		return 0, at, ErrSymbol
	}
	return v, -1, nil
}

// String returns the ID's text: 12 Base36 digits in lower case. An ID above [Max] has
// none; for it String returns a text that says so and does not parse.
func (id ID) String() string {
	if id > Max {
		return fmt.Sprintf("invalid scru64.ID(%d)", uint64(id))
	}
	var b [TextLen]byte
	base36.Encode62(&b, uint64(id))
	return string(b[:])
}

// AppendText appends the ID's text to b. It fails only for an ID above [Max].
func (id ID) AppendText(b []byte) ([]byte, error) {
	if id > Max {
		_, err := FromUint64(uint64(id))
		return b, err
	}
	n := len(b)
	if cap(b)-n < TextLen {
		b = append(b, make([]byte, TextLen)...)
	}
	b = b[:n+TextLen]
	base36.Encode62((*[TextLen]byte)(b[n:]), uint64(id))
	return b, nil
}

// MarshalText returns the ID's text. It fails only for an ID above [Max].
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText sets the ID to that of a text of 12 Base36 digits, in either case. With
// an error, of type [*ParseError], it leaves the ID as it was.
func (id *ID) UnmarshalText(b []byte) error {
	v, at, err := decode(b)
	if err != nil {
		return &ParseError{Input: fault.Clip(b), Length: len(b), Offset: at, Err: err}
	}
	*id = ID(v)
	return nil
}

// AppendBinary appends the ID's 8 bytes in big-endian order to b. It fails only for an
// ID above [Max].
func (id ID) AppendBinary(b []byte) ([]byte, error) {
	if id > Max {
		_, err := FromUint64(uint64(id))
		return b, err
	}
	return binary.BigEndian.AppendUint64(b, uint64(id)), nil
}

// MarshalBinary returns the ID's 8 bytes in big-endian order. It fails only for an ID
// above [Max].
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary sets the ID to that of 8 bytes in big-endian order. With an error, of
// type [*ParseError], it leaves the ID as it was.
func (id *ID) UnmarshalBinary(b []byte) error {
	if len(b) != Size {
		return &ParseError{Length: len(b), Offset: -1, Err: ErrBinaryLength}
	}
	v := binary.BigEndian.Uint64(b)
	if v > uint64(Max) {
		return &ParseError{Length: len(b), Offset: -1, Err: ErrRange}
	}
	*id = ID(v)
	return nil
}
