//go:build !linux

package console

import "io"

// Widen does nothing, because this system cannot set a pipe's size.
func Widen(io.Writer) {}

func claimTerminal(io.Writer) io.Closer { return io.NopCloser(nil) }
