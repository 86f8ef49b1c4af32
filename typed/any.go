package typed

import (
	"database/sql/driver"
	"encoding"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid"
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
	id.prefix = strings.Clone(prefix)
	if err := decode(&id.id, []byte(text), (*none)(nil)); err != nil {
		return Any[T]{}, afterPrefix(s[:len(s)-len(text)], err)
	}
	return id, nil
}

// As returns id as an [ID]. If id does not have the prefix of P, the error matches
// [sortid.ErrPrefix].
func As[I ID[P, T], P Prefixer, T Inner[T]](id Any[T]) (typed ID[P, T], err error) {
	if k := kindOf((*P)(nil)); id.prefix != k.prefix() {
		return typed, wrongPrefix[T]([]byte(id.String()), k)
	}
	return From[I](id.id), nil
}

// Prefix returns the prefix without the separator.
func (id Any[T]) Prefix() string { return id.prefix }

// Inner returns the ID inside.
func (id Any[T]) Inner() T { return id.id }

// Time returns the time in UTC.
func (id Any[T]) Time() time.Time { return id.id.Time() }

// IsZero reports whether the ID inside is the zero ID.
func (id Any[T]) IsZero() bool { return id.id.IsZero() }

// String is like [ID.String]. It does not check which prefix [ParseAny] would read from the text.
func (id Any[T]) String() string {
	var buf [MaxPrefixLen + 1 + maxText]byte
	b, err := id.appendText(buf[:0])
	if err != nil {
		return fmt.Sprint(id.id)
	}
	return string(b)
}

// AppendText appends the text to b. The error matches [sortid.ErrPrefix] if [ParseAny] would read
// another prefix from the text. This can happen for a result of [ID.Any], which does not check the
// text.
func (id Any[T]) AppendText(b []byte) ([]byte, error) {
	text, err := id.appendText(b)
	if err != nil {
		return b, err
	}
	if err := checkCut[T](id.prefix, text[len(b):]); err != nil {
		return b, err
	}
	return text, nil
}

func (id Any[T]) appendText(b []byte) ([]byte, error) {
	if id.prefix != "" {
		b = append(append(grow(b, len(id.prefix)+1), id.prefix...), '_')
	}
	return appendText(b, (*none)(nil), &id.id)
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

// Value returns the text with the prefix.
func (id Any[T]) Value() (driver.Value, error) { return textValue(id) }

// Scan reads a text with any prefix.
func (id *Any[T]) Scan(src any) error { return scanText(id, src) }

var errNull = fmt.Errorf("typed: %w NULL; scan a nullable column into sql.Null of the type",
	sortid.ErrScan)

func textValue(id encoding.TextMarshaler) (driver.Value, error) {
	b, err := id.MarshalText()
	if err != nil {
		return nil, err
	}
	return string(b), nil
}

func scanText(id encoding.TextUnmarshaler, src any) error {
	if src == nil {
		return errNull
	}
	text, ok := textOf(src)
	if !ok {
		return fmt.Errorf("typed: %w a %T, want a text with a prefix", sortid.ErrScan, src)
	}
	return id.UnmarshalText([]byte(text))
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

type none struct{}

func (none) Prefix() string { return "" }
