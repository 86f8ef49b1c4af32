//go:build !unix

package testserver

import (
	"os/exec"
	"testing"
)

// runAs skips the test: on this system a program cannot run as another user.
func runAs(t testing.TB, name, dir string) func(*exec.Cmd) {
	Missing(t, "cannot run the server as user %s on this system", name)
	return nil
}
