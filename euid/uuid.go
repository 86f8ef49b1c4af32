package euid

import "github.com/sortid/sortid/internal/textcodec"

// A UUID is an ID in the 36-character form of a UUID, for uuid columns and for programs that
// accept only UUIDs. UUIDs sort like IDs. They contain no UUID version or variant.
type UUID ID

// UUIDLen is the length of a UUID's text.
const UUIDLen = textcodec.UUIDLen

// ParseUUID reads a text such as 621ce48c-99c0-0078-16e9-25e73ebf0fda, ignoring case. An error is a
// [*sortid.ParseError].
func ParseUUID(s string) (u UUID, err error) {
	err = textcodec.UnmarshalUUID(name, (*[Size]byte)(&u), []byte(s))
	return u, err
}

// String returns 36 characters in lower case.
func (u UUID) String() string {
	var b [UUIDLen]byte
	return string(textcodec.AppendUUID(b[:0], (*[Size]byte)(&u)))
}

// AppendText appends the 36 characters to b.
func (u UUID) AppendText(b []byte) ([]byte, error) {
	return textcodec.AppendUUID(b, (*[Size]byte)(&u)), nil
}

// AppendBinary appends the 16 bytes to b.
func (u UUID) AppendBinary(b []byte) ([]byte, error) { return append(b, u[:]...), nil }

// MarshalText returns the 36 characters.
func (u UUID) MarshalText() ([]byte, error) { return u.AppendText(nil) }

// UnmarshalText is like [ParseUUID]. An error does not change the UUID.
func (u *UUID) UnmarshalText(b []byte) error {
	return textcodec.UnmarshalUUID(name, (*[Size]byte)(u), b)
}
