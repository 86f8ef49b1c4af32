//go:build unix && !aix && !solaris

package access

import (
	"os"
	"syscall"
)

// lock waits for the file's lock. Closing the file unlocks it.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}
