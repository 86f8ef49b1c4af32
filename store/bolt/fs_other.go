//go:build !linux && !darwin && !freebsd && !windows

package bolt

func inspect(string) ([]string, error) {
	return []string{"conditional: the guarantee holds only if the file is on a disk of this " +
		"machine, and not on a network file system"}, nil
}
