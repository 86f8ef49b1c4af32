//go:build unix && !linux

package supervise

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the program a process group of its own, and reports whether it can.
func ownGroup(cmd *exec.Cmd) bool {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return true
}

// signalGroup signals a process group, and reports whether a process is in it.
func signalGroup(group int, s syscall.Signal) bool { return syscall.Kill(-group, s) == nil }
