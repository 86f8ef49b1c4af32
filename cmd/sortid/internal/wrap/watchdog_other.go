//go:build !linux

package wrap

import (
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

// A watchdog does nothing here. Only Linux can end a program together with its parent, and let
// another process signal the program safely.
type watchdog struct{ gone chan struct{} }

func startWatchdog(deadlines, []string) (*watchdog, error) { return new(watchdog), nil }

func (*watchdog) guard(*exec.Cmd)      {}
func (*watchdog) tell(deadlines) error { return nil }
func (*watchdog) end() bool            { return false }

func AddWatchdog(*console.Console, *cobra.Command) {}
