//go:build !unix

package wrap

import "os"

// forwarded are the signals that "lease exec" passes on.
var forwarded = []os.Signal{os.Interrupt}

// fromKeyboard reports whether a terminal sends the signal to all its processes.
func fromKeyboard(sig os.Signal) bool { return sig == os.Interrupt }

// ends reports whether a signal ends a program by default.
func ends(os.Signal) bool { return true }
