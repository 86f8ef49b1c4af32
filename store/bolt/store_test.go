package bolt

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
	"go.etcd.io/bbolt"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("BOLT_TEST_ROLE"); role != "" {
		if err := roles[role](os.Getenv("BOLT_TEST_URL")); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var roles = map[string]func(url string) error{
	"lease": playLease,
	"count": playCount,
	"hold":  playHold,
}

type process struct {
	*exec.Cmd
	lines *bufio.Scanner
	in    io.WriteCloser
}

func start(t *testing.T, role, url string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "BOLT_TEST_ROLE="+role, "BOLT_TEST_URL="+url)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	return &process{cmd, bufio.NewScanner(out), in}
}

const patience = 5 * time.Minute

func temp(t *testing.T) (path, url string) {
	path = filepath.Join(t.TempDir(), "sortid.db")
	return path, "bolt:" + path
}

func must(t *testing.T, url string) *Store {
	t.Helper()
	return faulttest.Open(t, Open, url)
}

var (
	block  = faulttest.Block
	record = faulttest.Record
)

func put(t *testing.T, s *Store, n uint64) {
	t.Helper()
	faulttest.Change(t, s, record(n-1), record(n))
}

func TestStore(t *testing.T) {
	faulttest.Store(t, Open, func(t testing.TB) string { return "bolt:" + t.TempDir() + "/a.db" })
}

func playLease(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}
	l, err := lease.Acquire(ctx, s,
		lease.Config{Realm: "r", Format: lease.SCRU160, NodeBits: 7, Window: time.Hour})
	if err != nil {
		return err
	}
	for range 20 {
		node, tick, err := l.ClaimTick(time.Now().UnixMilli())
		if err != nil {
			return err
		}
		fmt.Println(node, tick)
	}
	return l.Close(ctx)
}

// No tick of a node ID is used twice.
func TestProcesses(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 20
	}
	_, url := temp(t)
	begin := time.Now()
	var processes []*process
	for range n {
		processes = append(processes, start(t, "lease", url))
	}
	used := map[string]bool{}
	for _, p := range processes {
		lines, last := 0, ""
		for ; p.lines.Scan(); lines++ {
			last = p.lines.Text()
			if used[last] {
				t.Errorf("node ID and tick %s were used twice", last)
			}
			used[last] = true
		}
		if err := p.Wait(); err != nil || lines != 20 {
			t.Errorf("%d lines, %v; the last: %s", lines, err, last)
		}
	}
	t.Logf("%d processes leased, used and returned node IDs in %v", n, time.Since(begin))
}

func playCount(url string) error {
	s, err := Open(context.Background(), url)
	for err == nil {
		var r lease.Record
		if r, err = s.Get(context.Background(), "realm", block); err == nil {
			var ok bool
			if ok, err = s.CompareAndSet(context.Background(), r, record(r.Revision+1)); ok {
				fmt.Println(r.Revision + 1)
			}
		}
	}
	return err
}

// If a process is killed, the store has the changes that the process has printed.
func TestKilled(t *testing.T) {
	_, url := temp(t)
	s := must(t, url)
	var last uint64
	for round := 0; round < 10 || last < 50; round++ {
		var killed []*process
		for range 3 {
			killed = append(killed, start(t, "count", url))
		}
		said := map[string]bool{}
		hear := func(p *process) bool {
			t.Helper()
			if !p.lines.Scan() {
				return false
			}
			var n uint64
			if _, err := fmt.Sscan(p.lines.Text(), &n); err != nil {
				t.Fatal(p.lines.Text())
			}
			if said[p.lines.Text()] {
				t.Errorf("two processes were told to have made change %d", n)
			}
			said[p.lines.Text()] = true
			last = max(last, n)
			return true
		}
		for _, p := range killed { // wait until each process has made a change
			if !hear(p) {
				t.Fatal("a process ended by itself")
			}
		}
		time.Sleep(rand.N(50 * time.Millisecond))
		for _, p := range killed {
			p.Process.Kill()
			for hear(p) {
			}
			p.Wait()
		}
		r, err := s.Get(t.Context(), "realm", block)
		if err != nil || r.Revision < last {
			t.Fatalf("the store has change %d, %v; but a process was told that it has change %d",
				r.Revision, err, last)
		}
		last = r.Revision
		put(t, s, last+1)
	}
}

func playHold(url string) error {
	db, err := bbolt.Open(strings.TrimPrefix(url, "bolt:"), 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func TestHeld(t *testing.T) {
	path, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	p := start(t, "hold", url)
	if !p.lines.Scan() || p.lines.Text() != "held" {
		t.Fatal(p.lines.Text())
	}
	for name, call := range map[string]func(ctx context.Context) error{
		"Open": func(ctx context.Context) error { _, err := Open(ctx, url); return err },
		"Get": func(ctx context.Context) error {
			_, err := s.Get(ctx, "realm", block)
			return err
		},
		"List": func(ctx context.Context) error { _, err := s.List(ctx, "realm"); return err },
		"CompareAndSet": func(ctx context.Context) error {
			_, err := s.CompareAndSet(ctx, record(1), record(2))
			return err
		},
	} {
		var err error
		// A slow machine may need longer to open the file.
		for d, seen := 100*time.Millisecond, false; !seen && d < patience; d *= 4 {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			err = call(ctx)
			cancel()
			seen = err == nil || strings.Contains(err.Error(), "has the file locked")
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		} else if !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "has the file locked") {
			t.Errorf("%s: the error is %v", name, err)
		} else if linux &&
			!strings.Contains(err.Error(), fmt.Sprintf("process %d ", p.Process.Pid)) {
			t.Errorf("%s: the error does not name process %d: %v", name, p.Process.Pid, err)
		}
	}
	time.AfterFunc(50*time.Millisecond, func() { p.in.Close() })
	put(t, s, 2)
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}

// A call that waits for another call of its process also ends with its context.
func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, url := temp(t)
		s := must(t, url)
		s.mutex <- struct{}{}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := s.Get(ctx, "realm", block); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "of this process") {
			t.Error(err)
		}
		<-s.mutex
		put(t, s, 1)
	})
}

func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"bolt:a.db":            "a.db",
		"bolt:./b/a b%20ü#.db": "./b/a b%20ü#.db",
		"bolt:/var/lib/a.db":   "/var/lib/a.db",
		"bolt:///var/lib/a.db": "/var/lib/a.db",
		"BOLT:a.db":            "a.db",
		`bolt:C:\data\a.db`:    `C:\data\a.db`,
	} {
		if got, err := parse(url); got != want || err != nil {
			t.Errorf("%q: %q, %v", url, got, err)
		}
	}
	for _, url := range []string{"", "bolt", "bolt:", "bolt://", "bolt://a.db",
		"bolt://localhost/a.db", "bolt:a.db?timeout=5s", "blot:a.db", "/var/lib/a.db", "/", "///a",
		"postgres://u:secret@h/db"} {
		faulttest.BadURLs(t, Open, map[string]string{url: "bolt: the URL: "})
	}
}

// Open refuses other kinds of files, and leaves them unchanged. The error has the name and the
// reason.
func TestWrongFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, content := range map[string]string{"text": strings.Repeat("hello\n", 5000),
		"short": "x", "empty": "", "zeros": strings.Repeat("\x00", 1<<16)} {
		if err := os.WriteFile(in(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", in("dangling")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		open     func(context.Context, string) (*Store, error)
		want     string
		sentinel error
	}{
		{"", Open, "is a folder", nil},
		{"no/such/folder.db", Open, "cannot make the file: lstat " + in("no"), fs.ErrNotExist},
		{"text/below", Open, "not a directory", nil},
		{"dangling", Open, "symbolic link to a file that does not exist", nil},
		{"text", Open, "not a bbolt file with leases, or damaged: invalid database", ErrDamaged},
		{"text", OpenExisting, "not a bbolt file with leases, or damaged: invalid database",
			ErrDamaged},
		{"short", Open, "or damaged", ErrDamaged},
		{"zeros", Open, "or damaged", ErrDamaged},
		{"empty", OpenExisting, "it is empty", ErrDamaged},
		{"missing", OpenExisting, "no such file", fs.ErrNotExist},
	} {
		before, _ := os.ReadDir(dir)
		was, _ := os.ReadFile(in(c.name))
		_, err := c.open(t.Context(), "bolt:"+in(c.name))
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), in(c.name)) || c.sentinel != nil &&
			!errors.Is(err, c.sentinel) {
			t.Errorf("%q: %v, want %s", c.name, err, c.want)
		} else if strings.Count(err.Error(), in(c.name)) > 1 {
			t.Errorf("%q: named twice: %v", c.name, err)
		}
		after, _ := os.ReadDir(dir)
		if is, _ := os.ReadFile(in(c.name)); len(before) != len(after) ||
			string(was) != string(is) {
			t.Errorf("%q: the folder or the file was changed", c.name)
		}
	}

	if err := os.Symlink("empty", in("link")); err != nil {
		t.Fatal(err)
	}
	put(t, must(t, "bolt:"+in("link")), 1)
	if r, err := must(t, "bolt:"+in("empty")).Get(t.Context(), "realm", block); err != nil ||
		r != record(1) {
		t.Errorf("%+v, %v", r, err)
	}
}

// While another process makes the file, it is empty for a moment. The time is virtual.
func TestBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, url := temp(t)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		maker := time.AfterFunc(beginning/2, func() {
			if _, err := Open(context.Background(), url); err != nil {
				t.Error(err)
			}
		})
		defer maker.Stop()
		if _, err := OpenExisting(t.Context(), url); err != nil {
			t.Error(err)
		}
	})
}

// If the file is gone, all grants are lost. So a Store does not make the file again.
func TestGone(t *testing.T) {
	path, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := s.CompareAndSet(t.Context(), record(0), record(1))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "the file is gone") {
		t.Errorf("CompareAndSet: %v", err)
	}
	if _, err := s.Get(t.Context(), "realm", block); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was made: %v", err)
	}
}

// A relative path is relative to the folder at the time of Open.
func TestRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	s := must(t, "bolt:sortid.db")
	here, _ := os.Getwd()
	t.Chdir(t.TempDir())
	put(t, s, 1)
	put(t, must(t, "bolt://"+here+"/sortid.db"), 2)
}

func TestNotARecord(t *testing.T) {
	path, url := temp(t)
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
	if err == nil {
		err = db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("other"))
			return err
		})
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s := must(t, url)
	if rs, err := s.List(t.Context(), "realm"); err != nil || len(rs) != 0 {
		t.Error(rs, err)
	}
	put(t, s, 1)
}

// use calls the methods and returns their errors. No call may wait forever.
func use(t *testing.T, url string) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}
	_, err1 := s.Get(ctx, "realm", block)
	_, err2 := s.List(ctx, "realm")
	_, err3 := s.CompareAndSet(ctx, record(1), record(2))
	_, err4 := s.CompareAndSet(ctx, lease.Record{Realm: "new"},
		lease.Record{Realm: "new", Revision: 1})
	return errors.Join(err1, err2, err3, err4)
}

// damages has ways to damage a file. Each function may change its argument.
var damages = map[string]func(f file, r *rand.Rand) file{
	"cut":           func(f file, r *rand.Rand) file { return f[:r.IntN(len(f))] },
	"cut at a page": func(f file, r *rand.Rand) file { return f[:f.anyPage(r)] },
	"a page of zeros": func(f file, r *rand.Rand) file {
		clear(f[f.anyPage(r):][:page])
		return f
	},
	"no page but zeros": func(f file, _ *rand.Rand) file {
		clear(f[2*page:])
		return f
	},
	"a page of noise": func(f file, r *rand.Rand) file {
		for i, at := 0, f.anyPage(r); i < page; i++ {
			f[at+i] = byte(r.Uint32())
		}
		return f
	},
	"two pages swapped": func(f file, r *rand.Rand) file {
		i, j := f.anyPage(r), f.anyPage(r)
		was := string(f[i : i+page])
		copy(f[i:i+page], f[j:j+page])
		copy(f[j:], was)
		return f
	},
	"a bit in each page's head": func(f file, r *rand.Rand) file {
		for at := 2 * page; at < len(f); at += page {
			f[at+r.IntN(64)] ^= 1 << r.IntN(8)
		}
		return f
	},
	"some bytes": func(f file, r *rand.Rand) file {
		for range 50 {
			f[r.IntN(len(f))] = byte(r.Uint32())
		}
		return f
	},
}

var page = os.Getpagesize()

type file []byte

func (f file) anyPage(r *rand.Rand) int { return r.IntN(len(f)/page) * page }

// If the file is damaged, calls return errors. The file never stays locked.
func TestDamaged(t *testing.T) {
	path, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	for i := range uint32(300) {
		b := lease.Block{NodeID: i, Size: 16}
		faulttest.Change(t, s, lease.Record{Realm: "realm", Block: b},
			lease.Record{Realm: "realm", Block: b, Revision: 1})
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	useFile := func(f file) error {
		t.Helper()
		if err := os.WriteFile(path, f, 0o600); err != nil {
			t.Fatal(err)
		}
		return use(t, url)
	}
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for name, damage := range damages {
		failed := 0
		for round := range rounds {
			err := useFile(damage(bytes.Clone(good), rand.New(rand.NewPCG(uint64(round), 0))))
			if err == nil {
				continue
			}
			failed++
			if errors.Is(err, context.DeadlineExceeded) ||
				!strings.HasPrefix(err.Error(), "bolt: "+path) {
				t.Errorf("%s, round %d: %v", name, round, err)
			}
		}
		t.Logf("%s: %d of %d files were found to be damaged", name, failed, rounds)
		if failed == 0 {
			t.Errorf("%s: no call found the damage", name)
		}
		if err := useFile(good); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

func TestWrongRecord(t *testing.T) {
	path, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	for _, value := range []string{`{"realm":"realm","block":"43/8","revision":"1"}`,
		`{"realm":"other","block":"42/8"}`, `{}`, `nonsense`, ``} {
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket(bucket).Put(key("realm", block), []byte(value))
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		faulttest.NotARecord(t, s, value, "realm/42/8")
		if _, err := s.CompareAndSet(t.Context(), record(1), record(2)); !errors.Is(err,
			ErrDamaged) || !strings.Contains(err.Error(), "realm/42/8") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// Readers see only complete changes.
func TestReaders(t *testing.T) {
	_, url := temp(t)
	s := must(t, url)
	put(t, s, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var last uint64
			for ctx.Err() == nil {
				r, err := s.Get(t.Context(), "realm", block)
				if err != nil || r.Revision < last || r != record(r.Revision) {
					t.Errorf("%+v after %d, %v", r, last, err)
					return
				}
				last = r.Revision
			}
		})
	}
	for n := uint64(2); n < 100; n++ {
		put(t, s, n)
	}
	cancel()
	wg.Wait()
}

func TestFolder(t *testing.T) {
	if err := syncFolder(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := syncFolder(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) &&
		linux {
		t.Error(err)
	}
}

// Calls at the same time share transactions. Each call makes its own changes, or none.
func TestConcurrentChanges(t *testing.T) {
	s, err := Open(t.Context(), "bolt:"+filepath.Join(t.TempDir(), "leases.db"))
	if err != nil {
		t.Fatal(err)
	}
	const calls = 200
	record := func(i, revision int) lease.Record {
		return lease.Record{Realm: "r", Block: lease.Block{NodeID: uint32(i), Size: 16},
			Revision: uint64(revision), Name: fmt.Sprint(i)}
	}
	var wg sync.WaitGroup
	var canceled atomic.Int32
	for i := range calls {
		ctx, cancel := t.Context(), context.CancelFunc(func() {})
		if i%10 == 9 { // these give up, in the queue or later
			ctx, cancel = context.WithTimeout(ctx, time.Duration(i)*50*time.Microsecond)
		}
		wg.Go(func() {
			defer cancel()
			// Every second call is refused, because one of its records is missing.
			changes := []lease.Change{{Prev: record(i, 0), Next: record(i, 1)}}
			if i%2 == 1 {
				changes = append(changes, lease.Change{Prev: record(calls+i, 5),
					Next: record(calls+i, 6)})
			}
			ok, err := s.CompareAndSetMany(ctx, changes)
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				canceled.Add(1)
			case err != nil || ok != (i%2 == 0):
				t.Errorf("call %d: %v, %v", i, ok, err)
			}
		})
	}
	wg.Wait()
	records, err := s.List(t.Context(), "r")
	if err != nil || len(records) != calls/2 {
		t.Errorf("%d records after %d calls (%d gave up), want %d, %v", len(records), calls,
			canceled.Load(), calls/2, err)
	}
	if s.writes.leading || len(s.writes.waiting) != 0 {
		t.Errorf("calls still wait: %+v", s.writes.waiting)
	}
}
