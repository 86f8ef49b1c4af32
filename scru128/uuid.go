package scru128

import "github.com/sortid/sortid/internal/uuidtext"

// A UUID is an ID shown in the 36-character form of a UUID, for uuid columns and for programs that
// know no other encoding. Its bits are the ID's, so UUIDs sort as IDs do. They have no UUID
// version or variant. Convert with UUID(id) and ID(uuid).
type UUID ID

// UUIDLen is the length of a UUID's text.
const UUIDLen = uuidtext.Len

// ParseUUID returns the UUID of a 36-character text such as
// 017fef39-c264-1ba5-6a94-83188841e05a, in either case. Its errors are of type
// [*sortid.ParseError].
func ParseUUID(s string) (u UUID, err error) {
	err = uuidtext.Unmarshal(name, (*[Size]byte)(&u), []byte(s))
	return u, err
}

// String returns the 36-character text in lower case.
func (u UUID) String() string {
	var b [UUIDLen]byte
	return string(uuidtext.Append(b[:0], (*[Size]byte)(&u)))
}

// AppendText appends the 36-character text to b. It never fails.
func (u UUID) AppendText(b []byte) ([]byte, error) {
	return uuidtext.Append(b, (*[Size]byte)(&u)), nil
}

// AppendBinary appends the 16 bytes to b. It never fails.
func (u UUID) AppendBinary(b []byte) ([]byte, error) { return append(b, u[:]...), nil }

// MarshalText returns the 36-character text. It never fails.
func (u UUID) MarshalText() ([]byte, error) { return u.AppendText(nil) }

// UnmarshalText sets the UUID from a 36-character text, in either case. An error is a
// [*sortid.ParseError], and leaves the UUID as it was.
func (u *UUID) UnmarshalText(b []byte) error {
	return uuidtext.Unmarshal(name, (*[Size]byte)(u), b)
}
