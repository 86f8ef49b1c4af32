package format

import (
	"fmt"
)

type kindError struct {
	error
	kind error
}

func (e *kindError) Unwrap() []error { return []error{e.error, e.kind} }

// kindErrorf is like [fmt.Errorf]. The error also matches the error in kind, but does not print
// it.
func kindErrorf(kind error, format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), kind}
}
