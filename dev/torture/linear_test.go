//go:build unix

package torture

import (
	"context"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"k8s.io/client-go/rest"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"github.com/sortid/sortid/store/kubernetes"
)

// A call of Get, or of CompareAndSet if next has a revision. Its result may be unknown.
type call struct {
	prev, next lease.Record
	unknown    bool
}

// register is what the interface lease.Store promises for one record.
var register = porcupine.NondeterministicModel{
	Init: func() []any { return []any{lease.Record{}} },
	Step: func(state, input, output any) []any {
		r, c := state.(lease.Record), input.(call)
		if c.next.Revision == 0 {
			if r != output {
				return nil
			}
			return []any{r}
		}
		equal := r.Revision == c.prev.Revision && r.HWM == c.prev.HWM
		switch {
		case c.unknown && equal:
			return []any{r, c.next}
		case c.unknown:
			return []any{r}
		case equal != output:
			return nil
		case equal:
			return []any{c.next}
		}
		return []any{r}
	},
}

var block = lease.Block{NodeID: 5, Size: 8}

// history lets each store read and change one record many times, with pauses, and returns all calls.
// Halfway, it calls fault. The calls go on until fault returns.
func history(t *testing.T, stores []lease.Store, realm string, calls int, pause time.Duration,
	fault func()) []porcupine.Operation {
	var mu sync.Mutex
	var ops []porcupine.Operation
	var done, half sync.WaitGroup
	var over atomic.Bool
	half.Add(len(stores))
	begin := time.Now()
	for client, s := range stores {
		done.Go(func() {
			var prev lease.Record
			for i := 0; i < calls || !over.Load(); i++ {
				if i == calls/2 {
					half.Done()
				}
				time.Sleep(pause)
				op := porcupine.Operation{ClientId: client, Call: int64(time.Since(begin))}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				var c call
				var err error
				if i%3 == 2 && prev.Realm != "" {
					c.prev, c.next = prev, prev
					c.next.Revision, c.next.HWM, c.next.Request = prev.Revision+1,
						prev.HWM+int64(client), uint64(client<<32+i+1)
					c.next.State = lease.Whole
					op.Output, err = s.CompareAndSet(ctx, c.prev, c.next)
				} else {
					var r lease.Record
					if r, err = s.Get(ctx, realm, block); err == nil {
						prev, op.Output = r, r
					}
					if r.Revision == 0 { // there is no record
						op.Output = lease.Record{}
					}
				}
				cancel()
				op.Return = int64(time.Since(begin))
				if err != nil {
					if c.next.Revision == 0 {
						continue // a failed read says nothing
					}
					c.unknown, op.Return = true, math.MaxInt64
				}
				op.Input = c
				mu.Lock()
				ops = append(ops, op)
				mu.Unlock()
			}
		})
	}
	half.Wait()
	fault()
	over.Store(true)
	done.Wait()
	// A store changes only what it has read. So a change that nobody has read was not made, or is the
	// last one. Without such changes, porcupine is faster, and finds the same.
	read := map[any]bool{}
	for _, op := range ops {
		read[op.Output] = true
	}
	return slices.DeleteFunc(ops, func(op porcupine.Operation) bool {
		c := op.Input.(call)
		return c.unknown && !read[c.next]
	})
}

// The calls of a store have an order that fits their results and their times, also if its servers
// crash meanwhile. Each server of a cluster also stands still for a while, or is cut off. If it is
// the leader, another one takes over, and it goes on with calls that it has received before.
func TestLinearizable(t *testing.T) {
	one := func(s *testserver.Server) ([]*testserver.Server, *testserver.Network) {
		return []*testserver.Server{s}, nil
	}
	for _, test := range []struct {
		name  string
		start func(testing.TB) ([]*testserver.Server, *testserver.Network)
	}{
		{"bolt", func(t testing.TB) ([]*testserver.Server, *testserver.Network) {
			return one(&testserver.Server{URL: "bolt:" + filepath.Join(t.TempDir(), "leases.db")})
		}},
		{"postgres", func(t testing.TB) ([]*testserver.Server, *testserver.Network) {
			return one(testserver.StartPostgres(t))
		}},
		{"mysql", func(t testing.TB) ([]*testserver.Server, *testserver.Network) {
			return one(testserver.StartMySQL(t))
		}},
		{"etcd", testserver.StartEtcdCluster},
		{"redis", func(t testing.TB) ([]*testserver.Server, *testserver.Network) {
			return one(testserver.StartRedis(t))
		}},
		{"kubernetes", func(t testing.TB) ([]*testserver.Server, *testserver.Network) {
			servers, _ := testserver.StartAPIServers(t, 2) // with one etcd
			return servers, nil
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			servers, network := test.start(t)
			calls, pause := 90, time.Duration(0)
			if len(servers) > 1 {
				pause = 20 * time.Millisecond
			}
			ops := history(t, openAll(t, servers, ""), "linear", calls, pause, func() {
				if len(servers) > 1 {
					standStill(servers)
				}
				for i := 0; network != nil && i < 6; i++ {
					cutOff(network, i/2, 1200*time.Millisecond, i%2 == 0)
				}
				if test.name != "bolt" {
					servers[0].Stop()
					servers[0].Start()
				}
			})
			judge(t, ops, porcupine.Ok)
		})
	}
}

// openAll opens five stores, each at one of the servers.
func openAll(t *testing.T, servers []*testserver.Server, path string) (stores []lease.Store) {
	for i := range 5 {
		s := openAt(t, servers[i%len(servers)].URL+path)
		t.Cleanup(func() { s.Close() })
		stores = append(stores, s)
	}
	return stores
}

// A server of NATS that is cut off may answer with an old record, as Conditions says. But no change
// is lost, and no two changes have one revision.
func TestLinearizableNATS(t *testing.T) {
	testserver.Long(t, "waits for elections")
	t.Parallel()
	servers, network := testserver.StartNATSCluster(t)
	stores := openAll(t, servers, "/linear?replicas=3")
	if all := strings.Join(stores[0].(store.Store).Conditions(), "\n"); !strings.Contains(all,
		"may answer with old records") {
		t.Errorf("Conditions does not name old records: %s", all)
	}
	var newest atomic.Uint64
	var old atomic.Bool
	for i, s := range stores {
		stores[i] = watched{s, &newest, &old}
	}
	ops := history(t, stores, "linear", 90, 50*time.Millisecond, func() {
		// A new leader is elected within 9 s. With luck, the server that is cut off notices it later.
		for i := range servers {
			cutOff(network, i, 11*time.Second, true)
		}
		servers[0].Stop()
		servers[0].Start()
	})
	if old.Load() {
		judge(t, ops, porcupine.Illegal)
	} else {
		t.Log("no server answered with an old record")
	}
	judge(t, slices.DeleteFunc(ops, func(op porcupine.Operation) bool {
		return op.Output != true && !op.Input.(call).unknown
	}), porcupine.Ok)
}

// A watched store notes whether it has returned an old record.
type watched struct {
	lease.Store
	newest *atomic.Uint64
	old    *atomic.Bool
}

func (w watched) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	newest := w.newest.Load()
	r, err := w.Store.Get(ctx, realm, b)
	if err != nil {
		return r, err
	}
	if r.Revision < newest {
		w.old.Store(true)
	}
	for r.Revision > newest && !w.newest.CompareAndSwap(newest, r.Revision) {
		newest = w.newest.Load()
	}
	return r, nil
}

// cutOff cuts off a member, for longer than an election takes. Without both, it still receives.
func cutOff(network *testserver.Network, member int, cut time.Duration, both bool) {
	network.Cut(member, both)
	time.Sleep(cut)
	network.Join()
	time.Sleep(cut / 4)
}

// standStill stops one server after another for longer than an election takes, but not for as long as
// a call may take.
func standStill(servers []*testserver.Server) {
	for _, s := range servers {
		s.Signal(syscall.SIGSTOP)
		time.Sleep(1200 * time.Millisecond)
		s.Signal(syscall.SIGCONT)
	}
}

// openAt opens a store. The URL may be one of testserver.StartAPIServers.
func openAt(t *testing.T, raw string) store.Store {
	u := check.Must(url.Parse(raw))(t)
	if u.Scheme != "https" {
		var s store.Store
		var err error
		check.Soon(func() bool { // a new cluster may not be ready
			s, err = store.Open(t.Context(), raw)
			return err == nil
		})
		check.OK(t, err)
		return s
	}
	return check.Must(kubernetes.New(t.Context(), &rest.Config{Host: "https://" + u.Host,
		BearerToken: u.User.Username(), TLSClientConfig: rest.TLSClientConfig{
			CAFile: u.Query().Get("ca")}}, u.Path[1:]))(t)
}

// The test finds a store that reads from a replica.
func TestLinearizableFinds(t *testing.T) {
	memory := lease.NewMemory()
	judge(t, history(t, []lease.Store{memory, memory, &stale{Store: memory}}, "linear", 90, 0, func() {}),
		porcupine.Illegal)
}

// After each change, stale returns the record before it once.
type stale struct {
	lease.Store
	last lease.Record
}

func (s *stale) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	s.last = prev
	return s.Store.CompareAndSet(ctx, prev, next)
}

func (s *stale) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	if r := s.last; r.Realm != "" {
		s.last = lease.Record{}
		return r, nil
	}
	return s.Store.Get(ctx, realm, b)
}

func judge(t *testing.T, ops []porcupine.Operation, want porcupine.CheckResult) {
	t.Helper()
	var changes, unknown int
	for _, op := range ops {
		if op.Input.(call).unknown {
			unknown++
		} else if op.Output == true {
			changes++
		}
	}
	t.Logf("%d calls, %d of them changes, and %d changes with an unknown result", len(ops), changes,
		unknown)
	if changes == 0 {
		t.Error("no change was made")
	}
	got := porcupine.CheckOperationsTimeout(register.ToModel(), ops, time.Minute)
	if got != want {
		t.Errorf("porcupine says %v, want %v", got, want)
	}
}
