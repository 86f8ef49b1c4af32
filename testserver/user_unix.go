//go:build unix

package testserver

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// runAs gives a folder to a user, and returns a function that makes a command run as that user.
func runAs(t testing.TB, name, dir string) func(*exec.Cmd) {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		Missing(t, "the server does not run as root, and there is no user %s", name)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	return func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid),
			Gid: uint32(gid)}}
	}
}
