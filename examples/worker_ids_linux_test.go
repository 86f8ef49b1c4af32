package examples

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

const (
	workerIDs = "worker-ids"
	leaseJS   = "../cmd/sortid/web/lease.js"
)

// A language has a library that is one file, and programs that use it.
type language struct {
	name, file, comment string
	most                int // lines of code
	client, hold        func(t *testing.T) *exec.Cmd
}

var languages = []language{
	{"Python", workerIDs + "/worker_ids.py", "#", 60,
		func(t *testing.T) *exec.Cmd {
			return exec.Command(testserver.Program(t, "python3"), workerIDs+"/worker_ids.py")
		},
		func(t *testing.T) *exec.Cmd {
			cmd := exec.Command(testserver.Program(t, "python3"), "testdata/worker-ids/hold.py")
			cmd.Env = append(os.Environ(), "PYTHONPATH="+workerIDs, "PYTHONDONTWRITEBYTECODE=1")
			return cmd
		}},
	{"Node", leaseJS, "//", 60,
		func(t *testing.T) *exec.Cmd {
			return exec.Command(testserver.Program(t, "node"), workerIDs+"/worker-ids.mjs")
		},
		func(t *testing.T) *exec.Cmd {
			library := check.Must(filepath.Abs(leaseJS))(t)
			cmd := exec.Command(testserver.Program(t, "node"), "testdata/worker-ids/hold.mjs")
			cmd.Env = append(os.Environ(), "LIBRARY="+library)
			return cmd
		}},
	{"Java", workerIDs + "/WorkerIds.java", "//", 60,
		func(t *testing.T) *exec.Cmd { return java(t, "WorkerIds") },
		func(t *testing.T) *exec.Cmd { return java(t, "Hold") }},
}

var classes struct {
	sync.Once
	dir string
	err error
}

// java returns a command that runs a class. The first call compiles the sources.
func java(t *testing.T, class string) *exec.Cmd {
	t.Helper()
	compiler, program := testserver.Program(t, "javac"), testserver.Program(t, "java")
	classes.Do(func() {
		if classes.dir, classes.err = os.MkdirTemp("", "sortid-java-"); classes.err != nil {
			return
		}
		cmd := exec.Command(compiler, "--release", "17", "-Xlint:all", "-Werror", "-d", classes.dir,
			workerIDs+"/WorkerIds.java", "testdata/worker-ids/Hold.java")
		if out, err := cmd.CombinedOutput(); err != nil {
			classes.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	check.OK(t, classes.err)
	return exec.Command(program, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
		"-cp", classes.dir, class)
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(classes.dir)
	os.Exit(code)
}

// The clients are short enough to be read before they are copied.
func TestWorkerIDsShort(t *testing.T) {
	for _, l := range languages {
		text := check.Must(os.ReadFile(l.file))(t)
		code := 0
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if n := len([]rune(line)); n > 100 {
				t.Errorf("%s: a line of %d columns: %s", l.file, n, line)
			}
			if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, l.comment) {
				code++
			}
		}
		if code > l.most {
			t.Errorf("%s has %d lines of code, want at most %d", l.file, code, l.most)
		}
	}
}

// A run is a program that a test has started.
type run struct {
	cmd    *exec.Cmd
	lines  chan string // what it writes
	holds  atomic.Bool
	stderr bytes.Buffer
	ended  chan struct{}
}

func start(t *testing.T, cmd *exec.Cmd, env ...string) *run {
	t.Helper()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, env...)
	r := &run{cmd: cmd, lines: make(chan string, 1000), ended: make(chan struct{})}
	cmd.Stderr = &r.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out := check.Must(cmd.StdoutPipe())(t)
	check.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-r.ended
	})
	go func() {
		defer close(r.ended)
		defer close(r.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			r.lines <- s.Text()
		}
		cmd.Wait()
	}()
	return r
}

// exit waits until the program has ended, and returns its exit code.
func (r *run) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-r.ended:
		return r.cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatal("the client does not end")
		return 0
	}
}

// line waits for a line.
func (r *run) line(t *testing.T) string {
	t.Helper()
	select {
	case line, open := <-r.lines:
		if !open {
			<-r.ended
			t.Fatalf("the client ended without a line: %s", r.stderr.Bytes())
		}
		return line
	case <-time.After(time.Minute):
		t.Fatal("the client writes no line")
		return ""
	}
}

// An ask is a request that a fake server received.
type ask struct {
	at     time.Time
	nano   int64 // the same time, as monotonic returns it
	path   string
	header http.Header
	body   map[string]any
}

// A reply is what a fake server does with a request.
type reply func(w http.ResponseWriter, r *http.Request)

// fake starts a server that gives each reply once, in this order, and the last one for ever.
func fake(t *testing.T, replies ...reply) (url string, asks func() []ask) {
	t.Helper()
	var mu sync.Mutex
	var got []ask
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := ask{at: time.Now(), nano: monotonic(), path: r.URL.EscapedPath(), header: r.Header}
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(text, &a.body)
		}
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s %s: %q: %v", r.Method, r.URL, text, err)
		}
		mu.Lock()
		n := min(len(got), len(replies)-1)
		got = append(got, a)
		mu.Unlock()
		replies[n](w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL, func() []ask {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(got)
	}
}

// grant replies with a lease. The edit changes fields.
func grant(edit func(lease map[string]any)) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now().UnixMilli()
		lease := map[string]any{
			"id": "first", "secret": "s3cret", "realm": "r", "node_id": 7, "node_bits": 4,
			"holder": `"end_tick":99999,\"`, "node_spec": "7/4", "valid_from_ms": now - 1,
			"renew_at_ms": now + 300, "valid_until_ms": now + 20_000, "starts_in_ms": 0,
			"valid_for_ms": 20_000, "server_time_ms": now, "first_tick": 1, "end_tick": 1000,
			"tick_ms": 1, "tick_epoch_ms": 0,
		}
		if edit != nil {
			edit(lease)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(lease)
	}
}

// problem replies with an error.
func problem(status int, code, retryAfter string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"title":"t","status":%d,"detail":"the \"detail\", of %s","code":%q}`,
			status, code, code)
	}
}

func plain(status int, retryAfter string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Retry-After", retryAfter)
		w.WriteHeader(status)
		io.WriteString(w, "<p>not JSON</p>")
	}
}

// hang does not answer.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// closes closes the connection within the answer.
func closes(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	io.WriteString(w, `{"id":`)
	panic(http.ErrAbortHandler)
}

func gone(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// each runs a test for each language.
func each(t *testing.T, test func(t *testing.T, l language)) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			testserver.Long(t, "runs programs in other languages")
			t.Parallel()
			test(t, l)
		})
	}
}

// start starts the client.
func (l language) start(t *testing.T, url string, env ...string) *run {
	t.Helper()
	return start(t, l.client(t), append(env, "SORTID_URL="+url, "SORTID_REALM=a/b c")...)
}

// monotonic returns the time that the holding programs write, in nanoseconds.
func monotonic() int64 {
	var now syscall.Timespec
	const clockMonotonic = 1
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

func TestWorkerIDsAcquire(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		url, asks := fake(t, problem(503, "store-unavailable", "1"), closes, plain(503, "1"),
			problem(429, "limit", "1"), problem(410, "lease-lost", ""), problem(503, "none-free", "1"),
			grant(nil), gone)
		before := time.Now().UnixMilli()
		r := l.start(t, url, "SORTID_TOKEN=t0ken")
		line := r.line(t)
		check.OK(t, r.cmd.Process.Signal(syscall.SIGTERM))
		if code := r.exit(t); code != 0 || r.stderr.Len() > 0 {
			t.Errorf("exit code %d, %s", code, r.stderr.Bytes())
		}
		got := asks()
		if len(got) < 8 {
			t.Fatalf("%d requests", len(got))
		}
		var id, until int64
		fmt.Sscan(line, &id, &until)
		if line != fmt.Sprint(id, until) || id != 7 || until < before+20_000 {
			t.Errorf("line %q", line)
		}
		for i, a := range got[:7] {
			if a.path != "/v1/realms/a%2Fb%20c/leases" ||
				a.header.Get("Authorization") != "Bearer t0ken" ||
				a.header.Get("Content-Type") != "application/json" {
				t.Errorf("request %d: %v", i, a)
			}
			if i > 0 && i != 2 && i != 5 && a.at.Sub(got[i-1].at) < time.Second {
				t.Errorf("request %d came %v after the one before", i, a.at.Sub(got[i-1].at))
			}
			if same := i <= 4; (a.body["request"] == got[0].body["request"]) != same ||
				!same && a.body["request"] != got[5].body["request"] {
				t.Errorf("request %d has another request: %v", i, a.body)
			}
			if len(a.body["request"].(string)) < 32 {
				t.Errorf("request %q is short", a.body["request"])
			}
		}
		released := got[len(got)-1]
		last, _ := released.body["last_time_ms"].(float64)
		if !strings.HasSuffix(released.path, "/leases/first/release") ||
			released.body["secret"] != "s3cret" || released.body["end_tick"] != 1000. ||
			last < float64(before) || last > float64(time.Now().UnixMilli()) {
			t.Errorf("released with %v", released)
		}
		for _, a := range got[7 : len(got)-1] {
			if strings.HasSuffix(a.path, "/release") {
				t.Error("two releases")
			}
		}
	})
}

func TestWorkerIDsRefused(t *testing.T) {
	for _, status := range []int{401, 422} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			each(t, func(t *testing.T, l language) {
				url, asks := fake(t, problem(status, "code", ""))
				r := l.start(t, url)
				code := r.exit(t)
				text := r.stderr.String()
				if code == 0 || !strings.Contains(text, `the "detail", of code`) ||
					strings.Count(text, "\n") != 1 || len(asks()) != 1 {
					t.Errorf("exit code %d after %d requests: %s", code, len(asks()), text)
				}
				if asks()[0].header.Get("Authorization") != "" {
					t.Error("it sends a token that it does not have")
				}
			})
		})
	}
}

func TestWorkerIDsURL(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		for _, url := range []string{"", "localhost:8420", "127.0.0.1:8420"} {
			r := l.start(t, url)
			code := r.exit(t)
			if text := r.stderr.String(); code == 0 || strings.Count(text, "\n") != 1 ||
				!strings.Contains(text, "https://") || !strings.Contains(text, url) {
				t.Errorf("%q: exit code %d: %s", url, code, text)
			}
		}
	})
}

func TestWorkerIDsRenew(t *testing.T) {
	newer := func(lease map[string]any) { lease["end_tick"] = 2000 }
	older := func(lease map[string]any) { lease["id"], lease["end_tick"] = "older", 1500 }
	each(t, func(t *testing.T, l language) {
		url, asks := fake(t, grant(nil),
			problem(409, "forgotten", ""), closes, problem(401, "no-token", ""),
			problem(404, "no-realm", ""), problem(422, "clock-differs", ""),
			problem(429, "limit", "1"), plain(503, "1"), grant(newer),
			grant(older), problem(410, "lease-lost", ""))
		r := l.start(t, url)
		r.line(t)
		if code := r.exit(t); code == 0 {
			t.Error("exit code 0 after the lease was lost")
		}
		got := asks()
		if len(got) != 11 {
			t.Fatalf("%d requests, want 11", len(got))
		}
		if d := got[1].at.Sub(got[0].at); d < 290*time.Millisecond {
			t.Errorf("renewed after %v, want 300 ms", d)
		}
		for i, a := range got[1:] {
			if !strings.HasSuffix(a.path, "/leases/first/renew") || a.body["secret"] != "s3cret" {
				t.Errorf("renewal %d: %v", i, a)
			}
			if i == 6 || i == 7 {
				if d := a.at.Sub(got[i].at); d < time.Second {
					t.Errorf("renewal %d came after %v, before Retry-After", i, d)
				}
			}
			end := 1000.
			if i >= 8 {
				end = 2000
			}
			if a.body["end_tick"] != end {
				t.Errorf("renewal %d: end_tick %v, want %v", i, a.body["end_tick"], end)
			}
			if same := i <= 7; (a.body["renewal"] == got[1].body["renewal"]) != same {
				t.Errorf("renewal %d: renewal %v", i, a.body["renewal"])
			}
		}
	})
}

// The client ends in time by each clock, whatever the answers to renewals are.
func TestWorkerIDsEnd(t *testing.T) {
	const valid = 7 * time.Second // a slow machine needs seconds to print the node ID
	wall := func(lease map[string]any) {
		lease["valid_until_ms"] = time.Now().Add(valid).UnixMilli()
	}
	steady := func(lease map[string]any) { lease["valid_for_ms"] = valid.Milliseconds() }
	late := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		grant(steady)(w, r)
	}
	for name, replies := range map[string][]reply{
		"wall clock":      {grant(wall), problem(409, "forgotten", "")},
		"monotonic clock": {late, hang},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, l language) {
				url, asks := fake(t, replies...)
				r := l.start(t, url)
				holderURL, holderAsks := fake(t, replies...)
				holder := start(t, l.hold(t), "SORTID_URL="+holderURL, "SORTID_REALM=r")
				var id, last int64
				for line := range holder.lines {
					fmt.Sscan(line, &id, &last)
				}
				if end := holderAsks()[0].nano + int64(valid); last == 0 || last > end {
					t.Errorf("it held the node ID until %d, want less than %d", last, end)
				}
				r.line(t)
				if code := r.exit(t); code == 0 || strings.Count(r.stderr.String(), "\n") != 1 {
					t.Errorf("exit code %d: %s", code, r.stderr.Bytes())
				}
				for _, a := range append(asks()[1:], holderAsks()[1:]...) {
					if !strings.HasSuffix(a.path, "/renew") {
						t.Errorf("then %v", a)
					}
				}
			})
		})
	}
}

// After a freeze, or if somebody sets the clock, the client says so when the lease has ended.
func TestWorkerIDsReason(t *testing.T) {
	library := filepath.Join(t.TempDir(), "clock.so")
	build := sync.OnceFunc(func() { buildClock(t, library) })
	for name, c := range map[string]struct {
		ahead int32 // by how much the clock is set
		want  string
	}{
		"frozen":        {0, "still"},
		"clock forward": {300, "clock jumped"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, l language) {
				url, asks := fake(t, grant(func(lease map[string]any) {
					lease["valid_for_ms"], lease["renew_at_ms"] = 8000, lease["server_time_ms"].(int64)+5000
				}))
				file := filepath.Join(t.TempDir(), "ahead")
				check.OK(t, os.WriteFile(file, make([]byte, 4), 0o600))
				build()
				r := l.start(t, url, "LD_PRELOAD="+library, "CLOCK_AHEAD="+file)
				r.line(t)
				if c.ahead != 0 {
					f, err := os.OpenFile(file, os.O_WRONLY, 0) // without O_TRUNC: the program has it mapped
					check.OK(t, err)
					text := binary.NativeEndian.AppendUint32(nil, uint32(c.ahead))
					_, err = f.Write(text)
					check.OK(t, errors.Join(err, f.Close()))
				} else {
					check.OK(t, r.cmd.Process.Signal(syscall.SIGSTOP))
					time.Sleep(8 * time.Second)
					check.OK(t, r.cmd.Process.Signal(syscall.SIGCONT))
				}
				code, text := r.exit(t), r.stderr.String()
				if code == 0 || !strings.Contains(text, c.want) ||
					c.ahead != 0 && !strings.Contains(text, fmt.Sprint(c.ahead)) {
					t.Errorf("exit code %d after %d requests: %s", code, len(asks()), text)
				}
			})
		})
	}
}

// buildClock compiles a library that sets the clock of one program.
func buildClock(t *testing.T, library string) {
	cmd := exec.Command(testserver.Program(t, "cc"), "-shared", "-fPIC", "-O1", "-Wall", "-Werror",
		"-o", library, "testdata/worker-ids/clock.c")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestWorkerIDsStart(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		for _, field := range []string{"starts_in_ms", "valid_from_ms"} {
			url, asks := fake(t, grant(func(lease map[string]any) {
				at := int64(1500)
				if field == "valid_from_ms" {
					at += time.Now().UnixMilli()
				}
				lease[field], lease["renew_at_ms"] = at, lease["server_time_ms"].(int64)+10_000
			}), gone)
			r := l.start(t, url)
			r.line(t)
			if d := time.Since(asks()[0].at); d < 1500*time.Millisecond {
				t.Errorf("%s: used after %v, want 1.5s", field, d)
			}
			r.cmd.Process.Kill()
			<-r.ended
		}
	})
}

// A proxy passes connections on to a server, or disturbs them.
type proxy struct {
	url   string
	fault atomic.Int32
}

const (
	pass    = iota
	refuse  // connections end
	swallow // requests get lost, and no answer comes
	hold    // requests arrive when the fault ends
	lose    // answers get lost, and the connection ends
	faults
)

func newProxy(t *testing.T, server string) *proxy {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	p := &proxy{url: "http://" + l.Addr().String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(t, client, server)
		}
	}()
	return p
}

func (p *proxy) serve(t *testing.T, client net.Conn, server string) {
	defer client.Close()
	conn, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer conn.Close()
	go func() {
		defer client.Close()
		p.copy(t, client, conn, lose)
	}()
	p.copy(t, conn, client, swallow)
}

// copy passes on what comes from a connection. The fault lost is the one that loses it.
func (p *proxy) copy(t *testing.T, to io.Writer, from io.Reader, lost int32) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		for p.fault.Load() == hold && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		switch fault := p.fault.Load(); {
		case err != nil || fault == refuse:
			return
		case fault == lost && lost == lose:
			return
		case fault != lost:
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
}

// A holding is the time between the first and the last moment at which a program held a node ID,
// by the machine's monotonic clock.
type holding struct {
	id          int
	first, last int64
	by          string
}

// overlap returns two holdings of one node ID at one moment.
func overlap(holdings []holding) (a, b holding, found bool) {
	slices.SortFunc(holdings, func(a, b holding) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.first, b.first))
	})
	for i := 1; i < len(holdings); i++ {
		a, b := holdings[i-1], holdings[i]
		if a.id == b.id && b.first <= a.last {
			return a, b, true
		}
	}
	return a, b, false
}

// Clients of all languages lease from a small realm, while the clients, the server and the network
// fail. At no moment do two of them hold one node ID.
func TestWorkerIDsOverlap(t *testing.T) {
	testserver.Long(t, "waits for leases to end")
	t.Parallel()
	store := "bolt:" + filepath.Join(t.TempDir(), "leases.db")
	if out, err := exec.Command(testserver.Sortid(t), "lease", "create", store, "--realm", "workers",
		"--node-bits", "2", "--lease-window", "5s").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := testserver.StartSortid(t, store, "--leases-only")
	p := newProxy(t, strings.TrimPrefix(server.URL, "http://"))

	var mu sync.Mutex
	var holdings []holding
	var wg sync.WaitGroup
	stop := make(chan struct{})
	programs := make([]atomic.Pointer[run], 3*len(languages))
	for i := range programs {
		l := languages[i%len(languages)]
		l.hold(t) // skips, or compiles
		wg.Go(func() {
			for {
				r := start(t, l.hold(t), "SORTID_URL="+p.url, "SORTID_REALM=workers")
				programs[i].Store(r)
				h := holding{by: fmt.Sprint(l.name, " ", r.cmd.Process.Pid)}
				for line := range r.lines {
					fmt.Sscan(line, &h.id, &h.last)
					if h.first == 0 {
						h.first = h.last
						r.holds.Store(true)
					}
				}
				if h.first != 0 {
					mu.Lock()
					holdings = append(holdings, h)
					mu.Unlock()
				}
				select {
				case <-stop:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
	holder := func() *run {
		for _, i := range rand.Perm(len(programs)) {
			if r := programs[i].Load(); r != nil && r.holds.Load() {
				return r
			}
		}
		return nil
	}
	long := max(30*time.Second, testserver.Soak(t))
	var network sync.WaitGroup
	network.Go(func() {
		for end := time.Now().Add(long); time.Now().Before(end); {
			p.fault.Store(1 + rand.Int32N(faults-1))
			time.Sleep(time.Duration(500+rand.IntN(3500)) * time.Millisecond)
			p.fault.Store(pass)
			time.Sleep(time.Duration(2000+rand.IntN(2000)) * time.Millisecond)
		}
	})
	for end, n := time.Now().Add(long), 1; time.Now().Before(end); n++ {
		time.Sleep(time.Duration(300+rand.IntN(1200)) * time.Millisecond)
		switch r := holder(); {
		case r == nil:
		case n%20 == 0:
			server.Stop()
			time.Sleep(time.Second)
			server.Start()
		case n%2 == 0:
			r.cmd.Process.Kill()
		default:
			r.holds.Store(false)
			r.cmd.Process.Signal(syscall.SIGSTOP)
			// Half a window after the lease's end, another program can get the node ID.
			time.AfterFunc(10*time.Second, func() { r.cmd.Process.Signal(syscall.SIGCONT) })
		}
	}
	network.Wait()
	close(stop)
	for i := range programs {
		if r := programs[i].Load(); r != nil {
			r.cmd.Process.Kill()
		}
	}
	wg.Wait()
	used := map[string]int{}
	for _, h := range holdings {
		name, _, _ := strings.Cut(h.by, " ")
		used[name]++
	}
	t.Log(len(holdings), "leases:", used)
	if len(used) != len(languages) || len(holdings) < 10 {
		t.Error("too few leases for a test")
	}
	if a, b, found := overlap(holdings); found {
		t.Errorf("%v and %v", a, b)
	}
}
