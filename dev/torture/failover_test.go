//go:build unix

package torture

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

// A primary is cut off from its copy. Two makers want all node IDs from the primary. Then the copy
// takes over, and two other makers want all node IDs from it. Nothing is used twice unless the copy
// lacks leases, as Conditions says, and nobody fences them.
func TestFailover(t *testing.T) {
	testserver.Long(t, "starts pairs of servers")
	const asynchronous, synchronous = "replicated asynchronously", ""
	for _, test := range []struct {
		name, condition string
		start           func(testing.TB) ([]*testserver.Server, *testserver.Network)
		window          time.Duration
		fence, twice    bool
	}{
		{"postgres, synchronous", synchronous, startSynchronous, time.Minute, false, false},
		{"postgres, asynchronous", asynchronous,
			func(t testing.TB) ([]*testserver.Server, *testserver.Network) {
				return testserver.StartPostgresPair(t)
			}, time.Minute, false, true},
		{"redis", "replicas are connected", testserver.StartRedisPair, time.Minute, false, true},
		{"redis, fenced", "replicas are connected", testserver.StartRedisPair, 4 * time.Second, true,
			false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pair, network := test.start(t)
			config := lease.Config{Realm: "torture", NodeBits: 1, Format: lease.SCRU64(),
				Window: test.window, MaxLead: time.Second}
			primary, standby := pair[0], pair[1]
			s := check.Must(store.Open(t.Context(), primary.URL))(t)
			defer s.Close()
			if all := strings.Join(s.Conditions(), "\n"); !strings.Contains(all, test.condition) ||
				test.condition == "" && all != "" {
				t.Errorf("Conditions is %q, want %q", all, test.condition)
			}
			check.Must(lease.Create(t.Context(), s, config))(t)
			copied(t, primary)
			network.Cut(0, true)

			m := &scripted{t: t, dir: t.TempDir(),
				f: makers(test.name, os.Args[0], 4, []int{1}, primary.URL)}
			old := m.start(primary.URL, test.window, 2)
			if test.condition == synchronous {
				until(t, "a commit waits for the standby", func() bool {
					return testserver.Psql(t, primary, waiting) != "0"
				})
			} else {
				m.claim(old)
			}
			if test.name != "redis" { // there, both servers continue
				primary.Stop()
			}
			promote(t, standby)
			if test.fence {
				s := check.Must(store.Open(t.Context(), standby.URL))(t)
				defer s.Close()
				check.Must(lease.Fence(t.Context(), s, config, 0))(t)
			}
			fresh := m.start(standby.URL, test.window, 2)
			m.claim(fresh)
			if test.twice {
				m.claim(old)
			}
			r := m.end()
			t.Log(r)
			if r.twice > 0 != test.twice {
				t.Errorf("%d ticks were used twice, want some: %v", r.twice, test.twice)
			}
		})
	}
}

const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

func startSynchronous(t testing.TB) ([]*testserver.Server, *testserver.Network) {
	return testserver.StartPostgresPair(t, "synchronous_standby_names=*")
}

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	if !check.Soon(condition) {
		t.Fatalf("not within two minutes: %s", what)
	}
}

// copied waits until the copy has all that the primary has.
func copied(t *testing.T, primary *testserver.Server) {
	t.Helper()
	if address, ok := strings.CutPrefix(primary.URL, "redis://"); ok {
		c := redis.NewClient(&redis.Options{Addr: address})
		defer c.Close()
		check.OK(t, c.Wait(t.Context(), 1, time.Minute).Err())
		return
	}
	until(t, "the standby has all changes", func() bool {
		return testserver.Psql(t, primary, "SELECT count(*) FROM pg_stat_replication "+
			"WHERE replay_lsn >= pg_current_wal_lsn()") == "1"
	})
}

// promote makes a standby of PostgreSQL the primary. For Redis, it waits until Sentinel has done so.
func promote(t *testing.T, standby *testserver.Server) {
	t.Helper()
	if strings.HasPrefix(standby.URL, "postgres:") {
		testserver.Psql(t, standby, "SELECT pg_promote()")
	}
	until(t, "the copy takes over", func() bool {
		s, err := store.Open(t.Context(), standby.URL)
		if err == nil {
			s.Close()
		}
		return err == nil
	})
}

// scripted has makers that the test starts.
type scripted struct {
	t    *testing.T
	f    *cluster
	dir  string
	ends []func()
}

// start starts makers, and returns the names of their files.
func (m *scripted) start(url string, window time.Duration, n int) (names []string) {
	m.t.Helper()
	for range n {
		name := filepath.Join(m.dir, fmt.Sprintf("%d-000-00000", len(m.ends)))
		out := check.Must(os.Create(name))(m.t)
		process := m.f.process(url, m.f.bits[0])
		process.Args = append(process.Args, "-window", window.String(), "-rate", "1000")
		process.Stdout = out
		check.OK(m.t, process.Start())
		end := func() {
			process.Process.Kill()
			process.Wait()
			out.Close()
		}
		m.ends = append(m.ends, end)
		m.t.Cleanup(end)
		names = append(names, name)
	}
	return names
}

// claim waits until each maker has claimed some more ticks.
func (m *scripted) claim(names []string) {
	m.t.Helper()
	lines := func(name string) int {
		return bytes.Count(check.Must(os.ReadFile(name))(m.t), []byte("\n"))
	}
	want := map[string]int{}
	for _, name := range names {
		want[name] = lines(name) + 4
	}
	for _, name := range names {
		until(m.t, "a maker claims ticks", func() bool { return lines(name) >= want[name] })
	}
}

// end kills all makers.
func (m *scripted) end() result {
	m.t.Helper()
	for _, end := range m.ends {
		end()
	}
	return evaluate(m.t, m.f, m.dir)
}

// A primary that is cut off stays a primary for some clients, and is also killed and restarted. It
// confirms nothing while the synchronous standby has taken over. If its administrator turns
// synchronous replication off, clients read old records.
func TestTwoPrimaries(t *testing.T) {
	t.Parallel()
	pair, network := startSynchronous(t)
	host := func(i int) string { return check.Must(url.Parse(pair[i].URL))(t).Host }
	both := strings.Replace(pair[0].URL, host(0), host(1)+","+host(0), 1) +
		"?target_session_attrs=read-write"
	var stores []lease.Store
	for _, url := range []string{pair[0].URL, both, pair[0].URL, both} {
		s := check.Must(store.Open(t.Context(), url))(t)
		defer s.Close()
		stores = append(stores, s)
	}
	const pause = 20 * time.Millisecond
	judge(t, history(t, stores, "one", 90, pause, func() {
		network.Cut(0, true)
		until(t, "a commit waits for the standby", func() bool {
			return testserver.Psql(t, pair[0], waiting) != "0"
		})
		promote(t, pair[1])
		time.Sleep(3 * time.Second) // longer than a call
		pair[0].Stop()
		time.Sleep(time.Second)
		pair[0].Start()
		time.Sleep(3 * time.Second)
	}), porcupine.Ok)

	testserver.Psql(t, pair[0], "ALTER SYSTEM RESET synchronous_standby_names")
	testserver.Psql(t, pair[0], "SELECT pg_reload_conf()")
	judge(t, history(t, stores, "two", 90, pause, func() {}), porcupine.Illegal)
}
