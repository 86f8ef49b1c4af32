//go:build !linux

package supervise

import (
	"os"
	"os/signal"
)

func ignored(sig os.Signal) bool { return signal.Ignored(sig) }
