//go:build unix

package torture

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

func makers(name, program string, processes int, bits []int, urls ...string) *cluster {
	return &cluster{
		name: name, processes: processes, bits: bits, urls: urls,
		faults: []string{kill, end, stop, step},
		process: func(url string, bits int) *exec.Cmd {
			return exec.Command(program, makerArgument, "-lease", url, "-realm", "torture",
				"-node-bits", strconv.Itoa(bits), "-window", window.String(),
				"-rate", strconv.Itoa(*rate))
		},
	}
}

// No tick of a node ID belongs to two processes. One realm is nearly full. Of another realm, some
// processes lease from the store, and others through two servers.
func TestStores(t *testing.T) {
	t.Parallel()
	sortid, maker := program(t), os.Args[0]
	bolt := func() string { return "bolt:" + filepath.Join(t.TempDir(), "leases.db") }
	sizes := []int{3, 3, 4, 4}
	clusters := []*cluster{
		makers("bolt", maker, 4, sizes, bolt()),
		makers("bolt, realm nearly full", maker, 6, []int{1, 2, 3, 3, 4}, bolt()),
	}
	for _, s := range []struct {
		name  string
		start func(testing.TB) *testserver.Server
	}{
		{"postgres", func(t testing.TB) *testserver.Server { return testserver.StartPostgres(t) }},
		{"mysql", func(t testing.TB) *testserver.Server { return testserver.StartMySQL(t) }},
		{"redis", func(t testing.TB) *testserver.Server { return testserver.StartRedis(t) }},
	} {
		server := s.start(t)
		clusters = append(clusters, onServer(t, makers(s.name, maker, 4, sizes), server))
	}
	clusters = append(clusters, onKubernetes(t, makers("kubernetes", maker, 4, sizes)))
	servers, network := testserver.StartEtcdCluster(t)
	clusters = append(clusters, onMembers(t, makers("etcd", maker, 4, sizes), servers, network, ""))
	servers, network = testserver.StartNATSCluster(t)
	// A server that is cut off may answer with old records, which is safe if all sizes are equal.
	clusters = append(clusters, onMembers(t, makers("nats", maker, 4, []int{3}), servers, network,
		"/torture?replicas=3"))
	// NATS makes the changes of a grant one by one, so an outage of a server can come between them.
	f := onServer(t, makers("sortid serve", maker, 10, []int{3, 3, 3, 4}), testserver.StartNATS(t))
	leaseThrough(t, f, sortid)
	clusters = append(clusters, f)

	results := map[*cluster]result{}
	torture(t, clusters, roundTime(t), func(f *cluster, dir string) bool {
		r := evaluate(t, f, dir)
		results[f] = r
		t.Logf("%v\n%v", r, f)
		if r.twice > 0 {
			t.Errorf("%s: %d ticks of a node ID were used twice", f.name, r.twice)
		}
		missing := slices.ContainsFunc(slices.Concat(f.faults, f.around),
			func(kind string) bool { return f.count(kind) == 0 })
		if _, moved := f.renewals(); len(f.urls) > 1 && moved == 0 {
			missing = true
		}
		return r.ids > *rate && r.hands > 0 && !missing
	})
	printResults(t, "Torture", clusters, results)
}

// onServer lets a cluster lease from a server that crashes, through a proxy.
func onServer(t *testing.T, f *cluster, server *testserver.Server) *cluster {
	t.Helper()
	u := check.Must(url.Parse(server.URL))(t)
	random := rand.New(rand.NewPCG(*seed, 1<<33))
	u.Host = newProxy(t, random, f, proxied, 0, u.Host).address
	f.urls = []string{u.String()}
	f.servers = [][]outage{{{serverKill, window / 2, server.Stop, server.Start}}}
	f.around = append([]string{serverKill}, proxied...)
	return f
}

// onMembers lets a cluster lease from the members of another cluster, through a proxy. They are
// killed, and cut off from each other.
func onMembers(t *testing.T, f *cluster, servers []*testserver.Server,
	network *testserver.Network, path string) *cluster {
	t.Helper()
	u := check.Must(url.Parse(servers[0].URL + path))(t)
	var addresses []string
	for i, s := range servers {
		addresses = append(addresses, check.Must(url.Parse(s.URL))(t).Host)
		f.servers = append(f.servers, []outage{
			{serverKill, window / 2, s.Stop, s.Start},
			{serverCut, 2 * window, func() { network.Cut(i, i != 0) }, network.Join},
		})
	}
	random := rand.New(rand.NewPCG(*seed, 1<<36))
	u.Host = newProxy(t, random, f, proxied, 0, addresses...).address
	f.urls = []string{u.String()}
	f.around = append([]string{serverKill, serverCut}, proxied...)
	return f
}

// onKubernetes lets a cluster lease from two API servers with one etcd, through a proxy. All three
// are killed and stopped.
func onKubernetes(t *testing.T, f *cluster) *cluster {
	t.Helper()
	servers, etcd := testserver.StartAPIServers(t, 2)
	u := check.Must(url.Parse(testserver.KubernetesNamespace(t, servers[0].URL)))(t)
	var addresses []string
	for _, s := range servers {
		addresses = append(addresses, check.Must(url.Parse(s.URL))(t).Host)
	}
	for _, s := range append(servers, etcd) {
		f.servers = append(f.servers, []outage{
			{serverKill, window / 2, s.Stop, s.Start},
			{serverStop, window, func() { s.Signal(syscall.SIGSTOP) },
				func() { s.Signal(syscall.SIGCONT) }},
		})
	}
	random := rand.New(rand.NewPCG(*seed, 1<<35))
	u.Host = newProxy(t, random, f, proxied, 0, addresses...).address
	f.urls = []string{"kubernetes:"}
	process, config := f.process, testserver.Kubeconfig(t, u.String())
	f.process = func(url string, bits int) *exec.Cmd {
		cmd := process(url, bits)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+config)
		return cmd
	}
	f.around = append([]string{serverKill, serverStop}, proxied...)
	return f
}

// leaseThrough lets a cluster with a store also lease through two servers of this store. Two
// proxies pass each connection on to one of them. Connections end soon, so that a lease changes its
// server. Fewer processes are killed than elsewhere, so that more leases are renewed.
func leaseThrough(t *testing.T, f *cluster, sortid string) {
	t.Helper()
	s := check.Must(store.Open(t.Context(), f.urls[0]))(t)
	defer s.Close()
	check.Must(lease.Create(t.Context(), s, lease.Config{Realm: "torture", Format: lease.SCRU64(),
		Window: window}))(t)
	var addresses []string
	for _, s := range []*server{serve(t, sortid, f.urls[0]), serve(t, sortid, f.urls[0])} {
		addresses = append(addresses, s.address)
		f.servers = append(f.servers, []outage{
			{serverStop, 2 * window, s.pause, s.resume},
			{serverEnd, window / 2, s.terminate, s.restart},
			{serverKill, window / 2, s.Stop, s.Start},
		})
	}
	faults := []string{repeat, delay, hangUp, loseReply, repeat, halfClose, hangUp}
	for i := range uint64(2) {
		random := rand.New(rand.NewPCG(*seed, 1<<34+i))
		p := newProxy(t, random, f, faults, time.Second, addresses...)
		f.urls = append(f.urls, "http://"+p.address)
	}
	f.around = append(f.around, serverEnd, serverStop, repeat, hangUp)
	f.faults = append(f.faults, step, step)
}

// The test finds processes that ignore the end of their window.
func TestUnfenced(t *testing.T) {
	t.Parallel()
	alone(t)
	f := makers("bolt, no fence", os.Args[0], 10, []int{3},
		"bolt:"+filepath.Join(t.TempDir(), "leases.db"))
	f.faults = []string{stop, stop, kill} // after a stop, a process may use ticks twice
	fenced := f.process
	f.process = func(url string, bits int) *exec.Cmd {
		cmd := fenced(url, bits)
		cmd.Args = append(cmd.Args, "-unfenced")
		return cmd
	}
	results := map[*cluster]result{}
	torture(t, []*cluster{f}, min(roundTime(t), time.Minute), func(f *cluster, dir string) bool {
		results[f] = evaluate(t, f, dir)
		t.Logf("%v\n%v", results[f], f)
		return results[f].twice > 0
	})
	printResults(t, "TortureUnfenced", []*cluster{f}, results)
}

type claim struct {
	tick int64
	node uint32
	bits int
	file int
	slot int
	at   time.Time
}

func (c claim) overlaps(d claim) bool {
	bits := min(c.bits, d.bits)
	return c.node>>(c.bits-bits) == d.node>>(d.bits-bits)
}

type result struct {
	ids, ticks int
	lives      int // processes that claimed a tick
	hands      int // times that a node ID changed its process
	twice      int // ticks in which processes' node IDs overlapped
	gaps       map[string][]time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("%d IDs in %d ticks, of %d processes; %d ticks used twice; "+
		"node IDs changed hands %d times", r.ids, r.ticks, r.lives, r.twice, r.hands)
}

func evaluate(t *testing.T, f *cluster, dir string) (r result) {
	t.Helper()
	claims, ids, lives := claimed(t, dir)
	r.ids, r.lives, r.ticks = ids, lives, len(claims)
	slices.SortStableFunc(claims, func(a, b claim) int { return a.at.Compare(b.at) })
	r.gaps = gaps(f.done, claims)

	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(a.tick, b.tick) })
	holders := map[[2]int]int{}
	for i, c := range claims {
		for j := i - 1; j >= 0 && claims[j].tick == c.tick; j-- {
			if claims[j].overlaps(c) {
				r.twice++
			}
		}
		key := [2]int{int(c.node), c.bits}
		if holder, ok := holders[key]; ok && holder != c.file {
			r.hands++
		}
		holders[key] = c.file
	}
	return r
}

// claimed returns the claims of all processes, the number of IDs, and how many processes claimed
// a tick.
func claimed(t *testing.T, dir string) (claims []claim, ids, lives int) {
	t.Helper()
	for i, path := range check.Must(filepath.Glob(filepath.Join(dir, "*")))(t) {
		of, made := read(t, path, i)
		claims = append(claims, of...)
		ids += made
		if len(of) > 0 {
			lives++
		}
	}
	return claims, ids, lives
}

// read returns a process's claims, and how many IDs it checked. After a kill, the last IDs do not
// count, but their ticks do.
func read(t *testing.T, path string, file int) (claims []claim, ids int) {
	t.Helper()
	data := check.Must(os.ReadFile(path))(t)
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the process may write another line
	slot, _, _ := strings.Cut(filepath.Base(path), "-")
	c := claim{file: file, slot: check.Must(strconv.Atoi(slot))(t)}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var what string
		var at int64
		n, err := fmt.Sscan(lines.Text(), &what, &at, &ids, &c.tick, &c.node, &c.bits)
		if what == "end" && n == 3 {
			continue
		}
		c.at = time.Unix(0, at)
		switch {
		case err != nil || what != "claim":
			t.Fatalf("%s: the line %q", path, lines.Text())
		case len(claims) > 0 && c.tick <= claims[len(claims)-1].tick:
			t.Errorf("%s: tick %d was claimed after tick %d", path, c.tick, claims[len(claims)-1].tick)
		}
		claims = append(claims, c)
	}
	return claims, ids
}

// gaps returns, for each kind of fault, how long after its end processes first claimed a tick. If
// another fault came before the claim, the process does not count.
func gaps(faults []fault, claims []claim) map[string][]time.Duration {
	slots := map[int][]time.Time{}
	for _, c := range claims {
		slots[c.slot] = append(slots[c.slot], c.at)
	}
	gaps := map[string][]time.Duration{}
	for slot, times := range slots {
		hits := slices.DeleteFunc(slices.Clone(faults), func(f fault) bool {
			return f.slot != slot && f.slot != all
		})
		slices.SortFunc(hits, func(a, b fault) int { return a.over.Compare(b.over) })
		for i, hit := range hits {
			at, _ := slices.BinarySearchFunc(times, hit.over, time.Time.Compare)
			if at == len(times) || i+1 < len(hits) && hits[i+1].over.Before(times[at]) {
				continue
			}
			gaps[hit.kind] = append(gaps[hit.kind], times[at].Sub(hit.over))
		}
	}
	return gaps
}

func printResults(t *testing.T, benchmark string, clusters []*cluster, results map[*cluster]result) {
	gaps := map[string][]time.Duration{}
	count := map[string]int{}
	for _, f := range clusters {
		r := results[f]
		fmt.Printf("Benchmark%s/%s 1 %d IDs %d ticks %d processes %d hands %d twice\n",
			benchmark, url.PathEscape(f.name), r.ids, r.ticks, r.lives, r.hands, r.twice)
		for _, kind := range kinds {
			count[kind] += f.count(kind)
			gaps[kind] = append(gaps[kind], r.gaps[kind]...)
		}
	}
	for _, kind := range kinds {
		of := gaps[kind]
		if slices.Sort(of); len(of) > 0 {
			at := func(part float64) float64 { return of[int(part*float64(len(of)-1))].Seconds() }
			fmt.Printf("Benchmark%sFault/%s 1 %d faults %.2f s/half %.2f s/p99 %.2f s/longest\n",
				benchmark, url.PathEscape(kind), count[kind], at(0.5), at(0.99), at(1))
		}
	}
	fmt.Printf("Benchmark%sTime/stores 1 %.0f s\n", benchmark, roundTime(t).Seconds())
}

type server struct {
	t                      *testing.T
	sortid, store, address string
	process                *exec.Cmd
	done                   chan struct{} // the process has ended
}

func serve(t *testing.T, sortid, store string) *server {
	t.Helper()
	s := &server{t: t, sortid: sortid, store: store,
		address: fmt.Sprint("127.0.0.1:", testserver.FreePort(t))}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

func (s *server) Start() {
	process := exec.Command(s.sortid, "serve", "--leases-only", "--listen", s.address,
		"--store", s.store)
	if err := process.Start(); err != nil {
		s.t.Error(err)
		return
	}
	done := make(chan struct{})
	go func() {
		process.Wait()
		close(done)
	}()
	s.process, s.done = process, done
	if !check.Soon(func() bool {
		resp, err := http.Get("http://" + s.address + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	}) {
		s.t.Error("a server does not serve")
	}
}

func (s *server) Stop() {
	s.process.Process.Kill()
	<-s.done
}

func (s *server) pause()     { s.process.Process.Signal(syscall.SIGSTOP) }
func (s *server) resume()    { s.process.Process.Signal(syscall.SIGCONT) }
func (s *server) terminate() { s.process.Process.Signal(syscall.SIGTERM) }

// restart starts a server that got SIGTERM before.
func (s *server) restart() {
	select {
	case <-s.done:
	case <-time.After(2 * time.Minute):
		s.t.Error("a server does not end after SIGTERM")
		s.Stop()
	}
	s.Start()
}
