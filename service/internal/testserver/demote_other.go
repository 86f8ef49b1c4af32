//go:build !unix

package testserver

import (
	"os/exec"
	"testing"
)

// demote is for users with numbers.
func demote(t testing.TB, name, dir string) func(*exec.Cmd) {
	Missing(t, "cannot run the server as user %s on this system", name)
	return nil
}
