package main

import (
	"os/exec"
	"syscall"
)

// dieWithParent has a program killed when this process ends, however it ends.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
