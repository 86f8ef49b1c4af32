package parseerr

import "fmt"

type kindError struct {
	error
	kind error
}

func (e *kindError) Unwrap() []error { return []error{e.error, e.kind} }

// Kindf is like [fmt.Errorf]. The error also matches the error in kind, but does not print it.
func Kindf(kind error, format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), kind}
}
