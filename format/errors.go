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
	const most = 16 // names in an error
	known := list(e.Known, "and")
	if more := len(e.Known) - most; more > 0 {
		known = fmt.Sprintf("%s and %d more", strings.Join(e.Known[:most], ", "), more)
	}
	return fmt.Sprintf("unknown %s %q; there are %s", e.What, parseerr.Shorten(e.Name), known)
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
	Option  string // Its name, or [LeaseOption].
	Value   string // As given; empty for a lease.
	Other   string // The option that it does not go with, if that is what is wrong.
	Instead string // The option that the format has instead, if there is one.
	Err     error  // What is wrong.
}

// LeaseOption stands for [Options.Lease] in an [OptionError].
const LeaseOption = "lease"

func (e *OptionError) Error() string { return e.Text("") }

// Text returns the error with a mark before the names of options, such as the hyphens of flags.
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
