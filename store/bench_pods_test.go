package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

// A severed store can lose its connection for ever, like the store of a pod that is killed.
type severed struct {
	lease.Store
	cut atomic.Bool
}

func (s *severed) Time(ctx context.Context) (time.Time, error) {
	if s.cut.Load() {
		return time.Time{}, errors.New("this pod was killed")
	}
	return s.Store.Time(ctx)
}

// pods are leases with the settings of "sortid lease exec" for Kubernetes.
type pods struct {
	*testing.B
	leases           []*lease.Lease
	requests, writes atomic.Int64
}

var podConfig = lease.Config{Realm: "pods", NodeBits: 12, OneSize: true,
	Window: 205 * time.Second, Renew: 41 * time.Second}

// BenchmarkPods holds the leases of a thousand pods on an API server of Kubernetes: for a minute,
// while the API server is away for two minutes, and until the node ID of a killed pod is free.
func BenchmarkPods(b *testing.B) { b.Run("kubernetes", benchPods) }

func benchPods(b *testing.B) {
	server := testserver.StartKubernetes(b)
	b.Setenv("KUBECONFIG", testserver.Kubeconfig(b, testserver.KubernetesNamespace(b, server.URL)))
	p := &pods{B: b, leases: make([]*lease.Lease, 1000)}
	last := &severed{Store: open(b, "kubernetes:")}
	p.start(last)
	if b.Failed() {
		return
	}
	requests, writes, began := p.requests.Load(), p.writes.Load(), time.Now()
	time.Sleep(time.Minute)
	seconds := time.Since(began).Seconds()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(p.requests.Load()-requests)/seconds, "requests/s")
	b.ReportMetric(float64(p.writes.Load()-writes)/seconds, "writes/s")

	last.cut.Store(true)
	killed := time.Now()
	b.ReportMetric(p.outage(server, 2*time.Minute).Seconds(), "s/left")
	b.ReportMetric(p.free(p.leases[0].NodeID()).Sub(killed).Seconds(), "s/blocked")
}

// start starts all pods within half a minute. The first one uses the store first, and the others a
// store of their own.
func (p *pods) start(first lease.Store) {
	var wg sync.WaitGroup
	for i := range p.leases {
		time.Sleep(30 * time.Second / time.Duration(len(p.leases)))
		wg.Go(func() {
			s := first
			if i > 0 {
				own, err := store.Open(p.Context(), "kubernetes:")
				if err != nil {
					p.Error(err)
					return
				}
				p.Cleanup(func() { own.Close() })
				s = &counting{own, &p.requests, &p.writes}
			}
			config := podConfig
			config.Name = fmt.Sprint("pod ", i)
			var err error
			if p.leases[i], err = lease.Acquire(p.Context(), s, config); err != nil {
				p.Error(err)
			}
		})
	}
	wg.Wait()
}

// outage stops the server, and returns how much time the pod had at least until the end of its
// lease.
func (p *pods) outage(server *testserver.Server, long time.Duration) time.Duration {
	server.Stop()
	least, began, back := podConfig.Window, time.Now(), false
	for time.Since(began) < long+time.Minute {
		for _, l := range p.leases[1:] {
			least = min(least, time.Until(l.Until()))
		}
		time.Sleep(100 * time.Millisecond)
		if !back && time.Since(began) >= long {
			back = true
			server.Start()
		}
	}
	return least
}

// free returns when the node ID of a killed pod can be leased.
func (p *pods) free(id uint32) time.Time {
	s, config := open(p.B, "kubernetes:"), podConfig
	config.NodeID, config.Name = &id, "next pod"
	for {
		l, err := lease.Acquire(p.Context(), s, config)
		if err == nil {
			l.Close(context.Background())
			return time.Now()
		}
		if !errors.Is(err, lease.ErrFull) {
			p.Fatal(err)
		}
		time.Sleep(time.Second)
	}
}
