package supervise

import (
	"os"
	"path/filepath"
	"strings"
)

var withoutCgroups bool // in tests

// newCgroup makes a cgroup for the program below the one of this process, and returns its
// directory. This only makes SIGKILL complete in one step, so there is no error: newCgroup returns
// "" if it may not make one, as in most containers.
func newCgroup() string {
	if withoutCgroups {
		return ""
	}
	own := ownCgroup()
	// Many programs read their limits here, but not in the cgroups above. So where there are
	// limits, the program stays.
	for _, limit := range []string{"memory.max", "memory.high", "cpu.max"} {
		text, err := os.ReadFile(filepath.Join(own, limit))
		if err == nil && !strings.HasPrefix(string(text), "max") {
			return ""
		}
	}
	if own == "" {
		return ""
	}
	dir, err := os.MkdirTemp(own, "sortid-exec-")
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
		os.Remove(dir)
		return ""
	}
	return dir
}

// ownCgroup returns the directory of this process's cgroup, or "" if there is none.
func ownCgroup() string {
	own, _ := os.ReadFile("/proc/self/cgroup")
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(own)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		for mount := range strings.Lines(string(mounts)) {
			before, after, _ := strings.Cut(mount, " - cgroup2 ")
			if fields := strings.Fields(before); ok && after != "" && len(fields) > 4 &&
				fields[3] == "/" && filepath.IsLocal(filepath.Join(".", path)) {
				return filepath.Join(fields[4], path)
			}
		}
	}
	return ""
}

func killCgroup(dir string) {
	if dir != "" {
		os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
	}
}
