//go:build unix

package supervise

import (
	"os"
	"syscall"
)

// forwarded are the signals that "lease exec" passes on.
var forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
	syscall.SIGUSR2,
	syscall.SIGWINCH, syscall.SIGCONT,
}

// fromKeyboard reports whether a terminal sends the signal to all foreground processes.
func fromKeyboard(sig os.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH:
		return true
	}
	return false
}

// ends reports whether a signal ends a program by default.
func ends(sig os.Signal) bool { return sig != syscall.SIGWINCH && sig != syscall.SIGCONT }
