// Package torture lets processes of the command make IDs on leases while they are killed,
// stopped and started again at random, and the store's server with them, and looks for an
// ID that was made twice.
package torture

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/service/internal/testserver"
)

var (
	duration = flag.Duration("duration", 30*time.Second, "how long to torture each store")
	seed     = flag.Uint64("seed", rand.Uint64(), "decides what is done to the processes, but not what comes of it")
)

const (
	processes = 10
	nodeBits  = 3 // fewer node IDs than processes, so that each is soon somebody else's
	window    = 2 * time.Second
	rate      = 2000 // IDs a second and process
)

// In each tick the counter starts at zero: two processes that have one node ID in one
// tick make the same IDs for sure.
var guard = strconv.Itoa(24 - nodeBits)

func TestBolt(t *testing.T) {
	t.Parallel()
	torture(t, build(t), "bolt:"+filepath.Join(t.TempDir(), "leases.db"), nil).mustBeSound(t)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	server := testserver.StartPostgres(t)
	torture(t, build(t), server.URL, server).mustBeSound(t)
}

func TestEtcd(t *testing.T) {
	t.Parallel()
	server := testserver.StartEtcd(t)
	torture(t, build(t), server.URL, server).mustBeSound(t)
}

// The same, with generators that do not keep to their windows, must find duplicates.
func TestUnfenced(t *testing.T) {
	t.Parallel()
	r := torture(t, build(t, "-tags", "sortid_unfenced"), "bolt:"+filepath.Join(t.TempDir(), "leases.db"), nil)
	t.Log(r)
	if !strings.Contains(r.verdict, "duplicate") || r.sound {
		t.Errorf("no duplicate was found without the fence:\n%s", r)
	}
}

// A hundred processes that start at once all get a node ID of their own.
func TestTogether(t *testing.T) {
	const many = 100
	for name, url := range map[string]func() string{
		"bolt":     func() string { return "bolt:" + filepath.Join(t.TempDir(), "leases.db") },
		"postgres": func() string { return testserver.StartPostgres(t).URL },
		"etcd":     func() string { return testserver.StartEtcd(t).URL },
	} {
		t.Run(name, func(t *testing.T) {
			sortid, url := build(t), url()
			var all [many]*exec.Cmd
			var first [many]string
			var wg sync.WaitGroup
			for i := range all {
				// Each holds its node ID until it is told to end.
				all[i] = exec.Command(sortid, "new", "scru64", "--lease", url, "--node-bits", "7", "--rate", "1", "--forever")
				all[i].Stderr = os.Stderr
				out, err := all[i].StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					if err := all[i].Start(); err != nil {
						t.Error(err)
						return
					}
					time.AfterFunc(time.Minute, func() { all[i].Process.Kill() })
					first[i], _ = bufio.NewReader(out).ReadString('\n')
				})
			}
			wg.Wait()
			nodes := map[uint32]bool{}
			for i := range all {
				if id, err := scru64.Parse(strings.TrimSpace(first[i])); err != nil {
					t.Errorf("process %d: %v", i, err)
				} else {
					nodes[id.NodeID(7)] = true
				}
				if all[i].Process != nil {
					all[i].Process.Signal(syscall.SIGTERM)
				}
			}
			for _, process := range all {
				process.Wait()
			}
			if len(nodes) != many {
				t.Errorf("%d processes have %d node IDs", many, len(nodes))
			}
		})
	}
}

// build returns the path of the command, built anew.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes its time")
	}
	path := filepath.Join(t.TempDir(), "sortid")
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot be stopped and continued on Windows")
	}
	args := append(append([]string{"build"}, flags...), "-o", path, "../../cmd/sortid")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return path
}

// A result is what has come of it.
type result struct {
	sound   bool
	verdict string // of sortid verify --unique
	ids     int
	lives   int // processes that made any
	hands   int // how often a node ID went from one process to another
	shared  int // ticks of a node ID in which two processes have made IDs

	killed, stopped, ended, restarts atomic.Int64

	errors sync.Map // what processes said on standard error
}

func (r *result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d IDs of %d processes; %d kills, %d stops, %d ends; the server started again %d times; node IDs changed hands %d times, in the middle of a tick %d times\n%s",
		r.ids, r.lives, r.killed.Load(), r.stopped.Load(), r.ended.Load(), r.restarts.Load(), r.hands, r.shared, r.verdict)
	r.errors.Range(func(line, _ any) bool {
		fmt.Fprintf(&b, "\n  stderr: %s", line)
		return true
	})
	return b.String()
}

// mustBeSound fails the test if there was a duplicate, or too little to find one in.
func (r *result) mustBeSound(t *testing.T) {
	t.Helper()
	t.Log(r)
	if !r.sound {
		t.Errorf("IDs were made twice, or the files are no good")
	}
	seconds := int(duration.Seconds())
	if r.ids < rate*seconds || r.lives < processes || r.hands < seconds/3 ||
		int(r.killed.Load()) < seconds/5 || int(r.stopped.Load()) < seconds/5 {
		t.Errorf("too little has happened")
	}
}

// torture lets processes make IDs on leases from the store at url, and does to them, and to
// its server if that is given, what can happen to them.
func torture(t *testing.T, sortid, url string, server *testserver.Server) *result {
	t.Logf("-seed %d -duration %v", *seed, *duration)
	r := &result{}
	dir := t.TempDir()
	end := time.Now().Add(*duration)
	var wg sync.WaitGroup
	for slot := range processes {
		random := rand.New(rand.NewPCG(*seed, uint64(slot)))
		wg.Go(func() {
			for life := 0; time.Now().Before(end); life++ {
				out := filepath.Join(dir, fmt.Sprintf("%d-%d", slot, life))
				if err := r.live(sortid, url, out, random, end); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
			}
		})
	}
	if server != nil {
		random := rand.New(rand.NewPCG(*seed, processes))
		for time.Until(end) > 8*time.Second {
			time.Sleep(time.Duration(2000+random.IntN(4000)) * time.Millisecond)
			server.Stop()
			time.Sleep(time.Duration(random.IntN(4000)) * time.Millisecond) // up to two windows
			server.Start()
			r.restarts.Add(1)
		}
	}
	wg.Wait()
	r.judge(t, sortid, dir)
	return r
}

// live is the life of one process.
func (r *result) live(sortid, url, out string, random *rand.Rand, end time.Time) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	process := exec.Command(sortid, "new", "scru64", "--lease", url, "--realm", "torture", "--node-bits", strconv.Itoa(nodeBits),
		"--lease-window", window.String(), "--guard", guard, "--rollback", "wait", "--rate", strconv.Itoa(rate), "--forever")
	var stderr bytes.Buffer
	process.Stdout, process.Stderr = f, &stderr
	if err := process.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		process.Wait()
		close(done)
	}()
	// until reports whether the process lives on after d.
	until := func(d time.Duration) bool {
		select {
		case <-done:
			return false
		case <-time.After(min(d, time.Until(end))):
			return time.Now().Before(end)
		}
	}
	for until(time.Duration(200+random.IntN(3000)) * time.Millisecond) {
		switch random.IntN(4) {
		case 0:
			process.Process.Kill()
			r.killed.Add(1)
			<-done
		case 1:
			process.Process.Signal(syscall.SIGTERM)
			r.ended.Add(1)
			if until(10 * time.Second) {
				process.Process.Kill()
				return errors.New("a process does not end in ten seconds after SIGTERM")
			}
		default: // longer than any deadline, or not
			process.Process.Signal(syscall.SIGSTOP)
			r.stopped.Add(1)
			until(time.Duration(random.IntN(7000)) * time.Millisecond)
			process.Process.Signal(syscall.SIGCONT)
		}
	}
	process.Process.Signal(syscall.SIGCONT)
	process.Process.Kill()
	<-done
	for line := range strings.Lines(stderr.String()) {
		r.errors.Store(pattern(strings.TrimSpace(line)), true)
	}
	if bytes.Contains(stderr.Bytes(), []byte("panic:")) {
		return fmt.Errorf("a process has panicked:\n%s", stderr.Bytes())
	}
	return nil
}

var changing = regexp.MustCompile(`[0-9a-f]{8,}|[0-9][-0-9.:TZ]*`)

// pattern is a line without what differs from time to time.
func pattern(line string) string { return changing.ReplaceAllString(line, "#") }

// judge looks at all that was made.
func (r *result) judge(t *testing.T, sortid, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	type use struct { // of a node ID in a tick
		node uint32
		tick uint64
		path string
	}
	var files []string
	var uses []use
	for _, path := range paths {
		ids := read(t, path)
		if len(ids) == 0 {
			continue
		}
		files = append(files, path)
		r.ids += len(ids)
		for i, id := range ids {
			if i > 0 && id <= ids[i-1] {
				t.Errorf("%s: %v after %v", path, id, ids[i-1])
			}
			u := use{id.NodeID(nodeBits), id.Timestamp(), path}
			if len(uses) == 0 || uses[len(uses)-1] != u {
				uses = append(uses, u)
			}
		}
	}
	r.lives = len(files)
	slices.SortFunc(uses, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.tick, b.tick))
	})
	for i := 1; i < len(uses); i++ {
		if a, b := uses[i-1], uses[i]; a.node == b.node && a.path != b.path {
			r.hands++
			if a.tick == b.tick {
				r.shared++
			}
		}
	}
	out, err := exec.Command(sortid, append([]string{"verify", "scru64", "--unique"}, files...)...).CombinedOutput()
	r.sound, r.verdict = err == nil && r.shared == 0, string(out)
	if before, _, ok := strings.Cut(r.verdict, "\nSources"); ok { // which are many
		r.verdict = before
	}
}

// read returns the IDs of a file, whose last line may be cut off and is then removed.
func read(t *testing.T, path string) (ids []scru64.ID) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		id, err := scru64.Parse(lines.Text())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		ids = append(ids, id)
	}
	return ids
}
