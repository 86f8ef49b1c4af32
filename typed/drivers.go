package typed

import (
	"encoding"
	"encoding/binary"

	"github.com/sortid/sortid/internal/bsonvalue"
)

// MarshalBSONValue returns the ID without the prefix as a BSON value: an integer for an ID of 64
// bits, otherwise bytes. MongoDB's driver calls it, from version 2 on.
func (id ID[P, T]) MarshalBSONValue() (typ byte, data []byte, err error) {
	b, err := id.AppendBinary(nil)
	switch {
	case err != nil:
		return 0, nil, err
	case len(b) == 8:
		return bsonvalue.Int64(int64(binary.BigEndian.Uint64(b)))
	}
	return bsonvalue.Binary(b)
}

// UnmarshalBSONValue reads a BSON value as [ID.Scan] does.
func (id *ID[P, T]) UnmarshalBSONValue(typ byte, data []byte) error {
	return bsonvalue.Scan(typ, data, id.Scan)
}

// MarshalBSONValue returns the text with the prefix as a BSON value.
func (t Text[P, T]) MarshalBSONValue() (typ byte, data []byte, err error) { return textBSON(t) }

// UnmarshalBSONValue reads a BSON value as [Text.Scan] does.
func (t *Text[P, T]) UnmarshalBSONValue(typ byte, data []byte) error {
	return bsonvalue.Scan(typ, data, t.Scan)
}

// MarshalBSONValue returns the text with the prefix as a BSON value.
func (id Any[T]) MarshalBSONValue() (typ byte, data []byte, err error) { return textBSON(id) }

// UnmarshalBSONValue reads a BSON value as [Any.Scan] does.
func (id *Any[T]) UnmarshalBSONValue(typ byte, data []byte) error {
	return bsonvalue.Scan(typ, data, id.Scan)
}

func textBSON(id encoding.TextMarshaler) (typ byte, data []byte, err error) {
	b, err := id.MarshalText()
	if err != nil {
		return 0, nil, err
	}
	return bsonvalue.String(string(b))
}

// GormDataType returns the type of a column: GORM calls it if the field has no type in its tag.
func (id ID[P, T]) GormDataType() string {
	switch formatOf[T]().size {
	case 8:
		return "bigint"
	case 16:
		return "uuid"
	}
	return "bytes"
}

// GormDataType is for a column of text.
func (Text[P, T]) GormDataType() string { return "string" }

// GormDataType is for a column of bytes.
func (Bytes[P, T]) GormDataType() string { return "bytes" }
