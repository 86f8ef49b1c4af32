package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/service/internal/testserver"
	"github.com/sortid/sortid/service/store"
)

// servers starts a server of each kind, set up so that it forgets nothing, but for NATS,
// of which only version 2.10 can be.
var servers = []struct {
	name string
	url  func(b *testing.B) string
}{
	{"bolt", func(b *testing.B) string { return "bolt:" + filepath.Join(b.TempDir(), "leases.db") }},
	{"postgres", func(b *testing.B) string { return testserver.StartPostgres(b).URL }},
	{"mysql", func(b *testing.B) string { return testserver.StartMySQL(b).URL }},
	{"etcd", func(b *testing.B) string { return testserver.StartEtcd(b).URL }},
	{"nats", func(b *testing.B) string { return testserver.StartNATS(b).URL }},
	{"redis", func(b *testing.B) string { return testserver.StartRedis(b).URL }},
}

func open(b *testing.B, url string) lease.Store {
	b.Helper()
	s, err := store.Open(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// report gives the median and the 99th percentile of latencies, and nothing else.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
}

// BenchmarkAcquire leases a node ID of 8 bits in a realm in which a hundred are held, and
// gives it back, which is not counted.
func BenchmarkAcquire(b *testing.B) {
	for _, server := range servers {
		b.Run(server.name, func(b *testing.B) {
			s := open(b, server.url(b))
			config := lease.Config{Realm: "bench", Format: lease.SCRU64, NodeIDSize: 8}
			acquire := func() *lease.Lease {
				l, err := lease.Acquire(b.Context(), s, config)
				if err != nil {
					b.Fatal(err)
				}
				return l
			}
			for range 100 {
				defer acquire().Close(context.Background())
			}
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				l := acquire()
				took = append(took, time.Since(start))
				if err := l.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			report(b, took)
		})
	}
}

// A watched store tells how long renewals take: from the first of a renewal's requests,
// that for the time, to the last, the reading of the realm after the commit.
type watched struct {
	lease.Store
	start time.Time // a lease renews in one goroutine
	took  chan time.Duration
}

func (w *watched) Time(ctx context.Context) (time.Time, error) {
	w.start = time.Now()
	return w.Store.Time(ctx)
}

func (w *watched) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	r, err := w.Store.Get(ctx, realm, b)
	if b == (lease.Block{}) && err == nil {
		select {
		case w.took <- time.Since(w.start):
		default: // while the node ID is acquired
		}
	}
	return r, err
}

// BenchmarkExtend renews a lease again and again, by a window of a few milliseconds.
func BenchmarkExtend(b *testing.B) {
	for _, server := range servers {
		b.Run(server.name, func(b *testing.B) {
			w := &watched{Store: open(b, server.url(b)), took: make(chan time.Duration)}
			l, err := lease.Acquire(b.Context(), w, lease.Config{
				Realm: "bench", Format: lease.SCRU160, NodeIDSize: 8, Window: 4 * time.Millisecond,
			})
			if err != nil {
				b.Fatal(err)
			}
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

// BenchmarkNodes lets a thousand nodes, each with a connection of its own, hold leases at
// default settings, and reports what that costs the server. They start over half a
// minute, as renewals are spread later, and are then watched for a window's length.
func BenchmarkNodes(b *testing.B) {
	for _, server := range []struct {
		name  string
		start func(testing.TB) *testserver.Server
	}{
		{"postgres", func(t testing.TB) *testserver.Server { return testserver.StartPostgres(t) }},
		{"etcd", func(t testing.TB) *testserver.Server { return testserver.StartEtcd(t) }},
	} {
		b.Run(server.name, func(b *testing.B) {
			const nodes = 1000
			url := server.start(b).URL
			requests := &counted{}
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
					leases[i], err = lease.Acquire(b.Context(), requests.of(s), lease.Config{
						Realm: "bench", Format: lease.SCRU64, NodeIDSize: 12, Name: fmt.Sprint("node ", i),
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
			before, cpu, begin := requests.n.Load(), processor(b), time.Now()
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
			b.ReportMetric(float64(requests.n.Load()-before)/seconds, "requests/s")
			b.ReportMetric(100*(processor(b)-cpu).Seconds()/seconds, "%cpu")
			for _, l := range leases {
				wg.Go(func() { l.Close(context.Background()) })
			}
			wg.Wait()
		})
	}
}

// late returns an error if a lease is in the last quarter of its window.
func late(l *lease.Lease) error {
	if left := time.Until(l.Until()); left < lease.DefaultWindow/4 {
		return fmt.Errorf("node %d has only %v left", l.NodeID(), left)
	}
	return nil
}

// counted counts the requests of all nodes.
type counted struct{ n atomic.Int64 }

func (c *counted) of(s lease.Store) lease.Store { return &counting{s, &c.n} }

type counting struct {
	lease.Store
	n *atomic.Int64
}

func (c *counting) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	c.n.Add(1)
	return c.Store.Get(ctx, realm, b)
}

func (c *counting) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	c.n.Add(1)
	return c.Store.CompareAndSet(ctx, prev, next)
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

// processor returns the processor time of this process, with the nodes, and of its
// children, with the server.
func processor(b *testing.B) time.Duration {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	if paths == nil {
		b.Skip("processor times are read from /proc, which is not here")
	}
	parent, used := map[int]int{}, map[int]int64{}
	for _, path := range paths {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The fields after the name, which is in parentheses and may hold anything.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		parent[pid], _ = strconv.Atoi(fields[1])
		for _, f := range fields[11:15] { // its own, and that of children that have ended
			ticks, _ := strconv.ParseInt(f, 10, 64)
			used[pid] += ticks
		}
	}
	var ticks int64
	for pid := range parent {
		for at := pid; at > 0; at = parent[at] {
			if at == os.Getpid() {
				ticks += used[pid]
				break
			}
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100
}
