package extsort

import (
	"os"
	"syscall"
)

const oTmpfile = 0x400000 | syscall.O_DIRECTORY // O_TMPFILE, which package syscall lacks

// createUnnamed makes a file that never has a name, so nothing can leave it behind. Some file
// systems cannot.
func createUnnamed(dir string) (*os.File, error) {
	return os.OpenFile(dir, os.O_RDWR|oTmpfile, 0o600)
}
