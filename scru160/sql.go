package scru160

import (
	"database/sql/driver"

	"github.com/sortid/sortid/internal/parseerr"
)

// Value stores the ID as its text of 32 characters. To store 40 hexadecimal digits use [Hex], in a
// binary column [Bytes]. Use one encoding per column: different ones do not sort together. For a
// nullable column use sql.Null[ID].
func (id ID) Value() (driver.Value, error) { return id.String(), nil }

// Scan reads an ID from a database: a text of 32 or 40 characters, or 20 bytes,
// whatever the column's type. NULL is an error; scan a nullable column into
// sql.Null[ID].
func (id *ID) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return id.UnmarshalText([]byte(src))
	case []byte:
		if len(src) == Size {
			return id.UnmarshalBinary(src)
		}
		return id.UnmarshalText(src)
	case [Size]byte:
		*id = src
		return nil
	default:
		return parseerr.Scan(name, src, "a text of 32 or 40 characters or 20 bytes")
	}
}

// Value stores the ID as 40 hexadecimal digits.
func (h Hex) Value() (driver.Value, error) { return h.String(), nil }

// Scan reads an ID from a database; see [ID.Scan].
func (h *Hex) Scan(src any) error { return (*ID)(h).Scan(src) }

// Bytes is an ID that a database stores as 20 raw bytes, in big-endian order, which
// sort as IDs do. Convert with Bytes(id) and ID(bytes).
type Bytes ID

// Value stores the ID as 20 bytes.
func (b Bytes) Value() (driver.Value, error) { return b[:], nil }

// Scan reads an ID from a database; see [ID.Scan].
func (b *Bytes) Scan(src any) error { return (*ID)(b).Scan(src) }
