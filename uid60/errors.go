package uid60

import (
	"errors"
	"fmt"

	"github.com/sortid/sortid/internal/fault"
	"github.com/sortid/sortid/internal/window"
)

// The reasons why a text, a byte string or an integer is no ID; see [ParseError].
var (
	// ErrLength: the text is not 4 to 10 bytes long.
	ErrLength = errors.New("wrong length")
	// ErrSymbol: a character is not one of A-Z, a-z, 0-9, - and _.
	ErrSymbol = errors.New("not one of A-Z, a-z, 0-9, - and _")
	// ErrRange: an integer, or that of a binary form, is negative or not below 2^60.
	ErrRange = errors.New("not from 0 to 1152921504606846975, the largest ID")
	// ErrBinaryLength: the binary form is not 8 bytes long.
	ErrBinaryLength = errors.New("wrong length of the binary form")
)

var (
	// ErrField: a field's value has more bits than its place in the ID.
	ErrField = errors.New("uid60: field out of range")
	// ErrScan: a database's value cannot be an ID.
	ErrScan = errors.New("uid60: cannot scan")
)

// Errors of a [Generator].
var (
	// ErrClockRollback: the clock went back by more than the allowance.
	ErrClockRollback = errors.New("uid60: the clock is behind the last ID by more than the rollback allowance")
	// ErrOverflow: the sequence is used up until the clock reaches the next millisecond,
	// and the context ended before that.
	ErrOverflow = errors.New("uid60: the sequence is used up until the clock moves on")
	// ErrTimeRange: the clock shows a time that no ID can carry, before
	// 2018-03-01T00:00:00.001Z or after 2157-07-13T07:35:11.102Z.
	ErrTimeRange = errors.New("uid60: the clock is outside the timestamp's range")
	// ErrEntropy: the entropy source failed or gave too few bytes.
	ErrEntropy = errors.New("uid60: the entropy source failed")
	// ErrLeaseExpired: the window of the lease has ended and was not renewed. The error
	// says why. It is lease.ErrExpired.
	ErrLeaseExpired = window.ErrExpired
	// ErrOption: an option's value makes no sense.
	ErrOption = errors.New("uid60: invalid option")
)

// A ParseError says why an input is no ID. [errors.Is] matches it with [ErrLength],
// [ErrSymbol], [ErrRange] and [ErrBinaryLength].
type ParseError struct {
	Input  string // the text, cut after 64 bytes, or an integer; empty for a binary form
	Length int    // the length of the whole input in bytes
	Offset int    // the first offending byte, counted from 0; -1 for a fault of the whole
	Err    error  // the reason, one of those above
}

func (e *ParseError) Error() string {
	detail := ""
	switch e.Err {
	case ErrLength:
		detail = fmt.Sprintf("%d bytes, want 4 to 10", e.Length)
	case ErrBinaryLength:
		detail = fmt.Sprintf("%d bytes, want 8", e.Length)
	}
	return fault.Message("uid60", e.Input, e.Length, e.Offset, e.Err, detail)
}

// Unwrap returns the reason.
func (e *ParseError) Unwrap() error { return e.Err }

// rangeError is the error of an integer that is no ID.
func rangeError(decimal string) error {
	return &ParseError{Input: decimal, Length: len(decimal), Offset: -1, Err: ErrRange}
}
