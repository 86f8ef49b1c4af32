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

// Inner is the constraint of the ID inside a typed one. All formats satisfy it.
type Inner[T any] interface {
	scru64.ID | scru128.ID | scru160.ID | euid.ID | uid60.ID

	encoding.BinaryAppender
	Time() time.Time
	Compare(T) int
	IsZero() bool
}

// Free is the constraint of formats whose process-wide generator needs no node ID.
type Free[T any] interface {
	Inner[T]
	scru128.ID | scru160.ID | euid.ID
}

// maxText is the length of the longest text that an ID inside writes.
const maxText = scru160.TextLen

// A method call through an interface or a type parameter would make its arguments escape to
// the heap. So the two functions below name each format. They use if, because a type switch
// takes longer.

// appendText appends the text of an ID with the prefix of *p.
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

// decode reads a text with the prefix of *p. If it fails, it does not change the ID. It does not
// keep b.
func decode[T Inner[T]](id *T, b []byte, p any) (err error) {
	text, ok := cutPrefix(b, p)
	if !ok {
		return wrongPrefix[T](b, kindOf(p))
	}
	if in, ok := any(id).(*scru128.ID); ok {
		err = in.UnmarshalText(text)
	} else if in, ok := any(id).(*scru64.ID); ok {
		err = in.UnmarshalText(text)
	} else if in, ok := any(id).(*scru160.ID); ok {
		err = in.UnmarshalText(text)
	} else if in, ok := any(id).(*euid.ID); ok {
		err = in.UnmarshalText(text)
	} else if in, ok := any(id).(*uid60.ID); ok {
		err = in.UnmarshalText(text)
	}
	if err != nil {
		return badText[T](b, kindOf(p), err)
	}
	return nil
}

// The functions below may allocate.

func pointer[T Inner[T]](id *T) interface {
	encoding.BinaryUnmarshaler
	sql.Scanner
} {
	return any(id).(interface {
		encoding.BinaryUnmarshaler
		sql.Scanner
	})
}

// value returns the value for a column of the native type.
func value[T Inner[T]](id T) (driver.Value, error) {
	switch id := any(id).(type) {
	case scru128.ID:
		return scru128.UUID(id).Value()
	case euid.ID:
		return euid.UUID(id).Value()
	case scru160.ID:
		return scru160.Bytes(id).Value()
	case driver.Valuer: // the integers
		return id.Value()
	}
	panic("unreachable")
}

func newInner[T Free[T]]() (id T) {
	switch id := any(&id).(type) {
	case *scru128.ID:
		*id = scru128.New()
	case *scru160.ID:
		*id = scru160.New()
	case *euid.ID:
		*id = euid.New()
	}
	return id
}

func first[T Inner[T]](t time.Time) (id T) {
	switch id := any(&id).(type) {
	case *scru64.ID:
		*id = scru64.First(t)
	case *scru128.ID:
		*id = scru128.First(t)
	case *scru160.ID:
		*id = scru160.First(t)
	case *euid.ID:
		*id = euid.First(t)
	case *uid60.ID:
		*id = uid60.First(t)
	}
	return id
}
