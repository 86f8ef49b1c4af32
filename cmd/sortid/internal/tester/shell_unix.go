//go:build unix

package tester

import (
	"os/exec"
	"syscall"
)

// shell returns a command of the system's shell.
func shell(command string) *exec.Cmd { return exec.Command("/bin/sh", "-c", command) }

// ownGroup makes a command's processes a group, so that they can be ended together. A
// signal of the terminal then reaches sortid alone.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interruptGroup asks the command's processes to end.
func interruptGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killGroup kills them.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
