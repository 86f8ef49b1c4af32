package bolt

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// remote has the network file systems. Two machines that share such a file system may both get the
// file's lock, and may see each other's changes late.
var remote = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.AFS_FS_MAGIC:     "AFS",
	unix.CODA_SUPER_MAGIC: "Coda",
	unix.CEPH_SUPER_MAGIC: "Ceph",
	0x0bd00bd0:            "Lustre",
	0x01161970:            "GFS2",
	0x7461636f:            "OCFS2",
	0x47504653:            "GPFS",
	0x19830326:            "BeeGFS",
	0xaad7aaea:            "PanFS",
}

const (
	elsewhere = "the file is on %s, which may belong to another machine: " +
		"the guarantee holds only if no other machine uses the file, and if the file system " +
		"keeps the data that it has synced"
	transient = "the file is on %s, which a restart of the machine empties: " +
		"the guarantee holds only if each restart takes longer than the realm's window and lead, " +
		"or if you fence the realm after each restart"
	layered = "the file is on %s, as in a container, and may disappear with the container: " +
		"the guarantee holds only if all processes are in this container, and if a new container " +
		"starts only after the realm's window and lead have passed or you have fenced the realm"
)

var doubtful = map[uint32]struct{ name, condition string }{
	unix.FUSE_SUPER_MAGIC:      {"FUSE", elsewhere},
	unix.V9FS_MAGIC:            {"9P", elsewhere},
	0x786f4256:                 {"vboxsf", elsewhere},
	unix.TMPFS_MAGIC:           {"tmpfs", transient},
	unix.RAMFS_MAGIC:           {"ramfs", transient},
	unix.OVERLAYFS_SUPER_MAGIC: {"overlayfs", layered},
}

func inspect(path string) ([]string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return nil, fmt.Errorf("cannot find out what file system it is on: %w", err)
	}
	return conditionsOf(uint32(st.Type))
}

func conditionsOf(kind uint32) ([]string, error) {
	if name, ok := remote[kind]; ok {
		return nil, refuse(name)
	}
	if d, ok := doubtful[kind]; ok {
		return []string{"conditional: " + fmt.Sprintf(d.condition, d.name)}, nil
	}
	return nil, nil
}

func holder(path string) string {
	const unknown = "another process"
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return unknown
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return unknown
	}
	defer locks.Close()
	id := fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)),
		st.Ino)
	// A line is "1: FLOCK ADVISORY WRITE 4711 fe:00:131073 0 EOF".
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != id {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return strings.TrimSpace(fmt.Sprintf("process %d %s", pid, name))
		}
	}
	return unknown
}
