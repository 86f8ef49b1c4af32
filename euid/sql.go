package euid

import (
	"database/sql/driver"

	"github.com/sortid/sortid/internal/bsonvalue"
	"github.com/sortid/sortid/internal/parseerr"
)

// Value returns the ID's text. The types [UUID] and [Bytes] store other encodings.
func (id ID) Value() (driver.Value, error) { return id.String(), nil }

// Scan reads a text of 27 characters, a UUID of 36 characters, or 16 bytes. NULL is an error: use
// sql.Null[ID].
func (id *ID) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return id.UnmarshalText([]byte(src))
	case []byte:
		if len(src) == Size {
			*id = ID(src)
			return nil
		}
		return id.UnmarshalText(src)
	case [Size]byte:
		*id = src
		return nil
	default:
		return parseerr.Scan(name, src, "a text of 27 or 36 characters, or 16 bytes")
	}
}

// MarshalBSONValue returns the 16 bytes as a BSON value, which sorts like the ID. MongoDB's driver
// calls it, from version 2 on.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	return bsonvalue.Binary(id[:])
}

// UnmarshalBSONValue reads a BSON value as [ID.Scan] does.
func (id *ID) UnmarshalBSONValue(typ byte, data []byte) error {
	return bsonvalue.Scan(typ, data, id.Scan)
}

// Value returns the 36 characters.
func (u UUID) Value() (driver.Value, error) { return u.String(), nil }

// Scan is [ID.Scan].
func (u *UUID) Scan(src any) error { return (*ID)(u).Scan(src) }

// Bytes is an ID that a database stores as 16 bytes, which sort like IDs.
// In JSON and other text encodings it is the ID's text, as for an [ID].
type Bytes ID

// Value returns the 16 bytes.
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

// GormDataType returns the type of a column: GORM calls it if the field has no type in its tag.
func (UUID) GormDataType() string { return "uuid" }
