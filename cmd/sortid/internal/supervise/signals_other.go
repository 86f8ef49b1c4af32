//go:build !unix

package supervise

import "os"

var forwarded = []os.Signal{os.Interrupt}

func fromKeyboard(sig os.Signal) bool { return sig == os.Interrupt }

func ends(os.Signal) bool { return true }
