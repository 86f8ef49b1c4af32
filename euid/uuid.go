package euid

import (
	"github.com/sortid/sortid/internal/fault"
	"github.com/sortid/sortid/internal/uuidtext"
)

// A UUID is an ID shown in the 36-character form of a UUID, for columns of a native
// uuid type and for programs that know no other form. The bits are the ID's own, so
// UUIDs sort as IDs do; they carry no UUID version or variant. Convert with UUID(id)
// and ID(uuid).
type UUID ID

// UUIDLen is the length of a UUID's text.
const UUIDLen = uuidtext.Len

// ParseUUID returns the UUID of a 36-character text such as
// 621ce48c-99c0-0078-16e9-25e73ebf0fda, in either case. Its errors are of type
// [*ParseError].
func ParseUUID(s string) (UUID, error) {
	u, at, err := decodeUUID([]byte(s))
	if err != nil {
		return UUID{}, &ParseError{Input: fault.Clip(s), Length: len(s), Offset: at, Err: err}
	}
	return u, nil
}

func decodeUUID(b []byte) (u UUID, at int, err error) {
	if len(b) != UUIDLen {
		return UUID{}, -1, ErrUUIDLength
	}
	if at := uuidtext.Decode((*[Size]byte)(&u), b); at >= 0 {
		return UUID{}, at, ErrUUID
	}
	return u, -1, nil
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

// MarshalText returns the 36-character text. It never fails.
func (u UUID) MarshalText() ([]byte, error) { return u.AppendText(nil) }

// UnmarshalText sets the UUID to that of a 36-character text, in either case. With an
// error, of type [*ParseError], it leaves the UUID as it was.
func (u *UUID) UnmarshalText(b []byte) error {
	parsed, at, err := decodeUUID(b)
	if err != nil {
		return &ParseError{Input: fault.Clip(b), Length: len(b), Offset: at, Err: err}
	}
	*u = parsed
	return nil
}
