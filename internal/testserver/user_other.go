//go:build !unix

package testserver

import (
	"os/exec"
	"testing"
)

// runAs does nothing, because this system has no superuser.
func runAs(testing.TB, string, ...string) func(*exec.Cmd) { return func(*exec.Cmd) {} }
