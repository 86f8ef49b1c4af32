package sortid

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The reasons why a text, a byte string or an integer is no ID; see [ParseError].
var (
	// ErrLength: the text does not have the length of an ID.
	ErrLength = errors.New("wrong length")
	// ErrSymbol: a character is not one of the format's alphabet.
	ErrSymbol = errors.New("not a symbol of the alphabet")
	// ErrCheck: all characters are symbols of the alphabet, but the check value does not
	// fit them: some are wrong or out of order.
	ErrCheck = errors.New("the check value does not fit, so the text is mistyped")
	// ErrRange: the number is negative or larger than that of the largest ID.
	ErrRange = errors.New("out of range")
	// ErrBinaryLength: the binary form does not have the length of an ID.
	ErrBinaryLength = errors.New("wrong length of the binary form")
	// ErrUUIDLength: the text of a UUID is not 36 bytes long.
	ErrUUIDLength = errors.New("wrong length of a UUID")
	// ErrUUID: a character of a UUID is not the hexadecimal digit or the hyphen that
	// belongs there.
	ErrUUID = errors.New("not a UUID's digit or hyphen")
)

var (
	// ErrField: a field's value has more bits than its place in the ID.
	ErrField = errors.New("field out of range")
	// ErrScan: a database's value is of a type that cannot be an ID.
	ErrScan = errors.New("cannot scan")
)

// Errors of generators.
var (
	// ErrOption: an option's value makes no sense, or two exclude each other.
	ErrOption = errors.New("invalid option")
	// ErrClockRollback: the clock is behind the timestamp of the last ID by more than the
	// rollback allowance: it went back, or counter overflows or a lease have taken the
	// timestamp ahead of it.
	ErrClockRollback = errors.New("the clock is behind the last ID by more than the rollback allowance")
	// ErrTimeRange: the clock shows a time that no ID can carry.
	ErrTimeRange = errors.New("the clock is outside the timestamp's range")
	// ErrEntropy: the entropy source failed or gave too few bytes.
	ErrEntropy = errors.New("the entropy source failed")
	// ErrOverflow: the IDs of the present tick are used up until the clock has passed it.
	ErrOverflow = errors.New("the counter is full until the clock moves on")
	// ErrLeaseExpired: the lease grants no tick that is late enough, until it is renewed.
	ErrLeaseExpired = errors.New("lease: expired")
	// ErrLeaseClosed: the lease has been closed.
	ErrLeaseClosed = errors.New("lease: closed")
)

// A ParseError says why an input is no ID. [errors.Is] matches it with [ErrLength],
// [ErrSymbol], [ErrCheck], [ErrRange], [ErrBinaryLength], [ErrUUIDLength] and [ErrUUID].
type ParseError struct {
	Format string // the name of the format's package
	Input  string // the text, cut after 64 bytes, or an integer; empty for a binary form
	Length int    // the length of the whole input in bytes
	Offset int    // of the first wrong byte, counted from 0; -1 if the error concerns the whole
	Want   string // what was expected, as in "12 bytes"
	Err    error  // the reason, one of those above
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
