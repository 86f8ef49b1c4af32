package scru160

import (
	"errors"
	"fmt"

	"github.com/sortid/sortid/internal/fault"
	"github.com/sortid/sortid/internal/window"
)

// The reasons why a text or a byte string is no ID; see [ParseError].
var (
	// ErrLength: the text is neither 32 nor 40 bytes long.
	ErrLength = errors.New("wrong length")
	// ErrSymbol: a character of a 32-character text is not one of 0-9, A-V and a-v, or
	// one of a 40-character text is no hexadecimal digit.
	ErrSymbol = errors.New("not a digit of the encoding")
	// ErrBinaryLength: the binary form is not 20 bytes long.
	ErrBinaryLength = errors.New("wrong length of the binary form")
)

var (
	// ErrField: a field's value has more bits than its place in the ID.
	ErrField = errors.New("scru160: field out of range")
	// ErrScan: a database's value cannot be an ID.
	ErrScan = errors.New("scru160: cannot scan")
)

// Errors of a [Generator].
var (
	// ErrClockRollback: the clock went back by more than the allowance.
	ErrClockRollback = errors.New("scru160: the clock is behind the last ID by more than the rollback allowance")
	// ErrOverflow: the counter is used up until the clock reaches the next tick, and
	// the context ended before that.
	ErrOverflow = errors.New("scru160: the counter is full until the clock moves on")
	// ErrTimeRange: the clock shows a time that no ID can carry, before
	// 1970-01-01T00:00:00.001Z or after the year 10889.
	ErrTimeRange = errors.New("scru160: the clock is outside the timestamp's range")
	// ErrEntropy: the entropy source failed or gave too few bytes.
	ErrEntropy = errors.New("scru160: the entropy source failed")
	// ErrLeaseExpired: the window of the lease has ended and was not renewed. The error
	// says why. It is lease.ErrExpired.
	ErrLeaseExpired = window.ErrExpired
	// ErrOption: an option's value makes no sense.
	ErrOption = errors.New("scru160: invalid option")
)

// A ParseError says why an input is no ID. [errors.Is] matches it with [ErrLength],
// [ErrSymbol] and [ErrBinaryLength].
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
		detail = fmt.Sprintf("%d bytes, want 32 of base32hex or 40 of hex", e.Length)
	case ErrBinaryLength:
		detail = fmt.Sprintf("%d bytes, want 20", e.Length)
	case ErrSymbol:
		detail = "a text of 32 characters is base32hex, of 0-9 and A-V"
		if e.Length == HexLen {
			detail = "a text of 40 characters is hex, of 0-9 and a-f"
		}
	}
	return fault.Message("scru160", e.Input, e.Length, e.Offset, e.Err, detail)
}

// Unwrap returns the reason.
func (e *ParseError) Unwrap() error { return e.Err }
