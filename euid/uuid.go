package euid

import "github.com/sortid/sortid/internal/textcodec"

// A UUID is an ID that a database stores in a uuid column. Its String is the 36-character form of a
// UUID. In JSON and other text encodings it is the ID's text, as for an [ID]. UUIDs sort like IDs.
// They contain no UUID version or variant.
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

// AppendText is [ID.AppendText]. To append the 36 characters, use String.
func (u UUID) AppendText(b []byte) ([]byte, error) { return ID(u).AppendText(b) }

// AppendBinary appends the 16 bytes to b.
func (u UUID) AppendBinary(b []byte) ([]byte, error) { return append(b, u[:]...), nil }

// MarshalText is [ID.MarshalText].
func (u UUID) MarshalText() ([]byte, error) { return ID(u).MarshalText() }

// UnmarshalText is [ID.UnmarshalText], which also reads the 36 characters.
func (u *UUID) UnmarshalText(b []byte) error { return (*ID)(u).UnmarshalText(b) }
