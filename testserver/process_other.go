//go:build !linux

package testserver

import "os/exec"

// killWithParent does nothing on this system: its programs end only with the test.
func killWithParent(*exec.Cmd) {}
