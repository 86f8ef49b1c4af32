//go:build !unix

package supervise

import (
	"os/exec"
	"syscall"
)

func ownGroup(*exec.Cmd) bool { return false }

func signalGroup(int, syscall.Signal) bool { return false }
