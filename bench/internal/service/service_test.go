package service

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"

	"github.com/sortid/sortid/testserver"
)

var measure = flag.String("measure", "", "the file for the results; without it little is measured")

// emptyServer is an environment variable. If it is set, this program is the server [Empty],
// on the listener that it has inherited as its file 3.
const emptyServer = "SORTID_BENCH_EMPTY_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(emptyServer) == "" {
		os.Exit(m.Run())
	}
	l, err := net.FileListener(os.NewFile(3, "listener"))
	if err == nil {
		answer := []byte(strings.Repeat("0", 25) + "\n")
		err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(answer) }))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// serveEmpty starts the server [Empty], and returns its URL.
func serveEmpty(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	check(t, err)
	defer file.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr, cmd.ExtraFiles = append(os.Environ(), emptyServer+"=1"), os.Stderr, []*os.File{file}
	check(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	url := "http://" + l.Addr().String()
	for range 12000 {
		if status(url) == http.StatusOK {
			return url
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the empty server does not answer")
	return ""
}

func Test(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	sortid := filepath.Join(t.TempDir(), "sortid")
	if out, err := exec.Command("go", "build", "-o", sortid, "github.com/sortid/sortid/cmd/sortid").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var r Results
	measureRates(t, sortid, &r)
	measureMemory(t, sortid, &r)
	measureAway(t, sortid, &r)
	for _, run := range r.Runs {
		if run.Rate <= 0 || run.P99 < run.Half {
			t.Errorf("%+v", run)
		}
	}
	if r.Away.Failures > 0 || r.Away.Unavailable == 0 || r.Away.Goes <= 0 || r.Away.Back <= 0 {
		t.Errorf("%+v", r.Away)
	}
	if r.Megabytes <= 0 {
		t.Errorf("%.1f MB", r.Megabytes)
	}
	t.Logf("%+v", r)
	if *measure == "" || t.Failed() {
		return
	}
	b, err := json.MarshalIndent(r, "", "\t")
	check(t, err)
	check(t, os.WriteFile(*measure, b, 0o644))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A server is "sortid serve" in a process of its own, with its log in a file.
type server struct {
	url string
	pid int
}

func serve(t *testing.T, sortid, store string, flags ...string) *server {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	check(t, err)
	t.Cleanup(func() { log.Close() })
	cmd := exec.Command(sortid, append([]string{"serve", "--listen", "127.0.0.1:0", "--store", store}, flags...)...)
	cmd.Stderr = log
	check(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	s := &server{pid: cmd.Process.Pid}
	for range 12000 {
		if s.url == "" {
			s.url = address(t, log.Name())
		} else if status(s.url+"/readyz") == http.StatusOK {
			return s
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the server is not ready")
	return nil
}

// address returns the address that a server's log tells, if it does yet.
func address(t *testing.T, log string) string {
	f, err := os.Open(log)
	check(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			return line.Address
		}
	}
	return ""
}

// status returns the status of a request, 0 if there was no answer.
func status(url string) int {
	resp, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// A client makes one request over a connection of its own, for some IDs.
type client func(context.Context) error

// measureRates measures all sources in turn, several times, and takes the best of each.
func measureRates(t *testing.T, sortid string, r *Results) {
	redisServer := testserver.StartRedis(t, "--appendonly", "no")
	postgres := testserver.StartPostgres(t)
	// A node ID of one bit leaves room for 33 million scru64 IDs a second.
	s := serve(t, sortid, "bolt:"+filepath.Join(t.TempDir(), "s.db"), "--node-bits", "1")

	ctx := t.Context()
	conn, err := pgx.Connect(ctx, postgres.URL)
	check(t, err)
	_, err = conn.Exec(ctx, "CREATE SEQUENCE ids")
	check(t, err)
	check(t, conn.QueryRow(ctx, "SHOW server_version").Scan(&r.Postgres))
	r.Postgres, _, _ = strings.Cut(r.Postgres, " ")
	check(t, conn.Close(ctx))
	options, err := redis.ParseURL(redisServer.URL)
	check(t, err)
	options.PoolSize = 64
	rdb := redis.NewClient(options)
	defer rdb.Close()
	info, err := rdb.Info(ctx, "server").Result()
	check(t, err)
	_, info, _ = strings.Cut(info, "redis_version:")
	r.Redis, _, _ = strings.Cut(info, "\r")

	get := func(server, path string, ids int) func(*testing.T) client {
		return func(t *testing.T) client {
			c := &fasthttp.HostClient{Addr: strings.TrimPrefix(server, "http://"), MaxConns: 1, NoDefaultUserAgentHeader: true}
			t.Cleanup(c.CloseIdleConnections)
			request, answer := &fasthttp.Request{}, &fasthttp.Response{}
			request.SetRequestURI(server + path)
			return func(context.Context) error {
				if err := c.Do(request, answer); err != nil {
					return err
				}
				if answer.StatusCode() != http.StatusOK || bytes.Count(answer.Body(), []byte("\n")) != ids {
					return fmt.Errorf("%d, %.100s", answer.StatusCode(), answer.Body())
				}
				return nil
			}
		}
	}
	sources := []struct {
		name string
		ids  int
		open func(*testing.T) client
	}{
		{Redis, 1, func(*testing.T) client {
			return func(ctx context.Context) error { return rdb.Incr(ctx, "ids").Err() }
		}},
		{SCRU64, 1, get(s.url, "/v1/ids/scru64", 1)},
		{Postgres, 1, func(t *testing.T) client {
			conn, err := pgx.Connect(t.Context(), postgres.URL)
			check(t, err)
			t.Cleanup(func() { conn.Close(context.Background()) })
			return func(ctx context.Context) (err error) {
				var id int64
				return conn.QueryRow(ctx, "SELECT nextval('ids')").Scan(&id)
			}
		}},
		{Empty, 1, get(serveEmpty(t), "/", 1)},
		{SCRU128, 1, get(s.url, "/v1/ids/scru128", 1)},
		{Batches64, 1000, get(s.url, "/v1/ids/scru64?n=1000", 1000)},
		{Batches128, 1000, get(s.url, "/v1/ids/scru128?n=1000", 1000)},
	}
	rounds, duration := 1, 100*time.Millisecond
	if *measure != "" {
		rounds, duration = 5, 1500*time.Millisecond
	}
	for _, connections := range []int{1, 64} {
		best := map[string]Run{}
		for range rounds {
			for _, source := range sources {
				t.Run(fmt.Sprint(source.name, connections), func(t *testing.T) {
					run := load(t, connections, duration, func() client { return source.open(t) })
					run.Source, run.Connections = source.name, connections
					run.Rate *= float64(source.ids)
					if run.Rate > best[source.name].Rate {
						best[source.name] = run
					}
				})
			}
		}
		for _, source := range sources {
			r.Runs = append(r.Runs, best[source.name])
		}
	}
}

// load makes requests over some connections for a while; the Rate is that of requests.
func load(t *testing.T, connections int, duration time.Duration, open func() client) Run {
	clients := make([]client, connections)
	for i := range clients {
		clients[i] = open()
		check(t, clients[i](t.Context())) // connects
	}
	took := make([][]time.Duration, connections)
	var wg sync.WaitGroup
	start := time.Now()
	for i, c := range clients {
		wg.Go(func() {
			for now := time.Now(); ; { // once at least
				if err := c(t.Context()); err != nil {
					t.Error(err)
					return
				}
				end := time.Now()
				took[i] = append(took[i], end.Sub(now))
				if now = end; now.Sub(start) >= duration {
					return
				}
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(start).Seconds()
	all := slices.Concat(took...)
	return Run{Rate: float64(len(all)) / elapsed, Half: quantile(all, .5), P99: quantile(all, .99)}
}

// quantile returns, in milliseconds, what this part of the times does not exceed.
func quantile(times []time.Duration, part float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[int(part*float64(len(times)-1))].Seconds() * 1000
}

// measureMemory measures a server with connections that are open after requests.
func measureMemory(t *testing.T, sortid string, r *Results) {
	s := serve(t, sortid, "bolt:"+filepath.Join(t.TempDir(), "s.db"))
	r.Idle = resident(t, s.pid)
	r.Connections = 1000
	var wg sync.WaitGroup
	clients := make([]*http.Client, r.Connections)
	for i := range clients {
		clients[i] = &http.Client{Transport: &http.Transport{}}
		defer clients[i].CloseIdleConnections()
	}
	for range 3 {
		for _, c := range clients {
			wg.Go(func() {
				resp, err := c.Get(s.url + "/v1/ids/scru64?n=100")
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			})
		}
		wg.Wait()
		r.Megabytes = max(r.Megabytes, resident(t, s.pid))
	}
}

// resident returns the most memory that a process has had, in megabytes.
func resident(t *testing.T, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("this system does not tell the memory of a process: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	check(t, err)
	return kilobytes / 1024
}

// measureAway kills the store of a server for longer than its leases last.
func measureAway(t *testing.T, sortid string, r *Results) {
	window := 4 * time.Second
	store := testserver.StartPostgres(t)
	for _, realm := range []string{"scru64", "uid60"} {
		cmd := exec.Command(sortid, "lease", "create", store.URL, "--realm", realm, "--format", realm, "--lease-window", window.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s := serve(t, sortid, store.URL)
	r.Away.Window = window.Seconds()

	var times [3][]time.Duration
	// until requests both kinds of IDs until scru64's status is this, or for a while.
	until := func(phase, want int, most time.Duration) time.Duration {
		start := time.Now()
		for time.Since(start) < most {
			before := time.Now()
			got := status(s.url + "/v1/ids/scru64")
			times[phase] = append(times[phase], time.Since(before))
			before = time.Now()
			if other := status(s.url + "/v1/ids/scru128"); other != http.StatusOK {
				r.Away.Failures++
			}
			times[phase] = append(times[phase], time.Since(before))
			switch got {
			case http.StatusOK:
			case http.StatusServiceUnavailable:
				r.Away.Unavailable++
			default:
				r.Away.Failures++
			}
			if got == want {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		return time.Since(start)
	}
	until(0, -1, window)
	store.Stop()
	down := time.Now()
	r.Away.Goes = until(1, http.StatusServiceUnavailable, time.Minute).Seconds()
	until(1, -1, window/2)
	r.Away.Down = time.Since(down).Seconds()
	store.Start()
	r.Away.Back = until(2, http.StatusOK, time.Minute).Seconds()
	until(2, -1, window)
	for i, phase := range times {
		r.Away.P99[i] = quantile(phase, .99)
	}
}
