package scru160

import (
	"encoding/hex"

	"github.com/sortid/sortid/internal/textcodec"
)

const (
	// TextLen is the length of an ID's text.
	TextLen = textcodec.Base32HexLen
	// HexLen is the length of an ID's hexadecimal text.
	HexLen = 2 * Size
)

// Parse reads 32 base32hex symbols, 0-9 and A-V, or 40 hexadecimal digits, ignoring case. An error
// is a [*sortid.ParseError].
func Parse(s string) (id ID, err error) {
	err = textcodec.UnmarshalBase32Hex(name, (*[Size]byte)(&id), []byte(s)) // does not copy s
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

// String returns 32 base32hex symbols in upper case.
func (id ID) String() string {
	var b [TextLen]byte
	return string(textcodec.AppendBase32Hex(b[:0], (*[Size]byte)(&id)))
}

// AppendText appends the 32 symbols to b.
func (id ID) AppendText(b []byte) ([]byte, error) {
	return textcodec.AppendBase32Hex(b, (*[Size]byte)(&id)), nil
}

// MarshalText returns the 32 symbols.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText is like [Parse]. An error does not change the ID.
func (id *ID) UnmarshalText(b []byte) error {
	return textcodec.UnmarshalBase32Hex(name, (*[Size]byte)(id), b)
}

// Hex returns 40 hexadecimal digits in lower case.
func (id ID) Hex() string {
	var b [HexLen]byte
	hex.Encode(b[:], id[:])
	return string(b[:])
}

// AppendHex appends the 40 digits to b.
func (id ID) AppendHex(b []byte) []byte { return hex.AppendEncode(b, id[:]) }

// AppendBinary appends the 20 bytes to b.
func (id ID) AppendBinary(b []byte) ([]byte, error) { return append(b, id[:]...), nil }

// MarshalBinary returns the 20 bytes.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads 20 bytes. An error is a [*sortid.ParseError] and does not change the ID.
func (id *ID) UnmarshalBinary(b []byte) error {
	parsed, err := FromBytes(b)
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// Hex is an ID that JSON, databases and fmt show as 40 hexadecimal digits. It accepts the same
// texts as an ID.
type Hex ID

// String returns the 40 digits.
func (h Hex) String() string { return ID(h).Hex() }

// AppendText appends the 40 digits to b.
func (h Hex) AppendText(b []byte) ([]byte, error) { return ID(h).AppendHex(b), nil }

// AppendBinary appends the 20 bytes to b.
func (h Hex) AppendBinary(b []byte) ([]byte, error) { return append(b, h[:]...), nil }

// MarshalText returns the 40 digits.
func (h Hex) MarshalText() ([]byte, error) { return h.AppendText(nil) }

// UnmarshalText is [ID.UnmarshalText].
func (h *Hex) UnmarshalText(b []byte) error { return (*ID)(h).UnmarshalText(b) }
