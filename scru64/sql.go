package scru64

import (
	"database/sql/driver"

	"github.com/sortid/sortid/internal/bsonvalue"
	"github.com/sortid/sortid/internal/parseerr"
)

// Value returns the ID as an int64. To store the text, use the type [Text].
func (id ID) Value() (driver.Value, error) {
	if _, err := FromUint64(uint64(id)); err != nil {
		return nil, err
	}
	return int64(id), nil
}

// Scan reads an integer, a text of 12 characters, or 8 bytes, big-endian. NULL is an error: use
// sql.Null[ID].
func (id *ID) Scan(src any) error {
	switch src := src.(type) {
	case int64:
		if src < 0 || src > maxID {
			return parseerr.Integer(name, src, integers)
		}
		*id = ID(src)
		return nil
	case uint64: // some drivers return it for an unsigned column
		if src > maxID {
			return parseerr.Integer(name, src, integers)
		}
		*id = ID(src)
		return nil
	case string:
		return id.UnmarshalText([]byte(src))
	case []byte:
		if len(src) == Size {
			return id.UnmarshalBinary(src)
		}
		return id.UnmarshalText(src)
	default:
		return parseerr.Scan(name, src, "an integer, a text of 12 characters, or 8 bytes")
	}
}

// MarshalBSONValue returns the integer as a BSON value. MongoDB's driver calls it, from version 2
// on.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	if _, err := FromUint64(uint64(id)); err != nil {
		return 0, nil, err
	}
	return bsonvalue.Int64(int64(id))
}

// UnmarshalBSONValue reads a BSON value as [ID.Scan] does.
func (id *ID) UnmarshalBSONValue(typ byte, data []byte) error {
	return bsonvalue.Scan(typ, data, id.Scan)
}

// Text is an ID that a database stores as text. Texts sort like IDs.
type Text ID

// Value returns the ID's text.
func (t Text) Value() (driver.Value, error) {
	if _, err := FromUint64(uint64(t)); err != nil {
		return nil, err
	}
	return t.String(), nil
}

// Scan is [ID.Scan].
func (t *Text) Scan(src any) error { return (*ID)(t).Scan(src) }

// String is [ID.String].
func (t Text) String() string { return ID(t).String() }

// AppendText is [ID.AppendText].
func (t Text) AppendText(b []byte) ([]byte, error) { return ID(t).AppendText(b) }

// MarshalText is [ID.MarshalText].
func (t Text) MarshalText() ([]byte, error) { return ID(t).MarshalText() }

// UnmarshalText is [ID.UnmarshalText].
func (t *Text) UnmarshalText(b []byte) error { return (*ID)(t).UnmarshalText(b) }

// UnmarshalJSON is [ID.UnmarshalJSON].
func (t *Text) UnmarshalJSON(b []byte) error { return (*ID)(t).UnmarshalJSON(b) }
