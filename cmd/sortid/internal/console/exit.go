// Package exit derives the exit code from errors and signals.
package exit

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
)

const (
	OK         = 0
	Bad        = 1
	WrongUsage = 2
	Interrupt  = 130
)

// A Status ends the command with this exit code, and prints nothing.
type Status int

const (
	// ErrReported means that the command has printed the error.
	ErrReported = Status(Bad)
	// ErrTrouble means that "sortid scan" has printed what it could not read.
	ErrTrouble     = Status(WrongUsage)
	ErrInterrupted = Status(Interrupt)
)

func (s Status) Error() string { return "exit code " + strconv.Itoa(int(s)) }

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage returns err as a mistake in the arguments, or nil if err is nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func IsUsage(err error) bool { return errors.As(err, new(usageError)) }

// Code returns the exit code, and whether to print the error.
func Code(err error) (code int, print bool) {
	var status Status
	switch {
	case err == nil || ClosedPipe(err):
		return OK, false
	case errors.As(err, &status):
		return int(status), false
	case IsUsage(err):
		return WrongUsage, true
	}
	return Bad, true
}

// ClosedPipe reports whether the reader of the output has closed it.
func ClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
