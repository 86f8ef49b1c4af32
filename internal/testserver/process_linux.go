package testserver

import (
	"os/exec"
	"syscall"
)

// killWithParent makes the system kill a program when the tests end or are killed. Call it just
// before the program starts.
func killWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
