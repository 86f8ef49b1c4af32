package store_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"github.com/sortid/sortid/store/internal/connect"
)

type server struct {
	name string
	url  func(b *testing.B) string
}

// Each server syncs each change to the disk, except NATS, which by default syncs later.
var servers = []server{
	{"bolt", func(b *testing.B) string { return "bolt:" + b.TempDir() + "/leases.db" }},
	{"postgres", func(b *testing.B) string { return testserver.StartPostgres(b).URL }},
	{"mysql", func(b *testing.B) string { return testserver.StartMySQL(b).URL }},
	{"etcd", func(b *testing.B) string { return testserver.StartEtcd(b).URL }},
	{"nats", func(b *testing.B) string { return testserver.StartNATS(b).URL }},
	{"redis", func(b *testing.B) string { return testserver.StartRedis(b).URL }},
	{"kubernetes", startKubernetes},
}

func startKubernetes(b *testing.B) string {
	b.Setenv("KUBECONFIG", testserver.Kubeconfig(b, testserver.KubernetesNamespace(b,
		testserver.StartKubernetes(b).URL)))
	return "kubernetes:"
}

func open(b *testing.B, url string) lease.Store {
	b.Helper()
	s := check.Must(store.Open(b.Context(), url))(b)
	b.Cleanup(func() { s.Close() })
	return s
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
}

// BenchmarkAcquire leases a node ID of 8 bits in a realm where a hundred are leased.
func BenchmarkAcquire(b *testing.B) {
	for _, server := range servers {
		b.Run(server.name, func(b *testing.B) {
			s := open(b, server.url(b))
			config := lease.Config{Realm: "bench", Format: lease.SCRU64(), NodeBits: 8}
			for range 100 {
				defer acquire(b, s, config).Close(context.Background())
			}
			acquireAll(b, s, config)
		})
	}
}

func acquire(b *testing.B, s lease.Store, config lease.Config) *lease.Lease {
	b.Helper()
	l := check.Must(lease.Acquire(b.Context(), s, config))(b)
	return l
}

func acquireAll(b *testing.B, s lease.Store, config lease.Config) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		l := acquire(b, s, config)
		took = append(took, time.Since(start))
		check.OK(b, l.Close(b.Context()))
	}
	report(b, took)
}

// A watched store measures a renewal: from the call of Time until GetMany has read the realm.
type watched struct {
	lease.Store
	start time.Time
	took  chan time.Duration
}

func (w *watched) Time(ctx context.Context) (time.Time, error) {
	w.start = time.Now()
	return w.Store.Time(ctx)
}

func (w *watched) GetMany(ctx context.Context, realm string,
	blocks []lease.Block) ([]lease.Record, error) {
	r, err := w.Store.GetMany(ctx, realm, blocks)
	if blocks[0] == (lease.Block{}) && err == nil {
		select {
		case w.took <- time.Since(w.start):
		default:
		}
	}
	return r, err
}

func BenchmarkExtend(b *testing.B) {
	for _, server := range servers {
		b.Run(server.name, func(b *testing.B) {
			w := &watched{Store: open(b, server.url(b)), took: make(chan time.Duration)}
			l := acquire(b, w, lease.Config{
				Realm: "bench", Format: lease.SCRU160(), NodeBits: 8, Window: 4 * time.Millisecond,
			})
			defer l.Close(context.Background())
			var took []time.Duration
			for b.Loop() {
				select {
				case d := <-w.took:
					took = append(took, d)
				case <-time.After(10 * time.Second):
					b.Fatalf("no renewal in ten seconds: %v", l.Err())
				}
			}
			report(b, took)
		})
	}
}

// BenchmarkNodes reports what a thousand leases cost the server. Each lease has its own connection.
// The leases start within half a minute, and run for a minute. They have default settings and, with
// Kubernetes, the ones of "sortid lease exec".
func BenchmarkNodes(b *testing.B) {
	for _, c := range []struct {
		store         string
		window, renew time.Duration
	}{{"postgres", 0, 0}, {"etcd", 0, 0}, {"kubernetes", 205 * time.Second, 41 * time.Second}} {
		b.Run(c.store, func(b *testing.B) {
			const nodes = 1000
			url := servers[slices.IndexFunc(servers, func(s server) bool {
				return s.name == c.store
			})].url(b)
			var requests, writes atomic.Int64
			leases, took := make([]*lease.Lease, nodes), make([]time.Duration, nodes)
			var wg sync.WaitGroup
			for i := range leases {
				time.Sleep(lease.DefaultWindow / 2 / nodes)
				wg.Go(func() {
					start := time.Now()
					s, err := store.Open(b.Context(), url)
					if err != nil {
						b.Error(err)
						return
					}
					b.Cleanup(func() { s.Close() })
					counting := &counting{s, &requests, &writes}
					leases[i], err = lease.Acquire(b.Context(), counting, lease.Config{
						Realm: "bench", Format: lease.SCRU64(), NodeBits: 12,
						Name: fmt.Sprint("node ", i), Window: c.window, Renew: c.renew,
					})
					if err != nil {
						b.Error(err)
					}
					took[i] = time.Since(start)
				})
			}
			wg.Wait()
			if b.Failed() {
				return
			}
			before, wrote, cpu, begin := requests.Load(), writes.Load(), processor(b), time.Now()
			for b.Loop() {
				time.Sleep(lease.DefaultWindow)
			}
			seconds := time.Since(begin).Seconds()
			for _, l := range leases {
				if err := errors.Join(l.Err(), late(l)); err != nil {
					b.Error(err)
				}
			}
			report(b, took)
			b.ReportMetric(float64(requests.Load()-before)/seconds, "requests/s")
			b.ReportMetric(float64(writes.Load()-wrote)/seconds, "writes/s")
			b.ReportMetric(100*(processor(b)-cpu).Seconds()/seconds, "%cpu")
			for _, l := range leases {
				wg.Go(func() { l.Close(context.Background()) })
			}
			wg.Wait()
		})
	}
}

func late(l *lease.Lease) error {
	if left := time.Until(l.Until()); left < lease.DefaultWindow/4 {
		return fmt.Errorf("node %d has only %v left", l.NodeID(), left)
	}
	return nil
}

type counting struct {
	lease.Store
	n, writes *atomic.Int64
}

func (c *counting) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	c.n.Add(1)
	return c.Store.Get(ctx, realm, b)
}

func (c *counting) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	c.n.Add(1)
	c.writes.Add(1)
	return c.Store.CompareAndSet(ctx, prev, next)
}

func (c *counting) GetMany(ctx context.Context, realm string,
	blocks []lease.Block) ([]lease.Record, error) {
	c.n.Add(1)
	return c.Store.GetMany(ctx, realm, blocks)
}

func (c *counting) CompareAndSetMany(ctx context.Context, changes []lease.Change) (bool, error) {
	c.n.Add(1)
	c.writes.Add(1)
	return c.Store.CompareAndSetMany(ctx, changes)
}

func (c *counting) List(ctx context.Context, realm string) ([]lease.Record, error) {
	c.n.Add(1)
	return c.Store.List(ctx, realm)
}

func (c *counting) Time(ctx context.Context) (time.Time, error) {
	t, err := c.Store.Time(ctx)
	if !errors.Is(err, lease.ErrNoTime) {
		c.n.Add(1)
	}
	return t, err
}

// BenchmarkTogether leases node IDs for a thousand nodes at once, each with its own store, and
// reports the connections and the cost of one start. If the store is a file, the nodes are in eight
// processes. [BenchmarkPods] starts nodes with Kubernetes. For databases, it also measures a thousand connections that only read a row and write a
// row in a transaction, which is the least that a lease could need.
func BenchmarkTogether(b *testing.B) {
	const nodes = 1000
	for _, server := range servers {
		if server.name == "kubernetes" {
			continue
		}
		once := 0.0
		if connect := connectOnce[server.name]; connect != nil {
			b.Run(server.name+"-floor", func(b *testing.B) {
				url := server.url(b)
				rows := []string{"(0, 0)"}
				for i := 1; i < nodes; i++ {
					rows = append(rows, fmt.Sprintf("(%d, 0)", i))
				}
				if err := connect(b.Context(), url, "CREATE TABLE floor (id INT PRIMARY KEY, n INT)",
					"INSERT INTO floor VALUES "+strings.Join(rows, ", ")); err != nil {
					b.Fatal(err)
				}
				once = together(b, url, nodes, func(i int) error {
					return connect(b.Context(), url, "BEGIN",
						fmt.Sprintf("SELECT n FROM floor WHERE id = %d", i),
						fmt.Sprintf("UPDATE floor SET n = n + 1 WHERE id = %d", i), "COMMIT")
				})
			})
		}
		b.Run(server.name, func(b *testing.B) {
			url := server.url(b)
			if server.name == "bolt" {
				b.ReportMetric(startProcesses(b, url, 8, nodes).Seconds(), "s")
				b.ReportMetric(0, "ns/op")
				return
			}
			took := startTogether(b, url, nodes, 12)
			if once > 0 {
				b.ReportMetric(took/once, "x/floor")
			}
			oneStart(b, url)
		})
	}
	for _, server := range servers {
		if server.name == "redis" {
			b.Run("redis-10000-held", func(b *testing.B) {
				url := server.url(b)
				hold(b, url, 10000)
				startTogether(b, url, nodes, 16)
			})
		}
	}
}

var bench = lease.Config{Realm: "bench", Format: lease.SCRU64(), NodeBits: 16, Window: time.Hour}

func startTogether(b *testing.B, url string, nodes, bits int) (seconds float64) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	config := bench
	config.NodeBits = bits
	config.Retry = func(error) bool { return true } // up to the end of ctx
	sources := make([]store.Source, nodes)
	seconds = together(b, url, nodes, func(i int) error {
		s, err := store.OpenSource(ctx, url)
		if err == nil {
			sources[i] = s
			_, err = s.Acquire(ctx, config)
		}
		return err
	})
	time.Sleep(2 * time.Second)
	b.ReportMetric(float64(connections(url)), "connections-later")
	for _, s := range sources {
		if s != nil {
			s.Close()
		}
	}
	return seconds
}

// connectOnce executes statements, one after the other, on a new connection. If the server has no
// free connection, connectOnce tries again as the store does.
var connectOnce = map[string]func(ctx context.Context, url string, statements ...string) error{
	"postgres": func(ctx context.Context, url string, statements ...string) error {
		return again(ctx, func(ctx context.Context) error {
			conn, err := pgconn.Connect(ctx, url+"?sslmode=disable")
			if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) &&
				refused.Code == "53300" {
				return connect.Busy(err, 4*time.Second)
			}
			if err != nil {
				return err
			}
			defer conn.Close(ctx)
			for _, statement := range statements {
				if _, err := conn.Exec(ctx, statement).ReadAll(); err != nil {
					return err
				}
			}
			return nil
		})
	},
	"mysql": func(ctx context.Context, raw string, statements ...string) error {
		u, err := url.Parse(raw)
		if err != nil {
			return err
		}
		return again(ctx, func(ctx context.Context) error {
			db, err := sql.Open("mysql", u.User.String()+"@tcp("+u.Host+")"+u.Path)
			if err != nil {
				return err
			}
			defer db.Close()
			conn, err := db.Conn(ctx)
			if err == nil {
				defer conn.Close()
			}
			for i := 0; i < len(statements) && err == nil; i++ {
				_, err = conn.ExecContext(ctx, statements[i])
			}
			if refused := (*mysql.MySQLError)(nil); errors.As(err, &refused) &&
				refused.Number == 1040 {
				return connect.Busy(err, 250*time.Millisecond)
			}
			return err
		})
	},
}

func again(ctx context.Context, ask func(context.Context) error) error {
	_, err := connect.Retry(ctx, "the server", connect.NoResult(ask))
	return err
}

// together calls the function start for all nodes at once, and reports the time and the server's
// cost.
func together(b *testing.B, url string, nodes int, start func(i int) error) (seconds float64) {
	b.Helper()
	before, own := processor(b), ownProcessor()
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range nodes {
		wg.Go(func() {
			<-begin
			if err := start(i); err != nil {
				b.Error(err)
			}
		})
	}
	done, most := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-time.After(100 * time.Millisecond):
				n = max(n, connections(url))
			case <-done:
				most <- n
				return
			}
		}
	}()
	began := time.Now()
	close(begin)
	wg.Wait()
	took := time.Since(began)
	close(done)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(took.Seconds(), "s")
	b.ReportMetric(float64(<-most), "connections")
	b.ReportMetric(((processor(b)-before)-(ownProcessor()-own)).Seconds()*1000/float64(nodes),
		"ms-server-cpu/start")
	return took.Seconds()
}

func hold(b *testing.B, url string, n int) {
	b.Helper()
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(n))
	for range 8 {
		wg.Go(func() {
			s := open(b, url)
			for left.Add(-1) >= 0 {
				if _, err := lease.Acquire(b.Context(), s, bench); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// oneStart reports the requests and bytes of one start.
func oneStart(b *testing.B, raw string) {
	b.Helper()
	var m meter
	config := bench
	config.NodeBits = 12
	acquire(b, open(b, m.relay(b, raw)), config)
	b.ReportMetric(float64(m.requests.Load()), "requests/start")
	b.ReportMetric(float64(m.bytes.Load()), "B/start")
}

func connections(raw string) (n int) {
	u, err := url.Parse(raw)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return 0
	}
	remote := fmt.Sprintf("0100007F:%04X", port)
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 3 && f[2] == remote && f[3] == "01" {
			n++
		}
	}
	return n
}

func startProcesses(b *testing.B, url string, processes, nodes int) time.Duration {
	b.Helper()
	var wg sync.WaitGroup
	var all []*exec.Cmd
	var inputs []io.Closer
	began := time.Now()
	for range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SORTID_BENCH_URL="+url,
			fmt.Sprintf("SORTID_BENCH_NODES=%d", nodes/processes))
		cmd.Stderr = os.Stderr
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		check.OK(b, errors.Join(err1, err2, cmd.Start()))
		all, inputs = append(all, cmd), append(inputs, in)
		wg.Go(func() {
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				b.Errorf("%q, %v", line, err)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	for i, cmd := range all {
		inputs[i].Close()
		cmd.Wait()
	}
	return took
}

// TestMain runs the tests. In a process of startProcesses, it leases node IDs, and then waits until
// its input ends.
func TestMain(m *testing.M) {
	url := os.Getenv("SORTID_BENCH_URL")
	if url == "" {
		os.Exit(m.Run())
	}
	nodes, _ := strconv.Atoi(os.Getenv("SORTID_BENCH_NODES"))
	s, err := store.Open(context.Background(), url)
	for i := 0; i < nodes && err == nil; i++ {
		_, err = lease.Acquire(context.Background(), s, bench)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
}

// processor returns the processor time that this process and its children, such as the server, have
// used.
func processor(b *testing.B) time.Duration {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	parent, used := map[int]int{}, map[int]time.Duration{}
	for _, path := range paths {
		// A process that has ended lacks these fields.
		if fields := stat(path); len(fields) > 15 {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			parent[pid], _ = strconv.Atoi(fields[1])
			used[pid] = ticks(fields[11:15])
		}
	}
	if len(parent) == 0 {
		b.Skip("only Linux shows the time of other processes; to run this: use Linux")
	}
	var all time.Duration
	for pid := range parent {
		for at := pid; at > 0; at = parent[at] {
			if at == os.Getpid() {
				all += used[pid]
				break
			}
		}
	}
	return all
}

func ownProcessor() time.Duration { return ticks(stat("/proc/self/stat")[11:13]) }

// stat returns the fields of /proc/PID/stat after the name of the process.
func stat(path string) []string {
	text, _ := os.ReadFile(path)
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

func ticks(fields []string) (sum time.Duration) {
	for _, f := range fields {
		n, _ := strconv.ParseInt(f, 10, 64)
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}
