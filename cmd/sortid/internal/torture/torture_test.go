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
	"net/http"
	"net/url"
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
	"github.com/sortid/sortid/testserver"
)

var (
	duration = flag.Duration("duration", 12*time.Second,
		"how long to torture each store in a round; another round follows if that was too short")
	seed = flag.Uint64("seed", rand.Uint64(),
		"decides what is done to the processes, but not what comes of it")
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
	torture(t, build(t, command), "", []string{"bolt:" + filepath.Join(t.TempDir(), "leases.db")},
		nil, (*result).much).mustBeSound(t)
}

// On servers that are killed and started again, with a proxy before them that delays,
// loses and cuts.
func TestServers(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *testserver.Server{
		"postgres": func(t testing.TB) *testserver.Server { return testserver.StartPostgres(t) },
		"mysql":    func(t testing.TB) *testserver.Server { return testserver.StartMySQL(t) },
		"etcd":     func(t testing.TB) *testserver.Server { return testserver.StartEtcd(t) },
		"nats":     func(t testing.TB) *testserver.Server { return testserver.StartNATS(t) },
		"redis":    func(t testing.TB) *testserver.Server { return testserver.StartRedis(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sortid, server := build(t, command), start(t)
			u, err := url.Parse(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			p := newProxy(t, u.Host, rand.New(rand.NewPCG(*seed, processes+1)))
			u.Host = p.address
			r := torture(t, sortid, "", []string{u.String()}, server,
				func(r *result) bool { return r.much() && p.all() })
			r.mustBeSound(t)
			if r.restarts.Load() == 0 {
				t.Error("the server was never killed")
			}
			t.Logf("requests delayed: %d; answers lost: %d; connections half closed: %d",
				p.made[delay].Load(), p.made[loseReply].Load(), p.made[halfClose].Load())
			if !p.all() {
				t.Error("the proxy has never done all that it can do")
			}
		})
	}
}

// Through two servers of "sortid serve" on one store, of which one is killed.
func TestServe(t *testing.T) {
	t.Parallel()
	sortid := build(t, command)
	store := "bolt:" + filepath.Join(t.TempDir(), "leases.db")
	a, b := serve(t, sortid, store), serve(t, sortid, store)
	r := torture(t, sortid, "", []string{a.url, b.url}, a, (*result).much)
	r.mustBeSound(t)
	if r.restarts.Load() == 0 {
		t.Error("the server was never killed")
	}
}

// A server is "sortid serve" in a process, at an address that stays.
type server struct {
	t                  *testing.T
	sortid, store, url string
	process            *exec.Cmd
}

func serve(t *testing.T, sortid, store string) *server {
	t.Helper()
	s := &server{t: t, sortid: sortid, store: store, url: fmt.Sprint("http://127.0.0.1:",
		testserver.FreePort(t))}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// Start starts the server and waits until it serves.
func (s *server) Start() {
	s.process = exec.Command(s.sortid, "serve", "--listen", strings.TrimPrefix(s.url, "http://"),
		"--store", s.store, "--create")
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	for range 12000 {
		if resp, err := http.Get(s.url + "/healthz"); err == nil {
			resp.Body.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("a server does not serve")
}

// Stop kills the server.
func (s *server) Stop() {
	s.process.Process.Kill()
	s.process.Wait()
}

// The same, with generators whose lease does not keep to its window, must find duplicates.
func TestUnfenced(t *testing.T) {
	t.Parallel()
	r := torture(t, build(t, command), build(t, unfenced),
		[]string{"bolt:" + filepath.Join(t.TempDir(), "leases.db")}, nil,
		func(*result) bool { return false })
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
			sortid, url := build(t, command), url()
			var all [many]*exec.Cmd
			var first [many]string
			var wg sync.WaitGroup
			end := time.Now().Add(10 * time.Minute)
			for i := range all {
				wg.Go(func() {
					for time.Now().Before(end) {
						// Each holds its node ID until it is told to end.
						all[i] = exec.Command(sortid, "new", "scru64", "--lease", url,
							"--node-bits", "7", "--rate", "1", "--forever", "--create")
						var stderr bytes.Buffer
						all[i].Stderr = &stderr
						out, err := all[i].StdoutPipe()
						if err == nil {
							err = all[i].Start()
						}
						if err != nil {
							t.Error(err)
							return
						}
						time.AfterFunc(time.Until(end), func() { all[i].Process.Kill() })
						if first[i], _ = bufio.NewReader(out).ReadString('\n'); first[i] != "" {
							return
						}
						all[i].Wait()
						if !strings.Contains(stderr.String(), "deadline exceeded") { // as on a slow machine
							t.Errorf("%s", &stderr)
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

// The commands to build.
const (
	command  = "../.."
	unfenced = "./unfenced"
)

// build returns the path of a command, built anew.
func build(t *testing.T, folder string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes its time")
	}
	path := filepath.Join(t.TempDir(), "sortid")
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot be stopped and continued on Windows")
	}
	args := []string{"build", "-o", path, folder}
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
	fmt.Fprintf(
		&b,
		"%d IDs of %d processes; %d kills, %d stops, %d ends; the server started again %d times; node IDs changed hands %d times, in the middle of a tick %d times\n%s",
		r.ids, r.lives, r.killed.Load(), r.stopped.Load(), r.ended.Load(), r.restarts.Load(),
		r.hands, r.shared, r.verdict)
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
	if !r.much() {
		t.Errorf("too little has happened")
	}
}

// much reports whether so much has happened that a duplicate would have been made.
func (r *result) much() bool {
	seconds := int(duration.Seconds())
	return r.ids >= rate*seconds && r.lives >= processes && r.hands >= seconds/3 &&
		int(r.killed.Load()) >= seconds/5 && int(r.stopped.Load()) >= seconds/5
}

// A crasher is a server that can be killed and started again.
type crasher interface {
	Stop()
	Start()
}

// torture lets processes make IDs on leases from the store at urls, of which each process
// takes one, and does to them, and to its server if that is given, what can happen to them. The processes are of the command
// sortid, or of generator if that is given. It ends when enough has happened, or a
// duplicate; on a slow machine that takes some rounds.
func torture(t *testing.T, sortid, generator string, urls []string, server crasher,
	enough func(*result) bool) *result {
	t.Logf("-seed %d -duration %v", *seed, *duration)
	r := &result{}
	dir := t.TempDir()
	for round := range 20 {
		r.torture(t, cmp.Or(generator, sortid), urls, server, dir, round)
		if r.evaluate(t, sortid, dir); t.Failed() || !r.sound || enough(r) {
			break
		}
	}
	return r
}

// torture is a round.
func (r *result) torture(t *testing.T, generator string, urls []string, server crasher, dir string,
	round int) {
	seed := *seed + uint64(round)
	end := time.Now().Add(*duration)
	var wg sync.WaitGroup
	for slot := range processes {
		random := rand.New(rand.NewPCG(seed, uint64(slot)))
		wg.Go(func() {
			for life := 0; time.Now().Before(end); life++ {
				out := filepath.Join(dir, fmt.Sprintf("%d-%d-%d", round, slot, life))
				if err := r.live(generator, urls[random.IntN(len(urls))], out, random,
					end); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
			}
		})
	}
	if server != nil {
		random := rand.New(rand.NewPCG(seed, processes))
		for time.Until(end) > 6*time.Second {
			time.Sleep(time.Duration(1000+random.IntN(4000)) * time.Millisecond)
			server.Stop()
			time.Sleep(time.Duration(random.IntN(4000)) * time.Millisecond) // up to two windows
			server.Start()
			r.restarts.Add(1)
		}
	}
	wg.Wait()
}

// live is the life of one process.
func (r *result) live(generator, url, out string, random *rand.Rand, end time.Time) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	process := exec.Command(generator, "new", "scru64", "--lease", url, "--realm", "torture",
		"--node-bits", strconv.Itoa(nodeBits),
		"--lease-window", window.String(), "--guard", guard, "--rollback", "wait", "--rate",
		strconv.Itoa(rate), "--forever", "--create")
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
			select {
			case <-done:
			case <-time.After(2 * time.Minute):
				process.Process.Kill()
				return errors.New("a process does not end after SIGTERM")
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

// evaluate looks at all that was made.
func (r *result) evaluate(t *testing.T, sortid, dir string) {
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
	r.ids = 0
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
	r.lives, r.hands, r.shared = len(files), 0, 0
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
	if len(files) == 0 {
		r.sound, r.verdict = true, "no IDs"
		return
	}
	out, err := exec.Command(sortid, append([]string{"verify", "scru64", "--unique"},
		files...)...).CombinedOutput()
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
