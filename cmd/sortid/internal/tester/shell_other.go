//go:build !unix

package tester

import (
	"os/exec"
	"strconv"
)

func shell(command string) *exec.Cmd { return exec.Command("cmd", "/c", command) }

func ownGroup(*exec.Cmd) {}

// interruptGroup does nothing, because on Windows nobody can ask console programs to end.
func interruptGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) {
	exec.Command("taskkill", "/t", "/f", "/pid", strconv.Itoa(cmd.Process.Pid)).Run()
	cmd.Process.Kill()
}
