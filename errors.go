package sortid

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The reasons why a text, a byte string or an integer is no ID; see [ParseError].
var (
	// ErrLength: the text has the wrong length for an ID.
	ErrLength = errors.New("wrong length")
	// ErrSymbol: a character is not one of the format's alphabet.
	ErrSymbol = errors.New("not a symbol of the alphabet")
	// ErrCheck: every character is valid, but the check value does not match: some characters are
	// wrong or out of order.
	ErrCheck = errors.New("the check value does not fit, so the text is mistyped")
	// ErrRange: the number is negative or larger than the largest ID.
	ErrRange = errors.New("out of range")
	// ErrBinaryLength: the binary form has the wrong length for an ID.
	ErrBinaryLength = errors.New("wrong length of the binary form")
	// ErrUUIDLength: the text of a UUID is not 36 bytes long.
	ErrUUIDLength = errors.New("wrong length of a UUID")
	// ErrUUID: a character of a UUID is not the hexadecimal digit or hyphen expected there.
	ErrUUID = errors.New("not a UUID's digit or hyphen")
)

// ErrPrefix: a typed ID has a prefix other than its type's, or a prefix breaks the rules; see
// package typed.
var ErrPrefix = errors.New("wrong prefix")

var (
	// ErrField: a field's value does not fit in the field's bits.
	ErrField = errors.New("field out of range")
	// ErrScan: a database value has a type that cannot be an ID.
	ErrScan = errors.New("cannot scan")
)

// Errors of generators.
var (
	// ErrOption: an option is invalid, or two options exclude each other.
	ErrOption = errors.New("invalid option")
	// ErrClockRollback: the clock is behind the last ID's timestamp by more than the rollback
	// allowance. The clock went back, or counter overflows or a lease moved the timestamp ahead.
	ErrClockRollback = errors.New(
		"the clock is behind the last ID by more than the rollback allowance")
	// ErrTimeRange: the clock shows a time that no ID can carry.
	ErrTimeRange = errors.New("the clock is outside the timestamp's range")
	// ErrEntropy: the entropy source failed or gave too few bytes.
	ErrEntropy = errors.New("the entropy source failed")
	// ErrOverflow: all IDs of the current tick are used, until the clock moves on.
	ErrOverflow = errors.New("the counter is full until the clock moves on")
	// ErrLeaseExpired: the lease grants no tick late enough, until it is renewed.
	ErrLeaseExpired = errors.New("lease: expired")
	// ErrLeaseClosed: the lease has been closed.
	ErrLeaseClosed = errors.New("lease: closed")
)

// An OptionError says which options of a generator are wrong. [errors.Is] matches it with
// [ErrOption].
type OptionError struct {
	Format string   // the name of the format's package
	Fields []string // of the Options: the one that is wrong, or those that exclude each other
	Err    error    // what is wrong
}

// Error returns the fields and what is wrong.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%s: %v: %s: %v", e.Format, ErrOption, strings.Join(e.Fields, " and "),
		e.Err)
}

// Unwrap returns [ErrOption] and what is wrong.
func (e *OptionError) Unwrap() []error { return []error{ErrOption, e.Err} }

// A ParseError says why an input is no ID. [errors.Is] matches it with [ErrLength],
// [ErrSymbol], [ErrCheck], [ErrRange], [ErrBinaryLength], [ErrUUIDLength], [ErrUUID] and
// [ErrPrefix].
type ParseError struct {
	Format string // the name of the format's package
	Input  string // the text, cut after 64 bytes, or an integer; empty for a binary form
	Length int    // of the whole input, in bytes

	// Offset is the place of the first wrong byte, from 0, or -1 if the whole input is wrong.
	Offset int

	Want string // what was expected, such as "12 bytes"
	Err  error  // the reason: one of the errors listed above
}

// Error returns the input, the reason, the wrong character and what was expected.
func (e *ParseError) Error() string {
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
	fmt.Fprintf(&b, ": %v", e.Err)
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

// Unwrap returns the reason.
func (e *ParseError) Unwrap() error { return e.Err }
