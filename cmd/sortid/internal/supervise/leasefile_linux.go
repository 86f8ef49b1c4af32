package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A leaseFile keeps the receipts of a program's leases, for the next start after this process was
// killed. Whoever gets the file's lock on this machine knows that all that this process has started
// has ended: this process is the first one of its PID namespace, so the kernel ends the others with
// it. This process, the watchdog and the program hold the lock.
type leaseFile struct{ f *os.File }

// lockPatience is how long openLeaseFile waits for processes of an earlier start. If "lease exec"
// is killed, its watchdog needs up to a second to end them.
const lockPatience = 5 * time.Second

func openLeaseFile(name string) (*leaseFile, error) {
	if pid := os.Getpid(); pid != 1 {
		return nil, fmt.Errorf("--lease-file: exec must be the first process of its container, "+
			"because only then all that it has started ends with it; it is process %d", pid)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--lease-file: %w", err)
	}
	for began := time.Now(); ; time.Sleep(look) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Since(began) > lockPatience {
			break
		}
	}
	if err == nil { // the watchdog and the program inherit the lock
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETFD, 0)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errors.New("another program with this file runs, and each needs a file of its own")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("--lease-file %s: %w", name, err)
	}
	return &leaseFile{f}, nil
}

func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
}

// read returns the receipts of an earlier start. It returns none if the file is damaged, or comes
// from another machine or from before its start: then the node IDs become free by themselves.
func (l *leaseFile) read() (k kept) {
	text, err := io.ReadAll(io.NewSectionReader(l.f, 0, 1<<20))
	if err != nil || json.Unmarshal(text, &k) != nil || k.Boot != bootID() || k.Boot == "" {
		return kept{}
	}
	return k
}

// write replaces the content, but not the file, because the lock belongs to the file.
func (l *leaseFile) write(k kept) error {
	k.Boot = bootID()
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if _, err := l.f.WriteAt(append(text, '\n'), 0); err != nil {
		return err
	}
	return l.f.Truncate(int64(len(text)) + 1)
}

func (l *leaseFile) close() { l.f.Close() }
