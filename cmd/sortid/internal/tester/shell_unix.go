//go:build unix

package tester

import (
	"os/exec"
	"syscall"
)

func shell(command string) *exec.Cmd { return exec.Command("/bin/sh", "-c", command) }

// ownGroup gives the process a group of its own, so that Ctrl-C reaches only sortid.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interruptGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
