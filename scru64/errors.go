package scru64

import (
	"errors"
	"fmt"

	"github.com/sortid/sortid/internal/fault"
	"github.com/sortid/sortid/internal/window"
)

// The reasons why a text, a byte string or an integer is no ID; see [ParseError].
var (
	// ErrLength: the text is not 12 bytes long.
	ErrLength = errors.New("wrong length")
	// ErrSymbol: a character is not one of 0-9, a-z and A-Z.
	ErrSymbol = errors.New("not a Base36 digit")
	// ErrRange: an integer, or that of a binary form, is negative or not below 36^12.
	ErrRange = errors.New("not from 0 to 4738381338321616895, the largest ID")
	// ErrBinaryLength: the binary form is not 8 bytes long.
	ErrBinaryLength = errors.New("wrong length of the binary form")
)

var (
	// ErrField: a field's value is larger than its place in the ID allows.
	ErrField = errors.New("scru64: field out of range")
	// ErrScan: a database's value cannot be an ID.
	ErrScan = errors.New("scru64: cannot scan")
	// ErrNodeSpec: a node spec is malformed or missing, or its node ID does not fit its
	// size.
	ErrNodeSpec = errors.New("scru64: invalid node spec")
)

// Errors of a [Generator].
var (
	// ErrClockRollback: the clock went back by more than the allowance, or counter
	// overflows have taken the timestamp further than that ahead of it.
	ErrClockRollback = errors.New("scru64: the clock is behind the last ID by more than the rollback allowance")
	// ErrTimeRange: the clock shows a time that no ID can carry, before
	// 1970-01-01T00:00:00.256Z or after the year 4261.
	ErrTimeRange = errors.New("scru64: the clock is outside the timestamp's range")
	// ErrEntropy: the entropy source failed or gave too few bytes.
	ErrEntropy = errors.New("scru64: the entropy source failed")
	// ErrCounterStart: the function of [WithCounterStart] broke its contract.
	ErrCounterStart = errors.New("scru64: the counter cannot start there")
	// ErrLeaseExpired: the window of the lease has ended and was not renewed. The error
	// says why. It is lease.ErrExpired.
	ErrLeaseExpired = window.ErrExpired
	// ErrOption: an option's value makes no sense.
	ErrOption = errors.New("scru64: invalid option")
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
		detail = fmt.Sprintf("%d bytes, want 12", e.Length)
	case ErrBinaryLength:
		detail = fmt.Sprintf("%d bytes, want 8", e.Length)
	}
	return fault.Message("scru64", e.Input, e.Length, e.Offset, e.Err, detail)
}

// Unwrap returns the reason.
func (e *ParseError) Unwrap() error { return e.Err }

// rangeError is the error of an integer that is no ID.
func rangeError(decimal string) error {
	return &ParseError{Input: decimal, Length: len(decimal), Offset: -1, Err: ErrRange}
}
