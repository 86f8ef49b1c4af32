package torture

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

// diskArgument as first argument makes the test binary a disk. It has its own process, because
// a process that uses its own file system can hang.
const diskArgument = "disk"

func init() { programs[diskArgument] = diskMain }

// diskMain mounts a disk on a folder, until its standard input ends. It reads commands, and answers
// each with a line.
func diskMain(args []string) error {
	d := &disk{dir: args[0], strict: len(args) > 1}
	d.root = &inode{disk: d, mode: 0o755, names: map[string]*inode{}}
	if err := d.mount(); err != nil {
		return err
	}
	fmt.Println()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var err error
		switch lines.Text() {
		case "sync":
			d.sync()
		case "lie":
			d.sync()
			d.lies.Store(true)
		case "lose all":
			err = d.losePower(func() bool { return false })
		case "lose some":
			err = d.losePower(func() bool { return rand.IntN(2) == 0 })
		}
		if err != nil {
			return err
		}
		fmt.Println()
	}
	return d.unmount()
}

// startDisk mounts an empty disk on the returned folder. If it is strict, a file's sync does not
// keep the file's name. The function do lets the disk lose what was not synced ("lose all" or
// "lose some"), sync all ("sync"), or then ignore syncs ("lie"). Nobody may use a disk that loses.
func startDisk(t *testing.T, args ...string) (dir string, do func(command string)) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "disk")
	check.OK(t, os.Mkdir(dir, 0o755))
	cmd := exec.Command(os.Args[0], append([]string{diskArgument, dir}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in := check.Must(cmd.StdinPipe())(t)
	out := bufio.NewReader(check.Must(cmd.StdoutPipe())(t))
	check.OK(t, cmd.Start())
	end := func() error {
		in.Close()
		return cmd.Wait()
	}
	if _, err := out.ReadString('\n'); err != nil {
		end()
		t.Skipf("no file system of the test: %s; to run this test: modprobe fuse, and use root",
			stderr.Bytes())
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Errorf("the disk: %v: %s", err, &stderr)
		}
	})
	return dir, func(command string) {
		t.Helper()
		fmt.Fprintln(in, command)
		if _, err := out.ReadString('\n'); err != nil {
			t.Fatalf("the disk: %s: %v", command, err)
		}
	}
}

// A disk is a file system that loses what was not synced, as a machine without power does.
type disk struct {
	dir    string      // where it is mounted
	lies   atomic.Bool // it ignores syncs
	server *fuse.Server

	mu   sync.Mutex
	root *inode
	// names are changes of folders that were not synced. Like a file system with a journal, a sync
	// of any file keeps all changes of names before it, in their order. If strict, only a sync of
	// the folder keeps them.
	names  []naming
	strict bool
}

type naming struct {
	dir  *inode
	name string
	to   *inode // nil if the name is gone
}

// An inode is a file or a folder.
type inode struct {
	fs.Inode
	disk         *disk
	mode         uint32
	data, stable []byte // of a file; stable is what a loss of power leaves
	writes       []write
	names        map[string]*inode // of a folder; what a loss of power leaves
}

// A write changes the data at an offset. Without data, it changes the size.
type write struct {
	at   int64
	data []byte
}

func (w write) to(data []byte) []byte {
	if end := w.at + int64(len(w.data)); end > int64(len(data)) {
		data = append(make([]byte, 0, end), data...)[:end]
	}
	if w.data == nil {
		return data[:w.at]
	}
	copy(data[w.at:], w.data)
	return data
}

func (d *disk) mount() (err error) {
	d.server, err = fs.Mount(d.dir, d.root, &fs.Options{MountOptions: fuse.MountOptions{
		DirectMount: true, FsName: "sortid-test", Name: "sortid-test"}})
	return err
}

// unmount waits until no process uses the disk.
func (d *disk) unmount() (err error) {
	check.Soon(func() bool {
		err = d.server.Unmount()
		return err == nil
	})
	return err
}

// sync keeps all that was written.
func (d *disk) sync() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keepNames(nil)
	d.root.walk(func(n *inode) { n.keepData() })
}

// keepNames keeps changes of names in a folder, or in all.
func (d *disk) keepNames(dir *inode) {
	d.names = slices.DeleteFunc(d.names, func(c naming) bool {
		if dir != nil && c.dir != dir {
			return false
		}
		c.keep()
		return true
	})
}

func (c naming) keep() {
	if c.to == nil {
		delete(c.dir.names, c.name)
	} else {
		c.dir.names[c.name] = c.to
	}
}

func (n *inode) keepData() {
	for _, w := range n.writes {
		n.stable = w.to(n.stable)
	}
	n.writes = nil
}

// walk calls f for what a loss of power leaves.
func (n *inode) walk(f func(*inode)) {
	f(n)
	for _, child := range n.names {
		child.walk(f)
	}
}

// losePower loses what was not synced, except for what keep decides to keep.
func (d *disk) losePower(keep func() bool) error {
	if err := d.unmount(); err != nil {
		return err
	}
	for _, c := range d.names {
		if !keep() {
			break
		}
		c.keep()
	}
	d.names = nil
	d.root = d.root.after(keep)
	return d.mount()
}

// page is what a disk writes as a whole.
const page = 4096

// after returns a copy of what is left after a loss of power. Pages are kept in any order.
func (n *inode) after(keep func() bool) *inode {
	for _, w := range n.writes {
		if w.data == nil && keep() {
			n.stable = w.to(n.stable)
		}
		for len(w.data) > 0 {
			size := min(len(w.data), page-int(w.at%page))
			if keep() {
				n.stable = write{w.at, w.data[:size]}.to(n.stable)
			}
			w.at, w.data = w.at+int64(size), w.data[size:]
		}
	}
	left := &inode{disk: n.disk, mode: n.mode, stable: n.stable, data: slices.Clone(n.stable)}
	if n.names != nil {
		left.names = map[string]*inode{}
		for name, child := range n.names {
			left.names[name] = child.after(keep)
		}
	}
	return left
}

func (n *inode) kind() uint32 {
	if n.names != nil {
		return fuse.S_IFDIR
	}
	return fuse.S_IFREG
}

// OnAdd adds the files of a folder.
func (n *inode) OnAdd(ctx context.Context) {
	for name, child := range n.names {
		n.AddChild(name, n.NewPersistentInode(ctx, child, fs.StableAttr{Mode: child.kind()}), true)
	}
}

func (n *inode) make(ctx context.Context, name string, child *inode) *fs.Inode {
	n.disk.rename(n, name, child)
	return n.NewPersistentInode(ctx, child, fs.StableAttr{Mode: child.kind()})
}

func (d *disk) rename(dir *inode, name string, to *inode) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names = append(d.names, naming{dir, name, to})
}

func (n *inode) Mkdir(ctx context.Context, name string, mode uint32,
	_ *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.make(ctx, name, &inode{disk: n.disk, mode: mode, names: map[string]*inode{}}), 0
}

func (n *inode) Create(ctx context.Context, name string, _, mode uint32,
	_ *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return n.make(ctx, name, &inode{disk: n.disk, mode: mode}), nil, 0, 0
}

func (n *inode) Unlink(_ context.Context, name string) syscall.Errno {
	n.disk.rename(n, name, nil)
	return 0
}

func (n *inode) Rmdir(ctx context.Context, name string) syscall.Errno {
	if len(n.GetChild(name).Children()) > 0 {
		return syscall.ENOTEMPTY
	}
	return n.Unlink(ctx, name)
}

func (n *inode) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string,
	_ uint32) syscall.Errno {
	child := n.GetChild(name).Operations().(*inode)
	n.disk.rename(parent.(*inode), newName, child)
	n.disk.rename(n, name, nil)
	return 0
}

func (n *inode) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, 0, 0
}

func (n *inode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	out.Mode, out.Size = n.mode, uint64(len(n.data))
	return 0
}

func (n *inode) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn,
	out *fuse.AttrOut) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		n.write(write{at: int64(size)})
	}
	return n.Getattr(ctx, f, out)
}

func (n *inode) write(w write) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.data = w.to(n.data)
	n.writes = append(n.writes, w)
}

func (n *inode) Write(_ context.Context, _ fs.FileHandle, data []byte,
	at int64) (uint32, syscall.Errno) {
	n.write(write{at, slices.Clone(data)})
	return uint32(len(data)), 0
}

func (n *inode) Read(_ context.Context, _ fs.FileHandle, to []byte,
	at int64) (fuse.ReadResult, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	rest := n.data[min(at, int64(len(n.data))):]
	return fuse.ReadResultData(slices.Clone(rest[:min(len(rest), len(to))])), 0
}

func (n *inode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	d := n.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.lies.Load():
		return 0
	case !d.strict:
		d.keepNames(nil)
	case n.names != nil:
		d.keepNames(n)
	}
	n.keepData()
	return 0
}

// A loss of power loses no lease of a file. The test finds a disk that ignores syncs.
func TestPowerBolt(t *testing.T) {
	testserver.Long(t, "kills processes")
	t.Parallel()
	dir, disk := startDisk(t, "strict")
	m := &scripted{t: t, dir: t.TempDir(),
		f: makers("bolt", os.Args[0], 3, []int{6}, "bolt:"+filepath.Join(dir, "leases.db"))}
	round := func(loss string) int {
		m.claim(m.start(m.f.urls[0], window, 3))
		m.end()
		disk(loss)
		return m.lost(m.f.urls[0])
	}
	for _, loss := range []string{"lose all", "lose some", "lose some", "lose some"} {
		if lost := round(loss); lost > 0 {
			t.Errorf("%s: %d ticks are not in the file, want none", loss, lost)
		}
	}
	disk("lie")
	if round("lose all") == 0 {
		t.Error("nothing is lost on a disk that ignores syncs")
	}
}

// A loss of power of etcd's machine loses no lease, and no tick is used twice. With
// --unsafe-no-fsync, ticks are used twice.
func TestPowerEtcd(t *testing.T) {
	testserver.Long(t, "kills processes")
	for _, unsafe := range []bool{false, true} {
		t.Run(fmt.Sprint("unsafe-no-fsync=", unsafe), func(t *testing.T) {
			t.Parallel()
			dir, disk := startDisk(t)
			server := testserver.StartEtcd(t, "data-dir="+dir, fmt.Sprint("unsafe-no-fsync=", unsafe))
			s := check.Must(store.Open(t.Context(), server.URL))(t)
			// The window is long, so that no maker finds out soon that its lease is lost.
			const window = 10 * time.Minute
			check.Must(lease.Create(t.Context(), s, lease.Config{Realm: "torture",
				Format: lease.SCRU64(), Window: window}))(t)
			check.OK(t, s.Close())
			losses := []string{"lose all", "lose some", "lose some"}
			if unsafe {
				disk("sync")
				losses = losses[:1]
			}

			m := &scripted{t: t, dir: t.TempDir(), f: makers("etcd", os.Args[0], 4, []int{1}, server.URL)}
			all := m.start(server.URL, window, 2)
			for _, loss := range losses {
				m.claim(all)
				server.Stop()
				disk(loss)
				server.Start()
				if lost := m.lost(server.URL); lost > 0 != unsafe {
					t.Errorf("%s: %d ticks are not in etcd, want some: %v", loss, lost, unsafe)
				}
			}
			if unsafe {
				all = m.start(server.URL, window, 2)
			}
			m.claim(all)
			r := m.end()
			t.Log(r)
			if r.twice > 0 != unsafe {
				t.Errorf("%d ticks were used twice, want some: %v", r.twice, unsafe)
			}
		})
	}
}

// lost returns how many claimed ticks are not in a store's leases.
func (m *scripted) lost(url string) (n int) {
	m.t.Helper()
	s := check.Must(store.Open(m.t.Context(), url))(m.t)
	defer s.Close()
	_, records, err := lease.Records(m.t.Context(), s, "torture")
	check.OK(m.t, err)
	hwm := map[lease.Block]int64{}
	for _, r := range records {
		hwm[r.Block] = r.HWM
	}
	claims, _, _ := claimed(m.t, m.dir)
	for _, c := range claims {
		if c.tick >= hwm[lease.Block{NodeID: c.node, Size: uint8(c.bits)}] {
			n++
		}
	}
	return n
}
