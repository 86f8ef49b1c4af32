//go:build darwin || freebsd

package bolt

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func inspect(path string) ([]string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return nil, fmt.Errorf("cannot find out what file system it is on: %w", err)
	}
	if st.Flags&unix.MNT_LOCAL == 0 {
		return nil, refuse(unix.ByteSliceToString(st.Fstypename[:]))
	}
	return nil, nil
}
