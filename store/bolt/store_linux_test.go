package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
	"golang.org/x/sys/unix"
)

const linux = true

func TestFileSystems(t *testing.T) {
	for _, kind := range []uint32{unix.NFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC,
		unix.CIFS_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC} {
		if _, err := conditionsOf(kind); !errors.Is(err, lease.ErrUnsafe) ||
			!strings.Contains(err.Error(), "network file system") {
			t.Errorf("%x: %v", kind, err)
		}
	}
	for _, kind := range []uint32{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC,
		unix.BTRFS_SUPER_MAGIC} {
		if conditions, err := conditionsOf(kind); conditions != nil || err != nil {
			t.Errorf("%x: %v, %v", kind, conditions, err)
		}
	}
	var st unix.Statfs_t
	if unix.Statfs("/dev/shm", &st) != nil || st.Type != unix.TMPFS_MAGIC {
		testserver.Missing(t, "there is no tmpfs at /dev/shm", "mount -t tmpfs tmpfs /dev/shm")
	}
	dir, err := os.MkdirTemp("/dev/shm", "sortid")
	if err != nil {
		testserver.Missing(t, err.Error(), "chmod 1777 /dev/shm")
	}
	defer os.RemoveAll(dir)
	s := must(t, "bolt:"+dir+"/sortid.db")
	faulttest.Conditions(t, s, "tmpfs")
	put(t, s, 1)
}

// Open opens only regular files, because other files could block.
func TestIrregular(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	check.OK(t, unix.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/null", "/dev/full"} {
		for _, open := range []func(context.Context, string) (*Store, error){Open, OpenExisting} {
			faulttest.Refused(t, open, "bolt:"+path, "not a regular file")
		}
	}
}

func asNobody(t *testing.T, f func()) {
	if os.Getuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		unix.SetfsuidRetUid(nobody)
		f()
	}()
	<-done
}

// The error names the missing permission. Without write permission a user can read.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		os.Chmod(d, 0o755)
	}
	path, url := filepath.Join(dir, "sortid.db"), "bolt:"+filepath.Join(dir, "sortid.db")
	put(t, must(t, url), 1)
	denied := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", what, err)
		}
	}
	os.Chmod(path, 0o444)
	os.Chmod(dir, 0o555)
	defer os.Chmod(dir, 0o755)
	asNobody(t, func() {
		_, err := Open(t.Context(), url)
		denied("Open of a file that may not be written", err)
		_, err = Open(t.Context(), "bolt:"+filepath.Join(dir, "new.db"))
		denied("Open in a folder that may not be written", err)
		s, err := OpenExisting(t.Context(), url)
		if err != nil {
			t.Errorf("OpenExisting: %v", err)
			return
		}
		faulttest.Want(t, s, record(1))
		_, err = s.CompareAndSet(t.Context(), record(1), record(2))
		denied("CompareAndSet", err)
	})
	os.Chmod(path, 0o200)
	asNobody(t, func() {
		_, err := OpenExisting(t.Context(), url)
		denied("OpenExisting of a file that may not be read", err)
	})
}

func init() { roles["full"] = playFull }

// playFull makes changes until a limit stops the file's growth, and continues without the limit.
func playFull(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	some := limit
	some.Cur = 256 << 10
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &some); err != nil {
		return err
	}
	stored := map[lease.Record]bool{}
	one := func(i uint32) error {
		r := lease.Record{Realm: "r", Block: lease.Block{NodeID: i, Size: 16}}
		next := r
		next.Revision, next.Name = 1, strings.Repeat("x", 1000)
		ok, err := s.CompareAndSet(ctx, r, next)
		if ok {
			stored[next] = true
		}
		return err
	}
	i := uint32(0)
	for ; err == nil; i++ {
		err = one(i)
	}
	if !errors.Is(err, syscall.EFBIG) && !strings.Contains(err.Error(), syscall.EFBIG.Error()) ||
		i < 20 {
		return fmt.Errorf("the limit caused %w, at change %d", err, i)
	}
	fmt.Println(err)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for range 20 {
		i++
		if err := one(i); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
	}
	all, err := s.List(ctx, "r")
	if err != nil {
		return err
	}
	for _, r := range all {
		delete(stored, r)
	}
	if len(stored) > 0 {
		return fmt.Errorf("%d records are lost", len(stored))
	}
	return nil
}

// Without room to grow, a change fails, and nothing is lost.
func TestFull(t *testing.T) {
	path, url := temp(t)
	p := start(t, "full", url)
	said := ""
	for p.lines.Scan() {
		said += p.lines.Text() + "\n"
	}
	if err := p.Wait(); err != nil || !strings.Contains(said, path) ||
		!strings.Contains(said, "file too large") {
		t.Errorf("%v: %s", err, said)
	}
}
