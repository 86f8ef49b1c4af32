package testserver

import (
	"os/exec"
	"syscall"
)

// dieTogether has a program killed when the tests end, even if they are killed
// themselves. Call it last before the start.
func dieTogether(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
