package format

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/parseerr"
)

var (
	// ErrEncoding: the IDs of a format do not have the encoding, or a text is not of it.
	ErrEncoding = errors.New("wrong encoding")
	// ErrOption: an option that the format does not have, lacks, or has with another
	// kind of value.
	ErrOption = errors.New("wrong option")
)

// An UnknownError is a name that stands for nothing.
type UnknownError struct {
	What  string   // "format", "encoding"
	Name  string   // as given
	Known []string // what would be right
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown %s %q; there are %s", e.What, parseerr.Shorten(e.Name), list(e.Known, "and"))
}

// A TimeError is a time that no ID of a format can show.
type TimeError struct {
	Format *Format
	Time   time.Time
}

func (e *TimeError) Error() string {
	first, last := e.Format.Range()
	return fmt.Sprintf("%s: %s is outside the format's range, %s to %s",
		e.Format.Name, FormatTime(e.Time), FormatTime(first), FormatTime(last))
}

// An OptionError is a wrong value of an option of a format's generators. It matches
// [ErrOption].
type OptionError struct {
	Option, Value string // as given
	Err           error  // what is wrong
}

func (e *OptionError) Error() string   { return fmt.Sprintf("%s %q: %v", e.Option, e.Value, e.Err) }
func (e *OptionError) Unwrap() []error { return []error{ErrOption, e.Err} }

// A kindError matches a sentinel, but has words of its own.
type kindError struct {
	error
	kind error
}

func (e *kindError) Unwrap() []error { return []error{e.error, e.kind} }

// kindErrorf returns an error that matches kind.
func kindErrorf(kind error, format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), kind}
}

// list joins names as a sentence does.
func list(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}
