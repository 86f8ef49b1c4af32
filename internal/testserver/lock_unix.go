//go:build unix && !solaris && !aix

package testserver

import (
	"os"
	"syscall"
)

var locked *os.File // a file that the garbage collector closes is no longer locked

func lockFile(path string) (err error) {
	if locked, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	for {
		if err = syscall.Flock(int(locked.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}
