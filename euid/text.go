package euid

import "github.com/sortid/sortid/internal/textcodec"

// TextLen is the length of an ID's text.
const TextLen = textcodec.CrockfordLen

// Parse reads 27 symbols of Crockford's Base32, ignoring case. It reads O as 0, and I and L as 1.
// An error is a [*sortid.ParseError].
func Parse(s string) (id ID, err error) {
	err = textcodec.UnmarshalCrockford(name, (*[Size]byte)(&id), []byte(s)) // does not copy s
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

// String returns 27 symbols of Crockford's Base32, in upper case.
func (id ID) String() string {
	var b [TextLen]byte
	return string(textcodec.AppendCrockford(b[:0], (*[Size]byte)(&id)))
}

// AppendText appends the ID's text to b.
func (id ID) AppendText(b []byte) ([]byte, error) {
	return textcodec.AppendCrockford(b, (*[Size]byte)(&id)), nil
}

// MarshalText returns the ID's text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText is like [Parse], but also reads a UUID of 36 characters, such as PostgreSQL's
// to_jsonb writes. An error does not change the ID.
func (id *ID) UnmarshalText(b []byte) error {
	if len(b) == UUIDLen {
		return textcodec.UnmarshalUUID(name, (*[Size]byte)(id), b)
	}
	return textcodec.UnmarshalCrockford(name, (*[Size]byte)(id), b)
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
