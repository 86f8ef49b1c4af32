package typed

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"time"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
)

// Inner is the constraint for the ID inside. The IDs of all formats satisfy it.
type Inner[T any] interface {
	scru64.ID | scru128.ID | scru160.ID | euid.ID | uid60.ID

	encoding.BinaryAppender
	Time() time.Time
	Compare(T) int
	IsZero() bool
}

// Free is the constraint for the IDs that [New] makes.
type Free[T any] interface {
	Inner[T]
	scru128.ID | scru160.ID | euid.ID
}

const maxText = scru160.TextLen

type format[T Inner[T]] struct {
	new   func() T // nil for scru64 and uid60
	first func(time.Time) T
	value func(T) (driver.Value, error) // for a column of the native type
	// The length of the longest text if texts can contain the separator _, or else 0.
	underscore int
}

var formats = []any{
	&format[scru128.ID]{
		new:   scru128.New,
		first: scru128.First,
		value: func(id scru128.ID) (driver.Value, error) { return scru128.UUID(id).Value() },
	},
	&format[scru64.ID]{
		first: scru64.First,
		value: scru64.ID.Value,
	},
	&format[scru160.ID]{
		new:   scru160.New,
		first: scru160.First,
		value: func(id scru160.ID) (driver.Value, error) { return scru160.Bytes(id).Value() },
	},
	&format[euid.ID]{
		new:   euid.New,
		first: euid.First,
		value: func(id euid.ID) (driver.Value, error) { return euid.UUID(id).Value() },
	},
	&format[uid60.ID]{
		first:      uid60.First,
		value:      uid60.ID.Value,
		underscore: uid60.MaxTextLen,
	},
}

func formatOf[T Inner[T]]() *format[T] {
	for _, f := range formats {
		if f, ok := f.(*format[T]); ok {
			return f
		}
	}
	panic("unreachable")
}

// Method calls through interfaces or type parameters move arguments to the heap. So the next two
// functions call the methods of each format directly. A type switch would be slower.

func appendText[T Inner[T]](b []byte, p any, id *T) ([]byte, error) {
	b = appendPrefix(b, p)
	if in, ok := any(id).(*scru128.ID); ok {
		return in.AppendText(b)
	}
	if in, ok := any(id).(*scru64.ID); ok {
		return in.AppendText(b)
	}
	if in, ok := any(id).(*scru160.ID); ok {
		return in.AppendText(b)
	}
	if in, ok := any(id).(*euid.ID); ok {
		return in.AppendText(b)
	}
	if in, ok := any(id).(*uid60.ID); ok {
		return in.AppendText(b)
	}
	panic("unreachable")
}

// decode reads a text with the prefix of *p. It does not keep b. An error does not change the ID.
func decode[T Inner[T]](id *T, b []byte, p any) (err error) {
	text, ok := cutPrefix(b, p)
	if !ok {
		return wrongPrefix[T](b, kindOf(p))
	}
	if in, ok := any(id).(*scru128.ID); ok && len(text) == scru128.UUIDLen {
		_, err = scru128.Parse(string(text)) // refuses a UUID, which UnmarshalText reads
	} else if ok {
		err = in.UnmarshalText(text)
	} else if in, ok := any(id).(*scru64.ID); ok {
		err = in.UnmarshalText(text)
	} else if in, ok := any(id).(*scru160.ID); ok {
		err = in.UnmarshalText(text)
	} else if in, ok := any(id).(*euid.ID); ok && len(text) == euid.UUIDLen {
		_, err = euid.Parse(string(text))
	} else if ok {
		err = in.UnmarshalText(text)
	} else if in, ok := any(id).(*uid60.ID); ok {
		err = in.UnmarshalText(text)
	}
	if err != nil {
		return badText[T](b, kindOf(p), err)
	}
	return nil
}

// pointer may allocate its result.
func pointer[T Inner[T]](id *T) interface {
	encoding.BinaryUnmarshaler
	sql.Scanner
} {
	return any(id).(interface {
		encoding.BinaryUnmarshaler
		sql.Scanner
	})
}
