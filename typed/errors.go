package typed

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

// prefixed reports whether a value is a text that has the prefix of P before an ID's text.
func prefixed[P Prefixer, T Inner[T]](src any) bool {
	text, _ := textOf(src)
	rest, ok := cutPrefix([]byte(text), phantom[P]{}.Prefix())
	var id T
	return ok && len(rest) < len(text) && decodeText(&id, rest) == nil
}

// scanFailed reads an old text, or returns the error. The parameter err is the error of the ID
// inside.
func scanFailed[P Prefixer, T Inner[T]](id *T, src any, err error) error {
	text, ok := textOf(src)
	switch {
	case src == nil:
		return errNull
	case !ok:
		return err
	case prefixed[P, T](src):
		return fmt.Errorf("typed: %w %q: it has a prefix; scan it into a typed.Text",
			sortid.ErrScan, parseerr.Shorten(text))
	}
	return parseOld[P](id, text, err)
}

// failed reads an old text, or returns the error. The parameter err is the error of the text after
// the prefix, or nil if the prefix is wrong.
func failed[P Prefixer, T Inner[T]](id *T, b []byte, err error) error {
	prefix, s := prefixOf[P](), string(b)
	after := len(appendPrefix(nil, prefix))
	i := separator[T](s)
	// The text may have a longer prefix, such as user_admin instead of user.
	longer := i >= after && strings.Trim(s[:i], prefixSymbols) == ""
	if err == nil || longer {
		err = wrongPrefix(prefix, s, i)
	} else {
		err = afterPrefix(s, after, err)
	}
	return parseOld[P](id, s, err)
}

// wrongPrefix returns the error of a text that lacks a prefix. The parameter separator is its
// index, or -1.
func wrongPrefix(prefix, s string, separator int) error {
	want := fmt.Sprintf("%q", prefix)
	if prefix == "" {
		want = "no prefix"
	}
	reason := fmt.Errorf("%w: there is none", sortid.ErrPrefix)
	switch {
	case separator == 0:
		reason = fmt.Errorf("%w: there is none before the _", sortid.ErrPrefix)
	case separator > 0:
		reason = fmt.Errorf("%w %q", sortid.ErrPrefix, parseerr.Shorten(s[:separator]))
	}
	return parseerr.Text(name, s, -1, reason, want)
}

// afterPrefix returns the error of the whole text s. Err is the error of the part from the offset.
func afterPrefix(s string, offset int, err error) error {
	var inner *sortid.ParseError
	if offset == 0 || !errors.As(err, &inner) {
		return err
	}
	if inner.Offset >= 0 {
		return parseerr.Text(name, s, offset+inner.Offset, inner.Err, inner.Want)
	}
	want := inner.Want
	if inner.Err == sortid.ErrLength || inner.Err == sortid.ErrUUIDLength {
		reason := fmt.Errorf("%w after %q: %d bytes", inner.Err, s[:offset], len(s)-offset)
		return parseerr.Text(name, s, -1, reason, want)
	}
	if want != "" {
		want += fmt.Sprintf(" after %q", s[:offset])
	}
	return parseerr.Text(name, s, -1, inner.Err, want)
}

// An OldParser reads other texts that clients still send, or that a column still contains. If the
// type of a prefix is an OldParser[T], then [Parse], [ID.UnmarshalText] and [ID.Scan] call ParseOld
// with each text that is not the ID's. What they write does not change.
type OldParser[T any] interface {
	ParseOld(text string) (T, error)
}

// parseOld reads a text if the type of the prefix is an OldParser. Otherwise it returns err.
func parseOld[P Prefixer, T Inner[T]](id *T, text string, err error) error {
	var p P
	old, ok := any(p).(OldParser[T])
	if !ok {
		return err
	}
	parsed, oldErr := old.ParseOld(text)
	if oldErr != nil {
		return fmt.Errorf("%w; nor is it an old text: %w", err, oldErr)
	}
	*id = parsed
	return nil
}
