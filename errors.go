package sortid

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The reasons in a [ParseError].
var (
	ErrLength = errors.New("wrong length")
	ErrSymbol = errors.New("not a symbol of the alphabet")
	// ErrCheck: all characters are in the alphabet, but the check value shows a typing error.
	ErrCheck = errors.New("the check value does not fit, so the text is mistyped")
	// ErrRange: the number is negative or larger than the largest ID.
	ErrRange        = errors.New("out of range")
	ErrBinaryLength = errors.New("wrong length of the binary form")
	ErrUUIDLength   = errors.New("wrong length of a UUID")
	ErrUUID         = errors.New("not a UUID's digit or hyphen")
	ErrLayout       = errors.New("the fixed bits of the format have other values")
	// ErrUnlike and ErrWithin: no format is known.
	ErrUnlike = errors.New("the text resembles no ID")
	ErrWithin = errors.New("the text has an ID, with other text around it")
)

// ErrPrefix: a typed ID has the prefix of another type, or a prefix breaks the rules of package
// typed.
var ErrPrefix = errors.New("wrong prefix")

var (
	// ErrField: a value does not fit its field.
	ErrField = errors.New("field out of range")
	// ErrScan: a database value is NULL or has a type that cannot be an ID.
	ErrScan = errors.New("cannot scan")
)

// Errors of generators.
var (
	// ErrOption: an option is invalid, unknown or missing, options exclude each other, or the format
	// has no such encoding or node ID.
	ErrOption = errors.New("invalid option")
	// ErrClockRollback: the clock is too far behind the last ID. Either the clock went back, or the
	// timestamp went ahead because of full counters or a lease.
	ErrClockRollback = errors.New(
		"the clock is behind the last ID by more than the rollback allowance")
	// ErrTimeRange: the timestamp of a time, usually the clock's, does not fit its field, or is
	// reserved.
	ErrTimeRange = errors.New("the clock is outside the timestamp's range")
	ErrEntropy   = errors.New("the entropy source failed")
	// ErrOverflow: all IDs of the current tick are used.
	ErrOverflow = errors.New("the counter is full until the clock moves on")
	// ErrLeaseExpired: the lease has no free tick until its renewal.
	ErrLeaseExpired = errors.New("lease: expired")
	ErrLeaseClosed  = errors.New("lease: closed")
)

// An OptionError says which options are wrong, and why. It wraps [ErrOption].
type OptionError struct {
	Format  string   // The name of the format, or of a package that is for all formats.
	Options []string // The wrong option, or the options that do not fit together; may be empty.
	Value   string   // The first option's value, if it was read from a text.
	Instead string   // The option to use instead, if there is one.
	Err     error
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s: %v: %s", e.Format, ErrOption, e.Text(""))
}

// Text returns the error without the format. It writes the mark, such as "--", before each name of
// an option.
func (e *OptionError) Text(mark string) string {
	var b strings.Builder
	for i, name := range e.Options {
		if i > 0 {
			b.WriteString(" and ")
		}
		b.WriteString(mark + name)
		if i == 0 && e.Value != "" {
			fmt.Fprintf(&b, " %q", e.Value)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	if e.Instead != "" {
		b.WriteString("; use " + mark + e.Instead)
	}
	return b.String()
}

func (e *OptionError) Unwrap() []error { return []error{ErrOption, e.Err} }

// A ParseError says why an input is not an ID. It wraps its field Err.
type ParseError struct {
	Format string // The name of the format; empty if the format is not known.
	Input  string // An integer, or the first 64 bytes of a text; empty for a binary form.
	Length int    // The size of the whole input in bytes.

	// Offset is the index of the first wrong byte, or -1 if the whole input is wrong.
	Offset int

	Want string // what was expected, such as "12 bytes"
	Err  error  // the reason, such as one of the errors above, from ErrLength to ErrPrefix
}

func (e *ParseError) Error() string {
	if e.Format == "" {
		input := e.Input
		if e.Length > len(input) {
			input += "..."
		}
		return fmt.Sprintf("cannot tell what %q is: %v", input, e.Err)
	}
	var b strings.Builder
	b.WriteString(e.Format)
	b.WriteString(": cannot parse ")
	switch {
	case e.Length == 0:
		b.WriteString("an empty input")
	case e.Input == "":
		fmt.Fprintf(&b, "%d bytes", e.Length)
	default:
		fmt.Fprintf(&b, "%q", e.Input)
		if e.Length > len(e.Input) {
			b.WriteString("...")
		}
	}
	return b.String() + ": " + e.Reason()
}

// Reason returns the error without the format and the input.
func (e *ParseError) Reason() string {
	var b strings.Builder
	b.WriteString(e.Err.Error())
	switch {
	case e.Err == ErrLength || e.Err == ErrBinaryLength || e.Err == ErrUUIDLength:
		fmt.Fprintf(&b, ": %d bytes", e.Length)
	case 0 <= e.Offset && e.Offset < len(e.Input):
		r, size := utf8.DecodeRuneInString(e.Input[e.Offset:])
		if r == utf8.RuneError && size <= 1 {
			fmt.Fprintf(&b, ": byte 0x%02x", e.Input[e.Offset])
		} else {
			fmt.Fprintf(&b, ": %q", r)
		}
		fmt.Fprintf(&b, " at offset %d", e.Offset)
	}
	if e.Want != "" {
		fmt.Fprintf(&b, ", want %s", e.Want)
	}
	return b.String()
}

func (e *ParseError) Unwrap() error { return e.Err }

// An UnknownError says that a name is not known. Its text lists known names, such as the names that
// begin with the name and a hyphen.
type UnknownError struct {
	What  string   // The kind of thing, such as "format".
	Name  string   // The unknown name.
	Known []string // The valid names.
}

func (e *UnknownError) Error() string {
	const maxName, maxKnown = 64, 16
	name := e.Name
	if len(name) > maxName {
		name = name[:maxName] + "..."
	}
	known := slices.DeleteFunc(slices.Clone(e.Known), func(k string) bool {
		return !strings.HasPrefix(k, strings.ToLower(e.Name)+"-")
	})
	if len(known) == 0 {
		known = e.Known
	}
	if more := len(known) - maxKnown; more > 0 {
		known = append(known[:maxKnown:maxKnown], fmt.Sprintf("%d more", more))
	}
	text := strings.Join(known, ", ")
	if last := len(known) - 1; last > 0 {
		text = strings.Join(known[:last], ", ") + " and " + known[last]
	}
	return fmt.Sprintf("unknown %s %q; there are %s", e.What, name, text)
}
