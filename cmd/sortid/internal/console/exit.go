package console

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
)

// The exit codes of all commands.
const (
	Success     = 0
	Failure     = 1
	WrongUsage  = 2
	Interrupted = 130
)

// An ExitCode is an error that ends the command with this exit code, and prints nothing.
type ExitCode int

const (
	// ErrReported means that the command has printed the error.
	ErrReported = ExitCode(Failure)
	// ErrTrouble means that "sortid scan" has printed what it could not read.
	ErrTrouble     = ExitCode(WrongUsage)
	ErrInterrupted = ExitCode(Interrupted)
)

func (c ExitCode) Error() string { return "exit code " + strconv.Itoa(int(c)) }

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// UsageError returns err as a mistake in the arguments, or nil if err is nil.
func UsageError(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func UsageErrorf(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

func IsUsageError(err error) bool { return errors.As(err, new(usageError)) }

// ExitCodeOf returns the exit code, and whether to print the error.
func ExitCodeOf(err error) (code int, print bool) {
	var given ExitCode
	switch {
	case err == nil || ClosedPipe(err):
		return Success, false
	case errors.As(err, &given):
		return int(given), false
	case IsUsageError(err):
		return WrongUsage, true
	}
	return Failure, true
}

// ClosedPipe reports whether the reader of the output has closed it.
func ClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
