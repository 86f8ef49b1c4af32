//go:build !linux

package console

import "io"

// Widen does nothing, because this system cannot set the size of a pipe.
func Widen(io.Writer) {}
