//go:build !linux

package testserver

import "os/exec"

// killWithParent does nothing on this system: only the end of the test ends its programs.
func killWithParent(*exec.Cmd) {}
