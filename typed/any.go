package typed

import (
	"cmp"
	"database/sql/driver"
	"encoding"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/idfmt"
	"github.com/sortid/sortid/internal/parseerr"
)

// Any is an ID with any prefix, for programs that learn the prefix at run time. The operator ==
// also compares the prefix, and databases store the prefix, too. The zero value has the zero ID and
// no prefix.
type Any[T Inner[T]] struct {
	prefix string
	id     T
}

// NewAny returns the ID with the prefix. The error matches [sortid.ErrPrefix] if the prefix is
// invalid, or if [ParseAny] would read another prefix from the text. Only a uid60.ID can have such
// a text. In one case the ID contains a _ and the prefix is empty. In the other case the ID has
// fewer than ten characters, and the prefix has a _ near its end.
func NewAny[T Inner[T]](prefix string, id T) (Any[T], error) {
	if err := CheckPrefix(prefix); err != nil {
		return Any[T]{}, err
	}
	made := Any[T]{prefix, id}
	var buf [MaxPrefixLen + 1 + maxText]byte
	if _, err := made.AppendText(buf[:0]); err != nil {
		return Any[T]{}, err
	}
	return made, nil
}

// ParseAny reads a text with any prefix, or without a prefix.
func ParseAny[T Inner[T]](s string) (id Any[T], err error) {
	prefix, text, found := cut[T](s)
	if found && prefix == "" {
		return Any[T]{}, parseerr.Text(name, s, 0, sortid.ErrPrefix, "a prefix before the _")
	}
	if err := CheckPrefix(prefix); err != nil {
		return Any[T]{}, err
	}
	if err := decodeText(&id.id, []byte(text)); err != nil {
		return Any[T]{}, afterPrefix(s, len(s)-len(text), err)
	}
	id.prefix = strings.Clone(prefix) // does not keep s
	return id, nil
}

// As returns id as an [ID]. If id does not have the prefix of P, the error matches
// [sortid.ErrPrefix].
func As[I ID[P, T], P Prefixer, T Inner[T]](id Any[T]) (typed ID[P, T], err error) {
	if want := prefixOf[P](); id.prefix != want {
		return typed, wrongPrefix(want, id.String(), cmp.Or(len(id.prefix), -1))
	}
	return From[I](id.id), nil
}

// Prefix returns the prefix without the separator.
func (id Any[T]) Prefix() string { return id.prefix }

// Inner returns the ID inside.
func (id Any[T]) Inner() T { return id.id }

// Time returns the time in UTC.
func (id Any[T]) Time() time.Time { return id.id.Time() }

// IsZero reports whether id is the zero value: the zero ID without a prefix.
func (id Any[T]) IsZero() bool { return id.prefix == "" && id.id.IsZero() }

// Compare returns -1 if id sorts before the other ID, 0 if both are equal, and +1 otherwise. It
// compares the prefixes, then the IDs inside.
func (id Any[T]) Compare(other Any[T]) int {
	return cmp.Or(strings.Compare(id.prefix, other.prefix), id.id.Compare(other.id))
}

// Equal reports whether both IDs are equal, as == does. Package go-cmp calls it.
func (id Any[T]) Equal(other Any[T]) bool { return id == other }

// String is like [ID.String]. It does not check which prefix [ParseAny] would read from the text.
func (id Any[T]) String() string {
	var buf [MaxPrefixLen + 1 + maxText]byte
	b, err := id.appendText(buf[:0])
	if err != nil {
		return fmt.Sprint(id.id)
	}
	return string(b)
}

// Format is like [ID.Format].
func (id Any[T]) Format(s fmt.State, verb rune) {
	idfmt.Format(s, verb, typeName[Any[T]], id.String, id.GoString, func() []byte {
		return bytesOf(id.id)
	})
}

// GoString returns a Go expression that makes the ID.
func (id Any[T]) GoString() string {
	return fmt.Sprintf("typed.ParseAny[%s](%q)", typeName[T](), id.String())
}

// AppendText appends the text to b. The error matches [sortid.ErrPrefix] if [ParseAny] would read
// another prefix from the text. This can happen for a result of [ID.Any], which does not check the
// text.
func (id Any[T]) AppendText(b []byte) ([]byte, error) {
	text, err := id.appendText(b)
	if err != nil {
		return b, err
	}
	// A text of full length needs no check.
	if hasUnderscore[T]() && (id.prefix == "" ||
		len(text)-len(b) <= len(id.prefix)+usualLen[T]()) {
		if err := checkCut[T](id.prefix, text[len(b):]); err != nil {
			return b, err
		}
	}
	return text, nil
}

func (id Any[T]) appendText(b []byte) ([]byte, error) {
	return appendInner(appendPrefix(b, id.prefix), &id.id)
}

// MarshalText returns the text with the prefix.
func (id Any[T]) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText is like [ParseAny]. An error does not change the ID.
func (id *Any[T]) UnmarshalText(b []byte) error {
	parsed, err := ParseAny[T](string(b))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// UnmarshalParam is [Any.UnmarshalText]. The web frameworks gin and echo call it.
func (id *Any[T]) UnmarshalParam(s string) error { return id.UnmarshalText([]byte(s)) }

// AppendBinary appends the prefix and the binary form of the ID inside.
func (id Any[T]) AppendBinary(b []byte) ([]byte, error) {
	binary, err := id.id.AppendBinary(append(b, id.prefix...))
	if err != nil {
		return b, err
	}
	return binary, nil
}

// MarshalBinary returns the prefix and the binary form of the ID inside.
func (id Any[T]) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads the prefix and the binary form. An error does not change the ID.
func (id *Any[T]) UnmarshalBinary(b []byte) error {
	n := max(len(b)-formatOf[T]().size, 0)
	prefix := string(b[:n])
	if err := CheckPrefix(prefix); err != nil {
		return err
	}
	var inner T
	if err := pointer(&inner).UnmarshalBinary(b[n:]); err != nil {
		return err
	}
	*id = Any[T]{prefix, inner}
	return nil
}

// Value returns the text with the prefix.
func (id Any[T]) Value() (driver.Value, error) { return textValue(id) }

// Scan reads a text with any prefix.
func (id *Any[T]) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return id.UnmarshalText([]byte(src))
	case []byte:
		return id.UnmarshalText(src)
	}
	return notText(src)
}

var errNull = fmt.Errorf("typed: %w NULL; scan a nullable column into sql.Null of the type",
	sortid.ErrScan)

func textValue(id encoding.TextMarshaler) (driver.Value, error) {
	b, err := id.MarshalText()
	if err != nil {
		return nil, err
	}
	return string(b), nil
}

func notText(src any) error {
	if src == nil {
		return errNull
	}
	return fmt.Errorf("typed: %w a %T, want a text with a prefix", sortid.ErrScan, src)
}

func textOf(src any) (text string, ok bool) {
	switch src := src.(type) {
	case string:
		return src, true
	case []byte:
		return string(src), true
	}
	return "", false
}
