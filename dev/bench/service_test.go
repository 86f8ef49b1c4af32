package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
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

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

var duration = flag.Duration("time", 100*time.Millisecond, "how long each server is measured")

// If this environment variable is set, this program is the server of [serveFixed], with the log if
// the value is "log". The inherited file 3 is then the server's listener.
const fixedServer = "SORTID_BENCH_FIXED_SERVER"

func TestMain(m *testing.M) {
	kind := os.Getenv(fixedServer)
	if kind == "" {
		os.Exit(m.Run())
	}
	l, err := net.FileListener(os.NewFile(3, "listener"))
	if err == nil {
		err = fixed(kind == "log").Serve(l)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// fixed returns a net/http server that always sends the same line. This server shows how fast a
// service with net/http can be. With logs, the server also sends the header fields of the service,
// has time limits, and writes a line to a log for each request.
func fixed(logs bool) *http.Server {
	answer := []byte(strings.Repeat("0", 25) + "\n")
	if !logs {
		return &http.Server{Handler: http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) { w.Write(answer) })}
	}
	log := slog.NewJSONHandler(os.Stdout, nil)
	text, noStore, noSniff := []string{"text/plain; charset=utf-8"}, []string{"no-store"},
		[]string{"nosniff"}
	return &http.Server{
		ReadHeaderTimeout: time.Minute, ReadTimeout: time.Hour, WriteTimeout: time.Hour,
		IdleTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start, id, h := time.Now(), string(answer[:25]), w.Header()
			h["X-Request-Id"], h["X-Content-Type-Options"] = []string{id}, noSniff
			h["Content-Type"], h["Cache-Control"] = text, noStore
			w.Write(answer)
			now := time.Now()
			line := slog.NewRecord(now, slog.LevelInfo, "request", 0) // faster than slog.Logger
			line.AddAttrs(slog.String("request", id), slog.String("method", r.Method),
				slog.String("path", r.URL.Path), slog.Int("status", http.StatusOK),
				slog.Int("bytes", len(answer)),
				slog.Int64("us", now.Sub(start).Microseconds()), slog.String("from", r.RemoteAddr))
			log.Handle(r.Context(), line)
		}),
	}
}

// serveFixed starts a server of [fixed].
func serveFixed(t *testing.T, kind string) string {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	file := check.Must(l.(*net.TCPListener).File())(t)
	defer file.Close()
	log := check.Must(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	t.Cleanup(func() { log.Close() })
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fixedServer+"="+kind)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, os.Stderr, []*os.File{file}
	check.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	url := "http://" + l.Addr().String()
	wait(t, func() bool { return status(url) == http.StatusOK })
	return url
}

func wait(t *testing.T, answers func() bool) {
	t.Helper()
	for range 12000 {
		if answers() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("a server does not answer")
}

// TestService measures "sortid serve", Redis and PostgreSQL. Without flags, it is a short test.
func TestService(t *testing.T) {
	testserver.Long(t, "starts servers and measures them")
	testserver.Alone(t)
	sortid := testserver.Sortid(t)
	measureRates(t, sortid)
	measureMemory(t, sortid)
	measureOutage(t, sortid)
}

type server struct {
	url string
	pid int
}

func serve(t *testing.T, sortid, store string, flags ...string) *server {
	t.Helper()
	log := check.Must(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	t.Cleanup(func() { log.Close() })
	cmd := exec.Command(sortid,
		append([]string{"serve", "--listen", "127.0.0.1:0", "--store", store}, flags...)...)
	cmd.Stderr = log
	check.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	s := &server{pid: cmd.Process.Pid}
	wait(t, func() bool {
		s.url = address(t, log.Name())
		return s.url != ""
	})
	wait(t, func() bool { return status(s.url+"/readyz") == http.StatusOK })
	return s
}

func address(t *testing.T, log string) string {
	text := check.Must(os.ReadFile(log))(t)
	for line := range bytes.Lines(text) {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "serving" {
			return entry.Address
		}
	}
	return ""
}

func status(url string) int {
	resp, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

type client func(context.Context) error

func measureRates(t *testing.T, sortid string) {
	redisServer := testserver.StartRedis(t, "--appendonly", "no")
	postgres := testserver.StartPostgres(t)
	s := serve(t, sortid, "bolt:"+filepath.Join(t.TempDir(), "s.db"), "--create")

	ctx := t.Context()
	conn, err := pgx.Connect(ctx, postgres.URL)
	check.OK(t, err)
	_, err = conn.Exec(ctx, "CREATE SEQUENCE ids")
	check.OK(t, err)
	var version string
	check.OK(t, conn.QueryRow(ctx, "SHOW server_version").Scan(&version))
	version, _, _ = strings.Cut(version, " ")
	fmt.Println("postgres:", version)
	check.OK(t, conn.Close(ctx))
	options := check.Must(redis.ParseURL(redisServer.URL))(t)
	options.PoolSize = 64
	rdb := redis.NewClient(options)
	defer rdb.Close()
	info := check.Must(rdb.Info(ctx, "server").Result())(t)
	_, info, _ = strings.Cut(info, "redis_version:")
	info, _, _ = strings.Cut(info, "\r")
	fmt.Println("redis:", info)

	get := func(server, path string, ids int) func(*testing.T) client {
		return func(t *testing.T) client {
			c := &fasthttp.HostClient{Addr: strings.TrimPrefix(server, "http://"), MaxConns: 1,
				NoDefaultUserAgentHeader: true}
			t.Cleanup(c.CloseIdleConnections)
			request, answer := &fasthttp.Request{}, &fasthttp.Response{}
			request.SetRequestURI(server + path)
			return func(context.Context) error {
				if err := c.Do(request, answer); err != nil {
					return err
				}
				if answer.StatusCode() != http.StatusOK ||
					bytes.Count(answer.Body(), []byte("\n")) != ids {
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
		{"Redis INCR", 1, func(*testing.T) client {
			return func(ctx context.Context) error { return rdb.Incr(ctx, "ids").Err() }
		}},
		{"scru64", 1, get(s.url, "/v1/ids/scru64", 1)},
		{"PostgreSQL nextval", 1, func(t *testing.T) client {
			conn, err := pgx.Connect(t.Context(), postgres.URL)
			check.OK(t, err)
			t.Cleanup(func() { conn.Close(context.Background()) })
			return func(ctx context.Context) (err error) {
				var id int64
				return conn.QueryRow(ctx, "SELECT nextval('ids')").Scan(&id)
			}
		}},
		{"net/http, a fixed answer", 1, get(serveFixed(t, "plain"), "/", 1)},
		{"net/http, with headers, limits and a log", 1,
			get(serveFixed(t, "log"), "/v1/ids/scru128", 1)},
		{"scru128", 1, get(s.url, "/v1/ids/scru128", 1)},
		{"scru128, 1000 a request", 1000, get(s.url, "/v1/ids/scru128?n=1000", 1000)},
	}
	for _, connections := range []int{1, 64} {
		for range *rounds {
			for _, source := range sources {
				t.Run(fmt.Sprint(source.name, connections), func(t *testing.T) {
					rate, times := load(t, connections, *duration,
						func() client { return source.open(t) })
					half, p99 := quantile(times, .5), quantile(times, .99)
					if rate <= 0 || p99 < half {
						t.Errorf("%f requests a second, median %f ms, 99 %% within %f ms", rate, half, p99)
					}
					Write(os.Stdout, fmt.Sprint("Connections", connections), source.name,
						rate*float64(source.ids), "ids/s", 1000*half, "µs/p50", 1000*p99, "µs/p99")
				})
			}
		}
	}
}

// load returns the requests per second, and the time of each request.
func load(t *testing.T, connections int, duration time.Duration, open func() client) (
	rate float64, times []time.Duration,
) {
	clients := make([]client, connections)
	for i := range clients {
		clients[i] = open()
		check.OK(t, clients[i](t.Context())) // this opens the connection
	}
	took := make([][]time.Duration, connections)
	var wg sync.WaitGroup
	start := time.Now()
	for i, c := range clients {
		wg.Go(func() {
			for now := time.Now(); ; { // sends at least one request
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
	times = slices.Concat(took...)
	return float64(len(times)) / elapsed, times
}

func quantile(times []time.Duration, part float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[int(part*float64(len(times)-1))].Seconds() * 1000
}

func measureMemory(t *testing.T, sortid string) {
	s := serve(t, sortid, "bolt:"+filepath.Join(t.TempDir(), "s.db"), "--create")
	Write(os.Stdout, "Memory", "idle", resident(t, s.pid), "MB")
	var wg sync.WaitGroup
	clients := make([]*http.Client, 1000)
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
	}
	Write(os.Stdout, "Memory", "used", resident(t, s.pid), "MB", len(clients), "connections")
}

// resident returns a process's peak memory in megabytes.
func resident(t *testing.T, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("only Linux shows the memory of a process (%v); to run this test: use Linux", err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes := check.Must(strconv.ParseFloat(strings.Fields(rest)[0], 64))(t)
	if kilobytes <= 0 {
		t.Errorf("%f kB", kilobytes)
	}
	return kilobytes / 1024
}

// measureOutage kills a server's store, and starts it again after the server's leases have ended.
func measureOutage(t *testing.T, sortid string) {
	window := 4 * time.Second
	store := testserver.StartPostgres(t)
	for _, realm := range []string{"scru64", "uid60"} {
		cmd := exec.Command(sortid, "lease", "create", store.URL, "--realm", realm, "--format",
			realm, "--lease-window", window.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s := serve(t, sortid, store.URL)

	var times [3][]time.Duration
	var unavailable, failures int // scru64 requests answered with 503; all other failures
	// until requests scru64 and scru128 IDs. It stops when a request for scru64 gets the status
	// want, or after the limit.
	until := func(phase, want int, limit time.Duration) time.Duration {
		start := time.Now()
		for time.Since(start) < limit {
			before := time.Now()
			got := status(s.url + "/v1/ids/scru64")
			times[phase] = append(times[phase], time.Since(before))
			before = time.Now()
			if other := status(s.url + "/v1/ids/scru128"); other != http.StatusOK {
				failures++
			}
			times[phase] = append(times[phase], time.Since(before))
			switch got {
			case http.StatusOK:
			case http.StatusServiceUnavailable:
				unavailable++
			default:
				failures++
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
	without := until(1, http.StatusServiceUnavailable, time.Minute).Seconds()
	until(1, -1, window/2)
	outage := time.Since(down).Seconds()
	store.Start()
	back := until(2, http.StatusOK, time.Minute).Seconds()
	until(2, -1, window)
	if failures > 0 || unavailable == 0 || without <= 0 || back <= 0 {
		t.Errorf("%d failures, %d unavailable, %f s without the store, %f s until it was back",
			failures, unavailable, without, back)
	}
	Write(os.Stdout, "Outage", "lease", window.Seconds(), "s")
	Write(os.Stdout, "Outage", "store", outage, "s")
	Write(os.Stdout, "Outage", "scru64", without, "s", unavailable, "unavailable")
	Write(os.Stdout, "Outage", "other", failures, "failures")
	Write(os.Stdout, "Outage", "return", back, "s")
	for i, phase := range []string{"before", "while", "after"} {
		Write(os.Stdout, "Outage", phase, quantile(times[i], .99), "ms/p99")
	}
}
