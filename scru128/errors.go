package scru128

import (
	"errors"
	"fmt"

	"github.com/sortid/sortid/internal/fault"
)

// The reasons why a text or a byte string is no ID; see [ParseError].
var (
	// ErrLength: the text is not 25 bytes long.
	ErrLength = errors.New("wrong length")
	// ErrSymbol: a character is not one of 0-9, a-z and A-Z.
	ErrSymbol = errors.New("not a Base36 digit")
	// ErrRange: the digits denote an integer of more than 128 bits.
	ErrRange = errors.New("larger than f5lxx1zz5pnorynqglhzmsp33, the largest ID")
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
	ErrField = errors.New("scru128: field out of range")
	// ErrScan: a database's value cannot be an ID.
	ErrScan = errors.New("scru128: cannot scan")
)

// Errors of a [Generator].
var (
	// ErrClockRollback: the clock went back by more than the allowance, or counter
	// overflows have taken the timestamp further than that ahead of it.
	ErrClockRollback = errors.New("scru128: the clock is behind the last ID by more than the rollback allowance")
	// ErrTimeRange: the clock shows a time that no ID can carry, before
	// 1970-01-01T00:00:00.001Z or after the year 10889.
	ErrTimeRange = errors.New("scru128: the clock is outside the timestamp's range")
	// ErrEntropy: the entropy source failed or gave too few bytes.
	ErrEntropy = errors.New("scru128: the entropy source failed")
	// ErrOption: an option's value makes no sense.
	ErrOption = errors.New("scru128: invalid option")
)

// A ParseError says why an input is no ID. [errors.Is] matches it with [ErrLength],
// [ErrSymbol], [ErrRange], [ErrBinaryLength], [ErrUUIDLength] and [ErrUUID].
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
		detail = fmt.Sprintf("%d bytes, want 25", e.Length)
	case ErrBinaryLength:
		detail = fmt.Sprintf("%d bytes, want 16", e.Length)
	case ErrUUIDLength:
		detail = fmt.Sprintf("%d bytes, want 36", e.Length)
	}
	return fault.Message("scru128", e.Input, e.Length, e.Offset, e.Err, detail)
}

// Unwrap returns the reason.
func (e *ParseError) Unwrap() error { return e.Err }
