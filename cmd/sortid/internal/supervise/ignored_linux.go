package supervise

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// ignored reports whether this process ignored a signal when ignored was called first.
// [signal.Ignored] does not know the signals of job control, such as SIGTSTP.
func ignored(sig os.Signal) bool {
	s, ok := sig.(syscall.Signal)
	return signal.Ignored(sig) || ok && s > 0 && ignoredByKernel()>>(s-1)&1 == 1
}

// ignoredByKernel returns a bit for each signal, the lowest one for signal 1.
var ignoredByKernel = sync.OnceValue(func() (mask uint64) {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := bytes.Cut(status, []byte("\nSigIgn:"))
	fmt.Sscanf(string(rest), "%x", &mask)
	return mask
})
