//go:build !windows && !plan9 && !solaris && !aix && !android

package bolt

import (
	"os"
	"syscall"
)

func unlock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
