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

// runAs gives folders to a user, and makes a command run as this user. Without root, it changes
// nothing.
func runAs(t testing.TB, name string, dirs ...string) func(*exec.Cmd) {
	t.Helper()
	if os.Getuid() != 0 {
		return func(*exec.Cmd) {}
	}
	u, err := user.Lookup(name)
	if err != nil {
		Missing(t, "the server does not run as root, and there is no user "+name,
			"useradd --system "+name)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	for _, dir := range dirs {
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	as := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as} }
}
