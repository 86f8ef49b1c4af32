//go:build !linux && !darwin && !freebsd && !windows

package bolt

// inspect cannot distinguish file systems on this operating system.
func inspect(string) ([]string, error) {
	return []string{"conditional: the guarantee holds only if the file is on a disk of this " +
		"machine, and not on a network file system"}, nil
}
