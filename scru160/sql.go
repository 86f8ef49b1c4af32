package scru160

import (
	"database/sql/driver"

	"github.com/sortid/sortid/internal/bsonvalue"
	"github.com/sortid/sortid/internal/parseerr"
)

// Value returns the ID's text of 32 characters. The types [Hex] and [Bytes] store other encodings.
func (id ID) Value() (driver.Value, error) { return id.String(), nil }

// Scan reads a text of 32 or 40 characters, or 20 bytes. NULL is an error: use sql.Null[ID].
func (id *ID) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return id.UnmarshalText([]byte(src))
	case []byte:
		if len(src) == Size {
			copy(id[:16], src) // inline, but a copy of 20 bytes is a call
			copy(id[16:], src[16:])
			return nil
		}
		return id.UnmarshalText(src)
	case [Size]byte:
		*id = src
		return nil
	default:
		return parseerr.Scan(name, src, "a text of 32 or 40 characters, or 20 bytes")
	}
}

// MarshalBSONValue returns the 20 bytes as a BSON value, which sorts like the ID. MongoDB's driver
// calls it, from version 2 on.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	return bsonvalue.Binary(id[:])
}

// UnmarshalBSONValue reads a BSON value as [ID.Scan] does.
func (id *ID) UnmarshalBSONValue(typ byte, data []byte) error {
	return bsonvalue.Scan(typ, data, id.Scan)
}

// Value returns the 40 hexadecimal digits.
func (h Hex) Value() (driver.Value, error) { return h.String(), nil }

// Scan is [ID.Scan].
func (h *Hex) Scan(src any) error { return (*ID)(h).Scan(src) }

// Bytes is an ID that a database stores as 20 bytes, which sort like IDs.
// In JSON and other text encodings it is the ID's text, as for an [ID].
type Bytes ID

// Value returns the 20 bytes.
func (b Bytes) Value() (driver.Value, error) { return b[:], nil }

// Scan is [ID.Scan].
func (b *Bytes) Scan(src any) error { return (*ID)(b).Scan(src) }

// String is [ID.String].
func (b Bytes) String() string { return ID(b).String() }

// AppendText is [ID.AppendText].
func (b Bytes) AppendText(dst []byte) ([]byte, error) { return ID(b).AppendText(dst) }

// MarshalText is [ID.MarshalText].
func (b Bytes) MarshalText() ([]byte, error) { return ID(b).MarshalText() }

// UnmarshalText is [ID.UnmarshalText].
func (b *Bytes) UnmarshalText(text []byte) error { return (*ID)(b).UnmarshalText(text) }
