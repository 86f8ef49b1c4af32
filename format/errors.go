package format

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/parseerr"
)

var (
	// ErrEncoding: the format does not have the encoding, or a text is not in the encoding.
	ErrEncoding = errors.New("wrong encoding")
	// ErrOption: the format does not have the option, or the option's value is missing or wrong.
	ErrOption = errors.New("wrong option")
)

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

// An OptionError describes a wrong option of a generator. It wraps [ErrOption].
type OptionError struct {
	Option  string // The option's name, or [LeaseOption].
	Value   string
	Other   string // The option that conflicts, if any.
	Instead string // The option to use instead, if any.
	Err     error  // What is wrong.
}

// LeaseOption is the name of [Options.Lease] in an [OptionError].
const LeaseOption = "lease"

func (e *OptionError) Error() string { return e.Text("") }

// Text returns the error with a mark such as "--" before the names of options.
func (e *OptionError) Text(mark string) string {
	text := mark + e.Option
	if e.Value != "" {
		text += fmt.Sprintf(" %q", e.Value)
	}
	if e.Other != "" {
		text += " and " + mark + e.Other
	}
	text += ": " + e.Err.Error()
	if e.Instead != "" {
		text += "; use " + mark + e.Instead
	}
	return text
}

func (e *OptionError) Unwrap() []error { return []error{ErrOption, e.Err} }

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
