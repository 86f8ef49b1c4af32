package typed

import (
	"database/sql/driver"
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/idfmt"
)

const name = "typed"

// An ID wraps an ID of type T, and adds the prefix of P to its text.
//
// IDs are immutable and comparable. Go does not convert between IDs of different P or T. The zero
// value contains the format's zero ID. No generator makes the zero ID, so it can mean "none".
type ID[P Prefixer, T Inner[T]] struct {
	phantom[P]
	id T
}

// A phantom has size 0. It prevents a conversion between structs of different P. It has no field of
// type P, so P can be a struct with a field of type ID[P, T].
type phantom[P Prefixer] struct{}

// Prefix returns the prefix without the separator.
func (phantom[P]) Prefix() string {
	var p P
	return p.Prefix()
}

// Calls of the functions below need only one type argument, such as UserID.

// New returns a new ID from the format's process-wide generator. It panics if the clock is outside
// the format's range.
func New[I ID[P, T], P Prefixer, T Free[T]]() ID[P, T] { return ID[P, T]{id: formatOf[T]().new()} }

// NewAt returns a new ID of t's tick, for example for an old row; see [scru128.NewAt]. The error
// matches [sortid.ErrTimeRange] if IDs cannot have the time.
func NewAt[I ID[P, T], P Prefixer, T Free[T]](t time.Time) (ID[P, T], error) {
	id, err := formatOf[T]().newAt(t)
	return ID[P, T]{id: id}, err
}

// Generate returns the next ID of g, or the error of g.
func Generate[I ID[P, T], P Prefixer, T Inner[T]](
	g interface{ Generate() (T, error) }) (ID[P, T], error) {
	id, err := g.Generate()
	return ID[P, T]{id: id}, err
}

// From returns the typed ID with id inside.
func From[I ID[P, T], P Prefixer, T Inner[T]](id T) ID[P, T] { return ID[P, T]{id: id} }

// First returns the smallest ID of t's tick. The bounds of a time range are id >= First(from) and
// id < First(to).
func First[I ID[P, T], P Prefixer, T Inner[T]](t time.Time) ID[P, T] {
	return ID[P, T]{id: formatOf[T]().first(t)}
}

// Parse reads a text with the prefix of P, or a text that P reads as an [OldParser]. An error wraps
// a [*sortid.ParseError], and matches [sortid.ErrPrefix] if the prefix is wrong.
func Parse[I ID[P, T], P Prefixer, T Inner[T]](s string) (id ID[P, T], err error) {
	// Parse is short, so the compiler inlines it and avoids a copy of the ID.
	err = decode[P](&id.id, []byte(s))
	return id, err
}

// MustParse is like [Parse], but panics on an error.
func MustParse[I ID[P, T], P Prefixer, T Inner[T]](s string) ID[P, T] {
	id, err := Parse[I](s)
	if err != nil {
		panic(err)
	}
	return id
}

// Inner returns the ID inside.
func (id ID[P, T]) Inner() T { return id.id }

// Time returns the time in UTC.
func (id ID[P, T]) Time() time.Time { return id.id.Time() }

// Compare returns -1 if id sorts before the other ID, 0 if both are equal, and +1 otherwise.
func (id ID[P, T]) Compare(other ID[P, T]) int { return id.id.Compare(other.id) }

// IsZero reports whether the ID inside is the zero ID.
func (id ID[P, T]) IsZero() bool { return id.id.IsZero() }

// String returns the text with the prefix. If the ID is an integer above the largest ID, String
// returns a message that does not parse.
func (id ID[P, T]) String() string {
	var buf [MaxPrefixLen + 1 + maxText]byte
	b, err := id.AppendText(buf[:0])
	if err != nil {
		return fmt.Sprint(id.id)
	}
	return string(b)
}

// AppendText appends the text with the prefix to b. It fails if the ID is an integer above the
// largest ID.
func (id ID[P, T]) AppendText(b []byte) ([]byte, error) {
	return appendInner(appendPrefix(b, prefixOf[P]()), &id.id)
}

// MarshalText returns the text with the prefix.
func (id ID[P, T]) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText is like [Parse]. An error does not change the ID.
func (id *ID[P, T]) UnmarshalText(b []byte) error { return decode[P](&id.id, b) }

// AppendBinary appends the binary form, without the prefix, to b.
func (id ID[P, T]) AppendBinary(b []byte) ([]byte, error) { return id.id.AppendBinary(b) }

// MarshalBinary returns the binary form, without the prefix.
func (id ID[P, T]) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads the binary form. An error does not change the ID.
func (id *ID[P, T]) UnmarshalBinary(b []byte) error { return pointer(&id.id).UnmarshalBinary(b) }

// Value returns the ID without the prefix; see the package comment.
func (id ID[P, T]) Value() (driver.Value, error) { return formatOf[T]().value(id.id) }

// Scan reads an ID without a prefix. A text that begins with the prefix and its underscore is an
// error: use [Text]. NULL is an error: use sql.Null. If P is an [OldParser], Scan also reads its
// texts.
func (id *ID[P, T]) Scan(src any) error { return scan[P](&id.id, src) }

// Equal reports whether both IDs are equal, as == does. Package go-cmp calls it.
func (id ID[P, T]) Equal(other ID[P, T]) bool { return id == other }

// Format implements [fmt.Formatter]: the verbs x and X print the binary form, d prints an integer
// of 64 bits, and v, s and q print the text.
func (id ID[P, T]) Format(s fmt.State, verb rune) {
	idfmt.Format(s, verb, typeName[ID[P, T]], id.String, id.GoString, func() []byte {
		return bytesOf(id.id)
	})
}

// GoString returns a Go expression for the ID.
func (id ID[P, T]) GoString() string {
	return fmt.Sprintf("typed.MustParse[%s](%q)", typeName[ID[P, T]](), id.String())
}

// UnmarshalParam is [ID.UnmarshalText]. The web frameworks gin and echo call it.
func (id *ID[P, T]) UnmarshalParam(s string) error { return decode[P](&id.id, []byte(s)) }

// GobEncode returns the text with the prefix, so that gob does not read an ID as one of another
// type.
func (id ID[P, T]) GobEncode() ([]byte, error) { return id.AppendText(nil) }

// GobDecode is [ID.UnmarshalText].
func (id *ID[P, T]) GobDecode(b []byte) error { return id.UnmarshalText(b) }

// Text returns the ID for a column of texts with the prefix.
func (id ID[P, T]) Text() Text[P, T] { return Text[P, T]{ID: id} }

// Bytes returns the ID for a column of bytes.
func (id ID[P, T]) Bytes() Bytes[P, T] { return Bytes[P, T]{ID: id} }

// Any returns the ID as an [Any].
func (id ID[P, T]) Any() Any[T] { return Any[T]{prefixOf[P](), id.id} }

// Column is the interface of every ID[P, T]. With it, packages such as pgxid recognize typed IDs.
type Column interface {
	encoding.BinaryAppender // without the prefix
	encoding.TextAppender   // with the prefix
	driver.Valuer

	column()
}

func (ID[P, T]) column() {}

// A Text is an [ID] that a database stores as text with the prefix. It has the methods of an ID.
type Text[P Prefixer, T Inner[T]] struct{ ID[P, T] }

// A Text is no Column, because this method hides ID.column.
//
//lint:ignore U1000 nobody calls it
func (Text[P, T]) column(hidden) {}

//lint:ignore U1000 only the hiding methods use it
type hidden struct{}

// Value returns the text with the prefix.
func (t Text[P, T]) Value() (driver.Value, error) { return textValue(t) }

// Scan reads a text with the prefix.
func (t *Text[P, T]) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return t.UnmarshalText([]byte(src))
	case []byte:
		return t.UnmarshalText(src)
	}
	return notText(src)
}

// Bytes is an [ID] that a database stores in its binary form, without the prefix. In JSON and other
// text encodings it is the text with the prefix. It has the methods of an ID.
type Bytes[P Prefixer, T Inner[T]] struct{ ID[P, T] }

//lint:ignore U1000 it hides ID.column
func (Bytes[P, T]) column(hidden) {}

// Value returns the binary form.
func (b Bytes[P, T]) Value() (driver.Value, error) { return b.MarshalBinary() }

// Scan reads the binary form, or what [ID.Scan] reads.
func (b *Bytes[P, T]) Scan(src any) error {
	if raw, ok := src.([]byte); ok && len(raw) == formatOf[T]().size {
		return b.UnmarshalBinary(raw)
	}
	return b.ID.Scan(src)
}

// typeName returns the name of a type, with the names of its packages but not their paths.
func typeName[T any]() string {
	name := reflect.TypeFor[T]().String()
	var b strings.Builder
	for start := 0; start < len(name); {
		end := start + 1
		for end < len(name) && !strings.ContainsRune("[],", rune(name[end-1])) {
			end++
		}
		part := strings.TrimLeft(name[start:end], "*")
		b.WriteString(name[start : end-len(part)])
		b.WriteString(part[strings.LastIndexByte(part, '/')+1:])
		start = end
	}
	return b.String()
}
