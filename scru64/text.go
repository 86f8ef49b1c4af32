package scru64

import (
	"encoding/binary"
	"fmt"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
	"github.com/sortid/sortid/internal/textcodec"
)

// TextLen is the length of an ID's text.
const TextLen = textcodec.Base36ShortLen

// Parse reads 12 Base36 digits, ignoring case. An error is a [*sortid.ParseError].
func Parse(s string) (ID, error) {
	v, err := textcodec.UnmarshalBase36Short(name, []byte(s)) // does not copy s
	return ID(v), err
}

// MustParse is like [Parse], but panics on an error.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// String returns 12 Base36 digits in lower case.
func (id ID) String() string {
	if id > maxID {
		return fmt.Sprintf("invalid scru64.ID(%d)", uint64(id))
	}
	var b [TextLen]byte
	return string(textcodec.AppendBase36Short(b[:0], uint64(id)))
}

// AppendText appends the ID's text to b.
func (id ID) AppendText(b []byte) ([]byte, error) {
	if id > maxID {
		_, err := FromUint64(uint64(id))
		return b, err
	}
	return textcodec.AppendBase36Short(b, uint64(id)), nil
}

// MarshalText returns the ID's text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText is like [Parse]. An error does not change the ID.
func (id *ID) UnmarshalText(b []byte) error {
	v, err := textcodec.UnmarshalBase36Short(name, b)
	if err != nil {
		return err
	}
	*id = ID(v)
	return nil
}

// UnmarshalJSON reads a JSON string with the ID's text, or an integer below 2^53. Programs that read
// JSON numbers as floating point round larger ones, so they are an error. An error does not change
// the ID.
func (id *ID) UnmarshalJSON(b []byte) error {
	text, v, isNumber, err := textcodec.UnmarshalJSON(name, b)
	switch {
	case err != nil:
		return err
	case text != nil:
		return id.UnmarshalText(text)
	case isNumber:
		*id = ID(v)
	}
	return nil
}

// AppendBinary appends the ID's 8 bytes, big-endian, to b.
func (id ID) AppendBinary(b []byte) ([]byte, error) {
	if id > maxID {
		_, err := FromUint64(uint64(id))
		return b, err
	}
	return binary.BigEndian.AppendUint64(b, uint64(id)), nil
}

// MarshalBinary returns the ID's 8 bytes, big-endian.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads 8 bytes, big-endian. An error is a [*sortid.ParseError] and does not change
// the ID.
func (id *ID) UnmarshalBinary(b []byte) error {
	if len(b) != Size {
		return parseerr.Binary(name, len(b), sortid.ErrBinaryLength, "8")
	}
	v := binary.BigEndian.Uint64(b)
	if v > maxID {
		return parseerr.Binary(name, len(b), sortid.ErrRange, integers)
	}
	*id = ID(v)
	return nil
}
