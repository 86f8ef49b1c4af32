//go:build !linux

package testserver

import "os/exec"

// killWithParent does nothing: if the tests are killed, the program continues.
func killWithParent(*exec.Cmd) {}
