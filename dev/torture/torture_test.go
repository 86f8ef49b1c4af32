//go:build unix

// Package torture kills and stops processes that make IDs on leases, and the servers of their
// stores. It looks for an ID that was made twice.
package torture

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/scru64"

	// The tests run the command, which has these packages. With the imports, the go command does
	// not use cached results of the tests after a change there.
	_ "github.com/sortid/sortid/cmd/sortid/server"
	_ "github.com/sortid/sortid/internal/extsort"
	_ "github.com/sortid/sortid/verify"
	_ "github.com/sortid/sortid/verify/duplicates"
)

var (
	seed = flag.Uint64("seed", rand.Uint64(),
		"decides which faults happen, but not what they cause")
	rate = flag.Int("rate", 50_000, "IDs a second that each process wants to make")
)

const window = 6 * time.Second

// A cluster is a store, and the processes that lease from it.
type cluster struct {
	name      string
	processes int
	process   func(url string, bits int) *exec.Cmd
	urls      []string      // each process chooses one
	bits      []int         // each process chooses one as the size of its node ID
	faults    []string      // kinds of faults of processes
	servers   [][]outage    // the outages of each server
	around    []string      // kinds of faults of servers and connections
	pause     time.Duration // between faults, at most

	mu     sync.Mutex
	done   []fault
	errors []string          // patterns in standard error, sorted
	leases map[string]string // from the path of a renewal to the server that got it last
	moved  int               // renewals of a lease that another server renewed before
}

// An outage is a fault of a server.
type outage struct {
	kind       string
	most       time.Duration
	begin, end func()
}

// A fault happened to one process, or to all.
type fault struct {
	kind string
	slot int       // the process, or all
	over time.Time // when the process or the server ran again
}

const all = -1

const (
	kill = "killed"
	end  = "ended by SIGTERM"
	stop = "stopped"
	step = "clock set"
)

// A server also has the faults of its proxy.
const (
	serverKill = "server killed"
	serverEnd  = "server ended by SIGTERM"
	serverStop = "server stopped"
	serverCut  = "server cut off"
)

var kinds = []string{kill, end, stop, step, serverKill, serverEnd, serverStop, serverCut, delay,
	loseReply, halfClose, repeat, hangUp}

func (f *cluster) note(kind string, slot int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, fault{kind, slot, time.Now()})
}

func (f *cluster) count(kind string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.done {
		if fault.kind == kind {
			n++
		}
	}
	return n
}

// sent notes which server gets a renewal.
func (f *cluster) sent(request []byte, server string) {
	path, _, ok := bytes.Cut(request, []byte("/renew HTTP/"))
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leases == nil {
		f.leases = map[string]string{}
	}
	if last := f.leases[string(path)]; last != "" && last != server {
		f.moved++
	}
	f.leases[string(path)] = server
}

// renewals returns how many leases were renewed through servers, and how often a lease changed its
// server.
func (f *cluster) renewals() (leases, moved int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.leases), f.moved
}

// roundTime returns how long a round takes. Another round follows if too little has happened.
func roundTime(t *testing.T) time.Duration {
	t.Helper()
	return cmp.Or(testserver.Soak(t), 15*time.Second)
}

func (f *cluster) between() time.Duration {
	return 200*time.Millisecond + rand.N(f.pause)
}

func (f *cluster) round(t *testing.T, dir string, round int, end time.Time) {
	var wg sync.WaitGroup
	for slot := range f.processes {
		random := rand.New(rand.NewPCG(*seed+uint64(round), uint64(slot)))
		wg.Go(func() {
			for life := 0; time.Now().Before(end); life++ {
				name := filepath.Join(dir, fmt.Sprintf("%d-%03d-%05d", slot, round, life))
				process := f.process(f.urls[random.IntN(len(f.urls))], f.bits[random.IntN(len(f.bits))])
				if err := f.live(process, slot, name, random, end); err != nil {
					t.Errorf("%s: %v", f.name, err)
					return
				}
				time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
			}
		})
	}
	for i, outages := range f.servers {
		random := rand.New(rand.NewPCG(*seed+uint64(round), 1<<32+uint64(i)))
		wg.Go(func() {
			for n := round + i; time.Until(end) > 6*time.Second; n++ {
				time.Sleep(time.Second + f.between())
				o := outages[n%len(outages)]
				o.begin()
				time.Sleep(min(time.Duration(random.Int64N(int64(o.most))), time.Until(end)))
				o.end()
				f.note(o.kind, all)
			}
		})
	}
	wg.Wait()
}

func (f *cluster) live(process *exec.Cmd, slot int, name string, random *rand.Rand,
	until time.Time) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	var stderr bytes.Buffer
	process.Stdout, process.Stderr = out, &stderr
	if err := process.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		process.Wait()
		close(done)
	}()
	lives := func(d time.Duration) bool {
		select {
		case <-done:
			return false
		case <-time.After(min(d, time.Until(until))):
			return time.Now().Before(until)
		}
	}
	for lives(f.between()) {
		kind := f.faults[random.IntN(len(f.faults))]
		switch kind {
		case kill:
			process.Process.Kill()
			<-done
		case end:
			process.Process.Signal(syscall.SIGTERM)
			select {
			case <-done:
			case <-time.After(2 * time.Minute):
				process.Process.Kill()
				return errors.New("a process does not end after SIGTERM")
			}
		case stop: // for up to two windows
			process.Process.Signal(syscall.SIGSTOP)
			lives(rand.N(2 * window))
			process.Process.Signal(syscall.SIGCONT)
		case step:
			process.Process.Signal(syscall.SIGUSR1)
		}
		f.note(kind, slot)
	}
	process.Process.Signal(syscall.SIGCONT)
	process.Process.Kill()
	<-done
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range strings.Lines(stderr.String()) {
		f.errors = append(f.errors, changing.ReplaceAllString(strings.TrimSpace(line), "#"))
	}
	slices.Sort(f.errors)
	f.errors = slices.Compact(f.errors)
	for _, bad := range []string{"panic:", "wrong ID"} {
		if strings.Contains(stderr.String(), bad) {
			return fmt.Errorf("a process failed:\n%s", &stderr)
		}
	}
	return nil
}

var changing = regexp.MustCompile(`[0-9a-f]{8,}|[0-9][-0-9.:TZ]*`)

// torture runs rounds until enough has happened in all clusters.
func torture(t *testing.T, clusters []*cluster, duration time.Duration,
	enough func(f *cluster, dir string) bool) {
	t.Logf("-seed %d, rounds of %v", *seed, duration)
	dir := t.TempDir()
	for _, f := range clusters {
		f.pause = min(duration/5, 10*time.Second)
		check.OK(t, os.Mkdir(filepath.Join(dir, f.name), 0o755))
	}
	for round := 0; ; round++ {
		var wg sync.WaitGroup
		until := time.Now().Add(duration)
		for _, f := range clusters {
			wg.Go(func() { f.round(t, filepath.Join(dir, f.name), round, until) })
		}
		wg.Wait()
		missing := ""
		for _, f := range clusters {
			if !t.Failed() && !enough(f, filepath.Join(dir, f.name)) {
				missing = f.name
			}
		}
		if missing == "" {
			return
		}
		if round == 20 {
			t.Fatalf("%s: too little has happened", missing)
		}
	}
}

// With this --guard, counters start at zero. So processes with the same node ID and tick would make
// the same IDs.
func TestCommand(t *testing.T) {
	t.Parallel()
	sortid := program(t)
	f := &cluster{
		name: "sortid new", processes: 10, faults: []string{kill, end, stop, stop},
		urls: []string{"bolt:" + filepath.Join(t.TempDir(), "leases.db")},
		bits: []int{3}, // fewer node IDs than processes
		process: func(url string, bits int) *exec.Cmd {
			return exec.Command(sortid, "new", "scru64", "--lease", url, "--realm", "torture",
				"--node-bits", strconv.Itoa(bits), "--guard", strconv.Itoa(24-bits),
				"--lease-window", window.String(), "--rollback", "wait", "--rate", "2000", "--forever",
				"--create")
		},
	}
	torture(t, []*cluster{f}, roundTime(t), func(f *cluster, dir string) bool {
		paths, lines := files(t, dir)
		if len(paths) == 0 {
			return false
		}
		out, err := exec.Command(sortid,
			append([]string{"verify", "scru64", "--unique"}, paths...)...).CombinedOutput()
		report, _, _ := strings.Cut(string(out), "\nSources")
		t.Logf("%d IDs of %d processes\n%s\n%s", lines, len(paths), report, f)
		if err != nil {
			t.Errorf("sortid verify: %v", err)
		}
		return lines > 100_000 && f.count(kill) > 2 && f.count(stop) > 2 && f.count(end) > 0
	})
}

// files returns the files that have lines, and the number of lines. It removes incomplete last
// lines.
func files(t *testing.T, dir string) (paths []string, lines int) {
	t.Helper()
	for _, path := range check.Must(filepath.Glob(filepath.Join(dir, "*")))(t) {
		data := check.Must(os.ReadFile(path))(t)
		data = data[:bytes.LastIndexByte(data, '\n')+1]
		check.OK(t, os.WriteFile(path, data, 0o600))
		if len(data) > 0 {
			paths = append(paths, path)
			lines += bytes.Count(data, []byte("\n"))
		}
	}
	return paths, lines
}

func (f *cluster) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", f.name)
	for _, kind := range kinds {
		if n := f.count(kind); n > 0 {
			fmt.Fprintf(&b, " %s %d,", kind, n)
		}
	}
	if leases, moved := f.renewals(); leases > 0 {
		fmt.Fprintf(&b, " %d leases renewed, %d times by another server than before", leases, moved)
	}
	for _, line := range f.errors {
		fmt.Fprintf(&b, "\n  stderr: %s", line)
	}
	return b.String()
}

func TestTogether(t *testing.T) {
	const many = 100
	for name, url := range map[string]func() string{
		"bolt":     func() string { return "bolt:" + filepath.Join(t.TempDir(), "leases.db") },
		"postgres": func() string { return testserver.StartPostgres(t).URL },
		"etcd":     func() string { return testserver.StartEtcd(t).URL },
	} {
		t.Run(name, func(t *testing.T) {
			sortid, url := program(t), url()
			var all [many]*exec.Cmd
			var first [many]string
			var wg sync.WaitGroup
			end := time.Now().Add(10 * time.Minute)
			dir := t.TempDir()
			var starting sync.Mutex
			// start keeps two files open, because some systems allow a process only 256.
			start := func(i int) (stdout io.Reader, stderr string, err error) {
				starting.Lock()
				defer starting.Unlock()
				stderr = filepath.Join(dir, strconv.Itoa(i))
				file, err := os.Create(stderr)
				if err != nil {
					return nil, "", err
				}
				defer file.Close()
				// It continues, so that it keeps its node ID.
				all[i] = exec.Command(sortid, "new", "scru64", "--lease", url,
					"--node-bits", "7", "--rate", "1", "--forever", "--create")
				all[i].Stderr = file
				if stdout, err = all[i].StdoutPipe(); err == nil {
					err = all[i].Start()
				}
				return stdout, stderr, err
			}
			for i := range all {
				wg.Go(func() {
					for time.Now().Before(end) {
						out, stderr, err := start(i)
						if err != nil {
							t.Error(err)
							return
						}
						time.AfterFunc(time.Until(end), func() { all[i].Process.Kill() })
						if first[i], _ = bufio.NewReader(out).ReadString('\n'); first[i] != "" {
							return
						}
						all[i].Wait()
						if text, _ := os.ReadFile(stderr); !strings.Contains(string(text),
							"deadline exceeded") {
							t.Errorf("process %d ended, want only late ones to end: %s", i, text)
							return
						}
					}
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

func alone(t *testing.T) {
	t.Helper()
	testserver.Long(t, "kills and stops processes")
	testserver.Alone(t)
}

// program builds the command, which the test kills and stops.
func program(t *testing.T) string {
	t.Helper()
	alone(t)
	return testserver.Build(t, "github.com/sortid/sortid/cmd/sortid")
}
