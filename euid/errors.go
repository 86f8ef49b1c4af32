package euid

import (
	"errors"
	"fmt"

	"github.com/sortid/sortid/internal/fault"
)

// The reasons why a text or a byte string is no ID; see [ParseError].
var (
	// ErrLength: the text is not 27 bytes long.
	ErrLength = errors.New("wrong length")
	// ErrSymbol: a character is not one of 0-9, A-Z and a-z, or is U or u.
	ErrSymbol = errors.New("not a symbol of Crockford's Base32")
	// ErrCheck: all characters are symbols, but the check value at the end is not that
	// of the ID before it: some characters are wrong or out of order.
	ErrCheck = errors.New("the check value does not fit: the text is mistyped")
	// ErrBinaryLength: the binary form is not 16 bytes long.
	ErrBinaryLength = errors.New("wrong length of the binary form")
	// ErrUUIDLength: the text of a UUID is not 36 bytes long.
	ErrUUIDLength = errors.New("wrong length of a UUID")
	// ErrUUID: a character of a UUID is not the hexadecimal digit or the hyphen that
	// belongs there.
	ErrUUID = errors.New("not a UUID's digit or hyphen")
)

var (
	// ErrField: a field's value has more bits than its place in the ID.
	ErrField = errors.New("euid: field out of range")
	// ErrScan: a database's value cannot be an ID.
	ErrScan = errors.New("euid: cannot scan")
)

// Errors of a [Generator].
var (
	// ErrClockRollback: the clock went back by more than the allowance.
	ErrClockRollback = errors.New("euid: the clock is behind the last ID by more than the rollback allowance")
	// ErrOverflow: the millisecond's IDs are used up; the next millisecond has more.
	ErrOverflow = errors.New("euid: no ID is left in this millisecond")
	// ErrTimeRange: the clock shows a time that no ID can carry, before 1970 or after
	// 2109-05-15T07:35:11.103Z.
	ErrTimeRange = errors.New("euid: the clock is outside the timestamp's range")
	// ErrEntropy: the entropy source failed or gave too few bytes.
	ErrEntropy = errors.New("euid: the entropy source failed")
	// ErrOption: an option's value makes no sense.
	ErrOption = errors.New("euid: invalid option")
)

// A ParseError says why an input is no ID. [errors.Is] matches it with [ErrLength],
// [ErrSymbol], [ErrCheck], [ErrBinaryLength], [ErrUUIDLength] and [ErrUUID].
type ParseError struct {
	Input  string // the text, cut after 64 bytes; empty for a binary form
	Length int    // the length of the whole input in bytes
	Offset int    // the first offending byte, counted from 0; -1 for a fault of the whole
	Err    error  // the reason, one of those above
}

func (e *ParseError) Error() string {
	detail := ""
	switch e.Err {
	case ErrLength:
		detail = fmt.Sprintf("%d bytes, want 27", e.Length)
	case ErrBinaryLength:
		detail = fmt.Sprintf("%d bytes, want 16", e.Length)
	case ErrUUIDLength:
		detail = fmt.Sprintf("%d bytes, want 36", e.Length)
	}
	return fault.Message("euid", e.Input, e.Length, e.Offset, e.Err, detail)
}

// Unwrap returns the reason.
func (e *ParseError) Unwrap() error { return e.Err }
