package typed

import (
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/textcodec"
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
	new   func() T                   // nil for scru64 and uid60
	newAt func(time.Time) (T, error) // nil for scru64 and uid60
	first func(time.Time) T
	value func(T) (driver.Value, error) // for a column of the native type
	size  int                           // of the binary form
}

var formats = []any{
	&format[scru128.ID]{
		new:   scru128.New,
		newAt: scru128.NewAt,
		first: scru128.First,
		value: func(id scru128.ID) (driver.Value, error) { return scru128.UUID(id).Value() },
		size:  scru128.Size,
	},
	&format[scru64.ID]{
		first: scru64.First,
		value: scru64.ID.Value,
		size:  scru64.Size,
	},
	&format[scru160.ID]{
		new:   scru160.New,
		newAt: scru160.NewAt,
		first: scru160.First,
		value: func(id scru160.ID) (driver.Value, error) { return scru160.Bytes(id).Value() },
		size:  scru160.Size,
	},
	&format[euid.ID]{
		new:   euid.New,
		newAt: euid.NewAt,
		first: euid.First,
		value: func(id euid.ID) (driver.Value, error) { return euid.UUID(id).Value() },
		size:  euid.Size,
	},
	&format[uid60.ID]{
		first: uid60.First,
		value: uid60.ID.Value,
		size:  uid60.Size,
	},
}

// hasUnderscore reports whether an ID's text can contain the separator.
func hasUnderscore[T Inner[T]]() bool {
	_, ok := any((*T)(nil)).(*uid60.ID)
	return ok
}

func formatOf[T Inner[T]]() *format[T] {
	for _, f := range formats {
		if f, ok := f.(*format[T]); ok {
			return f
		}
	}
	panic("unreachable")
}

// usualLen returns the length of a text, or the longest length if there are several.
func usualLen[T Inner[T]]() int {
	id := any((*T)(nil))
	if _, ok := id.(*scru128.ID); ok {
		return scru128.TextLen
	}
	if _, ok := id.(*scru64.ID); ok {
		return scru64.TextLen
	}
	if _, ok := id.(*uid60.ID); ok {
		return uid60.MaxTextLen
	}
	if _, ok := id.(*euid.ID); ok {
		return euid.TextLen
	}
	return scru160.TextLen
}

// Method calls through interfaces or type parameters move arguments to the heap. So the next
// functions call the functions of each format directly. A type switch would be slower. For the
// formats that have no arithmetic of their own, they call package textcodec, which saves calls and
// copies; BenchmarkTyped in dev/bench shows what it is worth.

func appendInner[T Inner[T]](b []byte, id *T) ([]byte, error) {
	if in, ok := any(id).(*scru128.ID); ok {
		return textcodec.AppendBase36Long(b, (*[scru128.Size]byte)(in)), nil
	}
	if in, ok := any(id).(*scru64.ID); ok {
		if *in < textcodec.Base36Limit {
			return textcodec.AppendBase36Short(b, uint64(*in)), nil
		}
		return in.AppendText(b) // returns the error
	}
	if in, ok := any(id).(*scru160.ID); ok {
		return textcodec.AppendBase32Hex(b, (*[scru160.Size]byte)(in)), nil
	}
	if in, ok := any(id).(*euid.ID); ok {
		return textcodec.AppendCrockford(b, (*[euid.Size]byte)(in)), nil
	}
	if in, ok := any(id).(*uid60.ID); ok {
		return in.AppendText(b)
	}
	panic("unreachable")
}

// decode reads a text with the prefix of P. It does not keep b. An error does not change the ID.
func decode[P Prefixer, T Inner[T]](id *T, b []byte) (err error) {
	if text, found := cutPrefix(b, phantom[P]{}.Prefix()); found {
		if err = decodeText(id, text); err == nil {
			return nil
		}
	}
	return failed[P](id, b, err)
}

// decodeText reads a text without a prefix. It reads no UUIDs, which UnmarshalText of some formats
// reads.
func decodeText[T Inner[T]](id *T, text []byte) error {
	if in, ok := any(id).(*scru128.ID); ok {
		return textcodec.UnmarshalBase36Long("scru128", (*[scru128.Size]byte)(in), text)
	}
	if in, ok := any(id).(*scru64.ID); ok {
		return in.UnmarshalText(text)
	}
	if in, ok := any(id).(*scru160.ID); ok {
		return in.UnmarshalText(text)
	}
	if in, ok := any(id).(*euid.ID); ok {
		return textcodec.UnmarshalCrockford("euid", (*[euid.Size]byte)(in), text)
	}
	return any(id).(*uid60.ID).UnmarshalText(text)
}

// scan reads an ID without a prefix.
func scan[P Prefixer, T Inner[T]](id *T, src any) (err error) {
	// These cases are faster than the ID's Scan.
	if b, ok := src.([]byte); ok && len(b) == scru128.Size {
		if in, ok := any(id).(*scru128.ID); ok {
			*in = scru128.ID(b)
			return nil
		}
		if in, ok := any(id).(*euid.ID); ok {
			*in = euid.ID(b)
			return nil
		}
	} else if v, ok := src.(int64); ok {
		if in, ok := any(id).(*scru64.ID); ok && uint64(v) < textcodec.Base36Limit {
			*in = scru64.ID(v)
			return nil
		}
		if in, ok := any(id).(*uid60.ID); ok && uint64(v) <= uint64(uid60.Max()) {
			*in = uid60.ID(v)
			return nil
		}
	}
	if in, ok := any(id).(*scru128.ID); ok {
		err = in.Scan(src)
	} else if in, ok := any(id).(*scru64.ID); ok {
		err = in.Scan(src)
	} else if in, ok := any(id).(*scru160.ID); ok {
		err = in.Scan(src)
	} else if in, ok := any(id).(*euid.ID); ok {
		err = in.Scan(src)
	} else if prefixed[P, T](src) {
		err = sortid.ErrScan // a text of uid60 with a prefix may be another ID's text
	} else {
		err = any(id).(*uid60.ID).Scan(src)
	}
	if err != nil {
		return scanFailed[P](id, src, err)
	}
	return nil
}

// pointer may allocate its result.
func pointer[T Inner[T]](id *T) encoding.BinaryUnmarshaler {
	return any(id).(encoding.BinaryUnmarshaler)
}

// bytesOf returns the binary form, also of an integer above the largest ID.
func bytesOf[T Inner[T]](id T) []byte {
	switch id := any(id).(type) {
	case scru64.ID:
		return binary.BigEndian.AppendUint64(nil, uint64(id))
	case uid60.ID:
		return binary.BigEndian.AppendUint64(nil, uint64(id))
	}
	b, _ := id.AppendBinary(nil)
	return b
}
