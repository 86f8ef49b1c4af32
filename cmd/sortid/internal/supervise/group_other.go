//go:build !unix

package wrap

import (
	"os/exec"
	"syscall"
)

func ownGroup(*exec.Cmd) bool { return false }

func signalGroup(int, syscall.Signal) bool { return false }
