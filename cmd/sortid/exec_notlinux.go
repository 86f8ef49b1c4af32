//go:build !linux

package main

import (
	"os/exec"

	"github.com/spf13/cobra"
)

// A watchdog does nothing here: only Linux can tie a program's life to this process, and
// signal it from another one without a doubt which process that is.
type watchdog struct{ gone chan struct{} }

func startWatchdog(deadlines, []string) (*watchdog, error) { return new(watchdog), nil }

func (*watchdog) guard(*exec.Cmd)      {}
func (*watchdog) tell(deadlines) error { return nil }
func (*watchdog) end() bool            { return false }

func (*app) addWatchdogCommand(*cobra.Command) {}
