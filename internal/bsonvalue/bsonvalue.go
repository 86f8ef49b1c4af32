// Package bsonvalue writes and reads BSON values of IDs, without MongoDB's driver.
// Source: https://bsonspec.org/spec.html
package bsonvalue

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The types of BSON values.
const (
	typeString = 0x02
	typeBinary = 0x05
	typeNull   = 0x0a
	typeInt32  = 0x10
	typeInt64  = 0x12
)

// Binary returns the value of some bytes, with the generic subtype. Values of one length sort by
// their bytes.
func Binary(b []byte) (typ byte, data []byte, err error) {
	data = binary.LittleEndian.AppendUint32(make([]byte, 0, 5+len(b)), uint32(len(b)))
	return typeBinary, append(append(data, 0), b...), nil
}

// Int64 returns the value of an integer.
func Int64(n int64) (typ byte, data []byte, err error) {
	return typeInt64, binary.LittleEndian.AppendUint64(nil, uint64(n)), nil
}

// String returns the value of a text.
func String(s string) (typ byte, data []byte, err error) {
	data = binary.LittleEndian.AppendUint32(make([]byte, 0, 5+len(s)), uint32(len(s)+1))
	return typeString, append(append(data, s...), 0), nil
}

var errData = errors.New("the data of the BSON value has a wrong length")

// Scan calls the function scan with the string, []byte, int64 or nil of a value.
func Scan(typ byte, data []byte, scan func(any) error) error {
	switch typ {
	case typeString, typeBinary:
		extra := 1 // the zero byte of a string counts, the subtype of bytes does not
		if typ == typeString {
			extra = 0
		}
		if len(data) < 5 || int64(binary.LittleEndian.Uint32(data))+int64(extra) != int64(len(data)-4) {
			return errData
		}
		if typ == typeString {
			return scan(string(data[4 : len(data)-1]))
		}
		return scan(append([]byte(nil), data[5:]...))
	case typeInt32:
		if len(data) != 4 {
			return errData
		}
		return scan(int64(int32(binary.LittleEndian.Uint32(data))))
	case typeInt64:
		if len(data) != 8 {
			return errData
		}
		return scan(int64(binary.LittleEndian.Uint64(data)))
	case typeNull:
		return scan(nil)
	}
	return fmt.Errorf("an ID cannot be a BSON value of type %#02x: want a binary value, a string or "+
		"an integer", typ)
}
