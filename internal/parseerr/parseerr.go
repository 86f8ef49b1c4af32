// Package parseerr makes the parse errors that the format packages share.
package parseerr

import (
	"fmt"
	"strconv"

	"github.com/sortid/sortid"
)

// MaxInput is how many bytes of a bad input an error keeps and shows.
const MaxInput = 64

func Clip[T string | []byte](input T) string {
	return string(input[:min(len(input), MaxInput)])
}

func Shorten(input string) string {
	if len(input) > MaxInput {
		return input[:MaxInput] + "..."
	}
	return input
}

// Text returns the error of a text. The parameter offset is the index of the first wrong
// byte, or -1.
func Text[T string | []byte](format string, input T, offset int, reason error, want string) error {
	return &sortid.ParseError{Format: format, Input: Clip(input), Length: len(input),
		Offset: offset, Want: want, Err: reason}
}

// Guess returns the error of a text whose format is not known.
func Guess(input string, reason error) *sortid.ParseError {
	return &sortid.ParseError{Input: Clip(input), Length: len(input), Offset: -1, Err: reason}
}

func Binary(format string, length int, reason error, want string) error {
	return &sortid.ParseError{Format: format, Length: length, Offset: -1, Want: want, Err: reason}
}

func Field(format, name string, value, limit uint64) error {
	return fmt.Errorf("%s: %w: %s is %d, want at most %d", format, sortid.ErrField, name, value,
		limit)
}

func Integer[T int64 | uint64](format string, v T, want string) error {
	decimal := strconv.FormatInt(int64(v), 10)
	if v >= 0 {
		decimal = strconv.FormatUint(uint64(v), 10)
	}
	return &sortid.ParseError{Format: format, Input: decimal, Length: len(decimal), Offset: -1,
		Want: want, Err: sortid.ErrRange}
}

func Scan(format string, src any, want string) error {
	if src == nil {
		return fmt.Errorf("%s: %w NULL; scan a nullable column into sql.Null[%[1]s.ID]", format,
			sortid.ErrScan)
	}
	return fmt.Errorf("%s: %w a %T, want %s", format, sortid.ErrScan, src, want)
}
