package bolt

import (
	"errors"
	"os"
	"runtime"
	"syscall"

	"github.com/sortid/sortid/store/internal/connect"
)

func refuse(name string) error {
	return connect.Unsafe("the file is on a network file system (%s), want one on a disk of this "+
		"machine; for several machines, use a store on a server", name)
}

// syncFolder makes sure that the names of a folder's files are on the disk.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows has no such call; NTFS keeps a journal of names
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // EINVAL: not supported
		return err
	}
	return nil
}
