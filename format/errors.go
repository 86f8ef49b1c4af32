package format

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/parseerr"
)

// ErrEncoding: the format does not have the encoding, or an ID has no other format's form.
var ErrEncoding = errors.New("wrong encoding")

type UnknownError struct {
	What  string   // "format", "encoding"
	Name  string   // the unknown name
	Known []string // the valid names
}

func (e *UnknownError) Error() string {
	const maxNames = 16
	known := list(e.Known, "and")
	if more := len(e.Known) - maxNames; more > 0 {
		known = fmt.Sprintf("%s and %d more", strings.Join(e.Known[:maxNames], ", "), more)
	}
	return fmt.Sprintf("unknown %s %q; there are %s", e.What, parseerr.Shorten(e.Name), known)
}

// A TimeError says that a time is outside [Format.Range].
type TimeError struct {
	Format *Format
	Time   time.Time
}

func (e *TimeError) Error() string {
	first, last := e.Format.Range()
	return fmt.Sprintf("%s: %s is outside the format's range, %s to %s",
		e.Format.Name, FormatTime(e.Time), FormatTime(first), FormatTime(last))
}

type kindError struct {
	error
	kind error
}

func (e *kindError) Unwrap() []error { return []error{e.error, e.kind} }

// kindErrorf is like [fmt.Errorf]. The error also matches the error in kind, but does not print
// it.
func kindErrorf(kind error, format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), kind}
}

func list(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}
