//go:build !linux

package testserver

import "os/exec"

// dieTogether does nothing: here only the end of the test ends its programs.
func dieTogether(*exec.Cmd) {}
