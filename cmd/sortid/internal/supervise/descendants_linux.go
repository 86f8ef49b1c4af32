package supervise

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalFamily sends a signal to the descendants of the process root, parents first. If told is not
// nil, signalFamily leaves out the processes in told, and adds the others. It returns how many
// processes got the signal, and which of them this process may not signal. It can miss a process
// that starts meanwhile. The caller tries again, until there is none left.
func signalFamily(root int, s syscall.Signal, told map[int]bool) (sent int, refused []int) {
	list := childrenOf
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		list = byParent()
	}
	seen := map[int]bool{root: true}
	var visit func(parent int, pids []int)
	visit = func(parent int, pids []int) {
		for _, pid := range pids {
			if seen[pid] {
				continue
			}
			seen[pid] = true
			// Another process can have the process ID by now. While the descriptor can be
			// signalled, all that is read here is about one process.
			fd, err := unix.PidfdOpen(pid, 0)
			if err == unix.ESRCH {
				continue
			}
			if state, now := stat(pid); now == parent || now == root {
				below := list(pid)
				if !told[pid] {
					if err != nil { // an old kernel, or a sandbox
						err = unix.Kill(pid, s)
					} else {
						err = unix.PidfdSendSignal(fd, s, nil, 0)
					}
					switch {
					case err == unix.EPERM:
						refused = append(refused, pid)
					case err == nil && state != 'Z': // but a zombie can have threads that live
						sent++
					}
				}
				if told != nil {
					told[pid] = true
				}
				if err != unix.ESRCH {
					visit(pid, below)
				}
			}
			if fd >= 0 {
				unix.Close(fd)
			}
		}
	}
	visit(root, list(root))
	return sent, refused
}

// stat returns the state and the parent of a process.
func stat(pid int) (state byte, parent int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name is in parentheses, and can contain any character.
	if i := bytes.LastIndexByte(text, ')'); i >= 0 {
		fmt.Sscanf(string(text[i+1:]), " %c %d", &state, &parent)
	}
	return state, parent
}

func childrenOf(pid int) (children []int) {
	dir := fmt.Sprintf("/proc/%d/task/", pid)
	for _, task := range names(dir) {
		text, _ := os.ReadFile(dir + task + "/children")
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// byParent returns what childrenOf does on kernels without lists of children.
func byParent() func(pid int) []int {
	children := map[int][]int{}
	for _, name := range names("/proc") {
		if pid, err := strconv.Atoi(name); err == nil {
			_, parent := stat(pid)
			children[parent] = append(children[parent], pid)
		}
	}
	return func(pid int) []int { return children[pid] }
}

func names(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	all, _ := d.Readdirnames(-1)
	return all
}

// procIsOurs reports whether /proc shows the process IDs of this process's PID namespace.
func procIsOurs() bool {
	self, _ := os.Readlink("/proc/self")
	return self == strconv.Itoa(os.Getpid())
}

// reap waits for all children that have ended, and reports whether there are others.
func reap(ended func(pid int, status syscall.WaitStatus)) (more bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WALL, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // there are no children
			return false
		case pid == 0:
			return true
		default:
			ended(pid, status)
		}
	}
}
