package scru160

import (
	"encoding/hex"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/base32hex"
	"github.com/sortid/sortid/internal/parseerr"
)

const (
	// TextLen is the length of an ID's text: 32 symbols of base32hex, 0-9 and A-V.
	TextLen = base32hex.Len
	// HexLen is the length of an ID's other text, in hexadecimal digits.
	HexLen = 2 * Size
)

// Parse returns the ID of a text of 32 base32hex symbols or of 40 hexadecimal digits,
// in either case; the length tells which. Its errors are of type [*sortid.ParseError].
func Parse(s string) (id ID, err error) {
	if err := id.decode([]byte(s)); err != nil { // which does not copy s
		return ID{}, err
	}
	return id, nil
}

// MustParse is [Parse] for texts known to be valid: it panics on any other.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// decode sets the ID from the text b, and does not keep b. An error leaves the ID as it was.
func (id *ID) decode(b []byte) error {
	switch len(b) {
	case TextLen:
		if at := base32hex.Decode((*[Size]byte)(id), (*[TextLen]byte)(b)); at >= 0 {
			return parseerr.Text(name, b, at, sortid.ErrSymbol,
				"0-9 or A-V, as a text of 32 characters is base32hex")
		}
		return nil
	case HexLen:
		var parsed ID
		if n, err := hex.Decode(parsed[:], b); err != nil {
			at := 2 * n // or the digit after that, if the error is not about this one
			if err != hex.InvalidByteError(b[at]) {
				at++
			}
			return parseerr.Text(name, b, at, sortid.ErrSymbol,
				"0-9 or a-f, as a text of 40 characters is hex")
		}
		*id = parsed
		return nil
	default:
		return parseerr.Text(name, b, -1, sortid.ErrLength, "32 of base32hex or 40 of hex")
	}
}

// String returns the ID's text: 32 base32hex symbols in upper case.
func (id ID) String() string {
	var b [TextLen]byte
	base32hex.Encode(&b, (*[Size]byte)(&id))
	return string(b[:])
}

// AppendText appends the text that String returns to b. It never fails.
func (id ID) AppendText(b []byte) ([]byte, error) {
	n := len(b)
	if cap(b)-n < TextLen {
		b = append(b, make([]byte, TextLen)...)
	}
	b = b[:n+TextLen]
	base32hex.Encode((*[TextLen]byte)(b[n:]), (*[Size]byte)(&id))
	return b, nil
}

// MarshalText returns the text that String returns. It never fails.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText sets the ID from a text, as [Parse] reads it. An error is a [*sortid.ParseError],
// and leaves the ID as it was.
func (id *ID) UnmarshalText(b []byte) error { return id.decode(b) }

// Hex returns the ID's other text: 40 hexadecimal digits in lower case.
func (id ID) Hex() string {
	var b [HexLen]byte
	hex.Encode(b[:], id[:])
	return string(b[:])
}

// AppendHex appends the text that Hex returns to b.
func (id ID) AppendHex(b []byte) []byte { return hex.AppendEncode(b, id[:]) }

// AppendBinary appends the ID's 20 bytes in big-endian order to b. It never fails.
func (id ID) AppendBinary(b []byte) ([]byte, error) { return append(b, id[:]...), nil }

// MarshalBinary returns the ID's 20 bytes in big-endian order. It never fails.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary sets the ID from 20 bytes in big-endian order. An error is a
// [*sortid.ParseError], and leaves the ID as it was.
func (id *ID) UnmarshalBinary(b []byte) error {
	parsed, err := FromBytes(b)
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// Hex is an ID shown as 40 hexadecimal digits in lower case, in JSON, in a database and wherever a
// program prints it. It reads the same texts as an ID. Convert with Hex(id) and ID(hex).
type Hex ID

// String returns the 40 digits.
func (h Hex) String() string { return ID(h).Hex() }

// AppendText appends the 40 digits to b. It never fails.
func (h Hex) AppendText(b []byte) ([]byte, error) { return ID(h).AppendHex(b), nil }

// AppendBinary appends the 20 bytes to b. It never fails.
func (h Hex) AppendBinary(b []byte) ([]byte, error) { return append(b, h[:]...), nil }

// MarshalText returns the 40 digits. It never fails.
func (h Hex) MarshalText() ([]byte, error) { return h.AppendText(nil) }

// UnmarshalText sets the ID from a text; see [ID.UnmarshalText].
func (h *Hex) UnmarshalText(b []byte) error { return (*ID)(h).UnmarshalText(b) }
