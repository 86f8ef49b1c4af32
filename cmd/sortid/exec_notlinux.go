//go:build !linux

package main

import "os/exec"

// dieWithParent does nothing: only Linux can tie a program's life to this process.
func dieWithParent(*exec.Cmd) {}
