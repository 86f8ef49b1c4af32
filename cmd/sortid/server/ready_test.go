package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.yaml.in/yaml/v3"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/cmd/sortid/server/idapi"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/store/bolt"
)

type alert struct {
	name, metric, op string
	labels           string // a part of the series' labels
	number           float64
	increase         time.Duration // 0, or over what time the metric is compared with itself
	patience         time.Duration
	since            map[string]time.Time // when the condition became true, by metric with labels
	before           map[string][]sample
}

// A sample is the value of a counter.
type sample struct {
	at    time.Time
	value float64
}

var comparison = regexp.MustCompile(
	`^(increase\()?(sortid_\w+)(?:\{(\w+)="(\w+)"\})?(?:\[(\w+)\]\))? (<|==|>) ([\d.]+)$`)

func serviceDocument(t *testing.T) string {
	t.Helper()
	return string(check.Must(os.ReadFile(filepath.FromSlash("../../../docs/service.md")))(t))
}

// documentedAlerts reads the rules in packaging, except rules about rates.
func documentedAlerts(t *testing.T) (alerts []*alert) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr, For string }
		}
	}
	text := check.Must(os.ReadFile(filepath.FromSlash("../../../packaging/prometheus/sortid.yaml")))(t)
	check.OK(t, yaml.Unmarshal(text, &file))
	for _, rule := range file.Groups[0].Rules {
		if rule.Alert == "SortidErrors" || rule.Alert == "SortidSlow" {
			continue
		}
		m := comparison.FindStringSubmatch(rule.Expr)
		if m == nil {
			t.Fatalf("%s: cannot evaluate %q", rule.Alert, rule.Expr)
		}
		a := &alert{name: rule.Alert, metric: m[2], op: m[6], since: map[string]time.Time{},
			before: map[string][]sample{}}
		a.number, _ = strconv.ParseFloat(m[7], 64)
		if m[3] != "" {
			a.labels = m[3] + "=" + m[4]
		}
		if m[1] != "" {
			a.increase = check.Must(time.ParseDuration(m[5]))(t)
		}
		if rule.For != "" {
			a.patience = check.Must(time.ParseDuration(rule.For))(t)
		}
		alerts = append(alerts, a)
	}
	return alerts
}

func (a *alert) evaluate(now time.Time, values map[string]float64) (firing []string) {
	for series, value := range values {
		metric, labels, _ := strings.Cut(series, "{")
		if metric != a.metric || !strings.Contains(labels, a.labels) {
			continue
		}
		if a.increase != 0 {
			value = a.increaseOf(now, series, value)
		}
		if a.op == "<" && value >= a.number || a.op == "==" && value != a.number ||
			a.op == ">" && value <= a.number {
			delete(a.since, series)
			continue
		}
		if _, ok := a.since[series]; !ok {
			a.since[series] = now
		}
		if now.Sub(a.since[series]) >= a.patience {
			firing = append(firing, a.name+"{"+labels)
		}
	}
	return firing
}

// increaseOf returns how much a counter has grown. Unlike Prometheus, it takes a missing counter as
// zero.
func (a *alert) increaseOf(now time.Time, series string, value float64) float64 {
	recent := slices.DeleteFunc(a.before[series], func(s sample) bool {
		return now.Sub(s.at) > a.increase
	})
	a.before[series] = append(recent, sample{now, value})
	if len(recent) == 0 {
		return 0
	}
	return value - recent[0].value
}

// A watcher observes a server in virtual time, like load balancers and Prometheus.
type watcher struct {
	*testing.T
	s      *Server
	alerts []*alert
	ending map[string]bool // formats whose last tick has IDs, but whose lease has no time left
}

func observe(t *testing.T, c Config) *watcher {
	t.Helper()
	if c.clock == nil {
		c.clock = time.Now // the default clock would let a generator wait without time.Sleep
	}
	s := newServer(t, c)
	// Go's own metrics are slow, and the test reads all metrics each second for an hour.
	s.monitor.metrics.Unregister(collectors.NewGoCollector())
	s.monitor.metrics.Unregister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &watcher{t, s, documentedAlerts(t), map[string]bool{}}
}

func (w *watcher) gauges() map[string]float64 {
	w.Helper()
	values := map[string]float64{}
	for _, f := range check.Must(w.s.monitor.metrics.Gather())(w) {
		for _, m := range f.Metric {
			value := m.GetGauge().GetValue()
			if m.Counter != nil {
				value = m.GetCounter().GetValue()
			} else if m.Gauge == nil {
				continue
			}
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			values[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return values
}

func (w *watcher) status(path string) int {
	return ask(w.Context(), w.s, http.MethodGet, path, "").Code
}

// can returns the leased formats whose IDs the server makes. It checks that refusals contain no
// details of the store, and that other formats need no store.
func (w *watcher) can() (formats string) {
	synctest.Wait()
	for _, f := range idapi.Leased() {
		a := ask(w.Context(), w.s, http.MethodGet, "/v1/ids/"+f.Name(), "")
		if a.Code == 200 {
			formats += f.Name() + " "
		} else if a.retryAfter(w.T); strings.Contains(a.Body.String(), "10.9.8.7") {
			w.Errorf("%s: %s", f.Name(), a.Body)
		}
	}
	if status := w.status("/v1/ids/scru128"); status != 200 {
		w.Errorf("scru128: %d", status)
	}
	return formats
}

var both = strings.Join(catalog.Names(idapi.Leased()), " ") + " "

// look checks that requests, /readyz and metrics agree. It returns the leased formats whose IDs the
// server makes.
func (w *watcher) look() string {
	w.Helper()
	can, values, ready := w.can(), w.gauges(), w.status("/readyz") == 200
	if w.can() != can { // it has changed meanwhile: uid60 can wait for a millisecond
		time.Sleep(api.ReadyFor)
		return w.look()
	}
	for _, name := range catalog.Names(idapi.Leased()) {
		made := strings.Contains(can, name+" ")
		labels := "{format=" + name + "}"
		held := values["sortid_lease_held"+labels]
		left := values["sortid_lease_remaining_seconds"+labels]
		ending := made && left == 0
		if (held == 1) != made || left > 0 && !made || left > 71 || ending && w.ending[name] {
			w.Errorf("%s: made: %v; held: %v, for %v s", name, made, held, left)
		}
		w.ending[name] = ending
	}
	if ready != (can == both) {
		w.Errorf("ready: %v, but it makes %v", ready, can)
	}
	return can
}

// pass returns the alerts that fire within d. Like Prometheus, it evaluates them every 15 s.
func (w *watcher) pass(d time.Duration) []string {
	w.Helper()
	fired := map[string]bool{}
	for i := range int(d / time.Second) {
		time.Sleep(time.Second)
		w.look()
		if i%15 == 0 {
			for _, name := range w.firing() {
				fired[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(fired))
}

func (w *watcher) firing() (names []string) {
	values := w.gauges()
	for _, a := range w.alerts {
		names = append(names, a.evaluate(time.Now(), values)...)
	}
	return names
}

func (w *watcher) wants(when string, d time.Duration, want ...string) {
	w.Helper()
	if got := w.pass(d); !slices.Equal(got, want) {
		w.Errorf("%s: these alerts fire: %q, want %q", when, got, want)
	}
}

// all contains the alerts that fire while the server makes no IDs of leased formats.
var all = func() (alerts []string) {
	for _, alert := range []string{"SortidNoNodeID", "SortidStoreUnreachable"} {
		for _, f := range idapi.Leased() {
			alerts = append(alerts, alert+"{format="+f.Name()+"}")
		}
	}
	slices.Sort(alerts)
	return alerts
}()

func (w *watcher) breaks(spoil, mend func()) {
	w.Helper()
	calm := 10 * time.Minute
	if testing.Short() {
		calm = time.Minute
	}
	w.wants("before the fault", calm)
	spoil()
	w.wants("during the fault", 4*time.Minute, all...)
	if can := w.look(); can != "" {
		w.Errorf("during the fault the server makes %v", can)
	}
	if mend == nil {
		return
	}
	mend()
	w.pass(time.Minute)
	if can := w.look(); can != both {
		w.Errorf("after the fault the server makes only %v", can)
	}
	w.wants("after the fault", calm)
}

func boltStore(t *testing.T) (store lease.Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.db")
	st := check.Must(bolt.Open(t.Context(), "bolt:"+path))(t)
	t.Cleanup(func() { st.Close() })
	for _, f := range idapi.Leased() {
		check.Must(lease.Create(t.Context(), st, lease.Config{Realm: f.Name(), Format: nodefield.LeaseFormat(f)}))(t)
	}
	return st, path
}

func TestReadyTellsTheTruth(t *testing.T) {
	rename := func(t *testing.T, from, to string) {
		t.Helper()
		check.OK(t, os.Rename(from, to))
	}
	for name, test := range map[string]func(t *testing.T){
		"the store cannot be reached": func(t *testing.T) {
			store := newFlaky()
			observe(t, Config{Store: store}).breaks(func() { store.down.Store(true) },
				func() { store.down.Store(false) })
		},
		"the file is moved away": func(t *testing.T) {
			store, path := boltStore(t)
			observe(t, Config{Store: store, MustExist: true}).breaks(
				func() { rename(t, path, path+".away") }, func() { rename(t, path+".away", path) })
		},
		"the file is replaced by an older one": func(t *testing.T) {
			store, path := boltStore(t)
			older := check.Must(os.ReadFile(path))(t)
			observe(t, Config{Store: store, MustExist: true}).breaks(func() {
				check.Write(t, path+".new", string(older))
				rename(t, path+".new", path)
			}, func() {
				for _, realm := range catalog.Names(idapi.Leased()) {
					check.Must(lease.Fence(t.Context(), store, lease.Config{Realm: realm}, 0))(t)
				}
				time.Sleep(2 * time.Minute) // a fence permits no lease for about one minute
			})
		},
		"the file is replaced by a new one": func(t *testing.T) {
			store, path := boltStore(t)
			observe(t, Config{Store: store, MustExist: true}).breaks(func() {
				_, other := boltStore(t)
				rename(t, other, path)
			}, nil)
		},
		"the clock goes back": func(t *testing.T) {
			var offset atomic.Int64
			clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
			observe(t, Config{Store: lease.NewMemory(), clock: clock}).breaks(
				func() { offset.Store(-int64(time.Hour)) }, func() { offset.Store(0) })
		},
		"the clock goes ahead": func(t *testing.T) {
			var offset atomic.Int64
			clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
			observe(t, Config{Store: lease.NewMemory(), clock: clock}).breaks(
				func() { offset.Store(int64(time.Hour)) }, nil)
		},
		"one realm is full": func(t *testing.T) {
			store := lease.NewMemory()
			for range 2 {
				l := check.Must(lease.Acquire(t.Context(), store,
					lease.Config{Realm: "scru64", Format: lease.SCRU64(), NodeBits: 1}))(t)
				defer l.Close(context.Background())
			}
			observe(t, Config{Store: store}).wants("full", 5*time.Minute,
				"SortidNoNodeID{format=scru64}", "SortidStoreUnreachable{format=scru64}")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, test)
		})
	}
}

// If the clock is ahead and the store is down, the server stops sooner. The metric shows how soon.
func TestRemaining(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := newFlaky()
		w := observe(t, Config{Store: store,
			clock: func() time.Time { return time.Now().Add(8 * time.Second) }})
		w.pass(time.Minute)
		store.down.Store(true)
		synctest.Wait()
		left := w.gauges()["sortid_lease_remaining_seconds{format=uid60}"]
		start := time.Now()
		for strings.Contains(w.look(), "uid60 ") {
			time.Sleep(time.Second)
		}
		if took := time.Since(start).Seconds(); took < left-1 || took > left+1 {
			t.Errorf("IDs were made for %v s, and %v s remained", took, left)
		}
		store.down.Store(false)
	})
}

func TestReadyDoesNotWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var offset atomic.Int64
		clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
		w := observe(t, Config{Store: lease.NewMemory(), clock: clock})
		w.pass(10 * time.Second)
		offset.Store(-int64(5 * time.Second))
		time.Sleep(api.ReadyFor)
		if got := w.status("/readyz"); got != http.StatusOK {
			t.Errorf("%d, but the last millisecond has IDs left", got)
		}
		for made := 0; ; made++ {
			if made > 1000 {
				t.Fatal("uid60 makes more than 512 IDs in one millisecond")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			w := ask(ctx, w.s, http.MethodGet, "/v1/ids/uid60", "")
			cancel()
			if w.Code != http.StatusOK {
				break
			}
		}
		time.Sleep(api.ReadyFor)
		start := time.Now()
		if got := w.status("/readyz"); got != http.StatusServiceUnavailable ||
			time.Since(start) > 2*api.ReadyTimeout {
			t.Errorf("%d after %v", got, time.Since(start))
		}
		held := func(name string) float64 {
			return w.gauges()["sortid_lease_held{format="+name+"}"]
		}
		if held("uid60") != 0 || held("scru64") != 1 {
			t.Errorf("held: uid60 %v, scru64 %v", held("uid60"), held("scru64"))
		}
	})
}

// Alerts fire before clients stop: when few node IDs are free, and when renewals are refused.
func TestAlertsOfLeases(t *testing.T) {
	testserver.Long(t, "waits for alerts")
	inBubble(t, func(t *testing.T) {
		store := newFlaky()
		w := observe(t, Config{Store: store})
		w.pass(10 * time.Second)
		post := func(method, path, body string, want int) string {
			t.Helper()
			a := ask(t.Context(), w.s, method, "/v1/realms/orders"+path, body,
				"Content-Type: application/json")
			if a.Code != want {
				t.Fatalf("%s %s: %d, want %d: %s", method, path, a.Code, want, a.Body)
			}
			return a.Body.String()
		}
		post("PUT", "", `{"node_bits":4,"lease_window_ms":86400000}`, 201)
		var l gotLease
		for i := range 15 {
			check.OK(t, json.Unmarshal([]byte(post("POST", "/leases",
				fmt.Sprintf(`{"request":"0123456789abcd%02d"}`, i), 201)), &l))
			if i == 13 {
				w.wants("2 of 16 are free", 10*time.Minute)
			}
		}
		w.wants("1 of 16 is free", 10*time.Minute, "SortidFewNodeIDs{realm=orders}")
		renewal := fmt.Sprintf(`{"secret":%q,"end_tick":%d}`, l.Secret, l.EndTick)
		for range 5 {
			post("POST", "/leases/"+l.ID+"/renew", renewal, 200)
			w.wants("renewals succeed", time.Minute, "SortidFewNodeIDs{realm=orders}")
		}
		store.down.Store(true)
		post("POST", "/leases/"+l.ID+"/renew", renewal, 503)
		w.firing()
		time.Sleep(15 * time.Second)
		post("POST", "/leases/"+l.ID+"/renew", renewal, 503)
		const want = "SortidRenewalsFail{operation=renew,realm=orders,reason=store-unavailable}"
		if got := w.firing(); !slices.Contains(got, want) {
			t.Errorf("a renewal fails: %q, want %q", got, want)
		}
		store.down.Store(false)
		w.pass(6 * time.Minute)
		w.wants("later", time.Minute, "SortidFewNodeIDs{realm=orders}")
	})
}

func TestReadyAfterClose(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := observe(t, Config{Store: lease.NewMemory()})
		w.pass(10 * time.Second)
		check.OK(t, w.s.Close(t.Context()))
		time.Sleep(api.ReadyFor)
		if can := w.look(); can != "" {
			t.Error(can)
		}
	})
}

func TestBuildAndFiles(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tokens")
		_, line, _ := access.NewToken("shop", []string{"ids"}, 0, 0)
		check.Write(t, path, line)
		tokens := check.Must(access.OpenTokens(t.Context(), path, nil))(t)
		w := observe(t, Config{Tokens: tokens, Version: "v1.2.3"})
		defer access.RefusedFiles.Reset()
		labels := "{file=" + path + "}"
		expect := func(what string, want bool) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			var fired []string
			for range 40 {
				time.Sleep(15 * time.Second)
				fired = append(fired, w.firing()...)
			}
			is, fires := w.gauges()["sortid_file_refused"+labels],
				slices.Contains(fired, "SortidFileRefused"+labels)
			if (is == 1) != want || fires != want {
				t.Errorf("%s: refused: %v, fires: %v", what, is, fires)
			}
		}
		expect("at first", false)
		check.Write(t, path, line+"nonsense\n")
		expect("with a mistake", true)
		check.Write(t, path, line)
		expect("corrected", false)
		check.OK(t, os.Remove(path))
		expect("removed", true)
		found := false
		for series, value := range w.gauges() {
			found = found || value == 1 &&
				strings.HasPrefix(series, "sortid_build_info{goversion=go") &&
				strings.HasSuffix(series, ",version=v1.2.3}")
		}
		if !found {
			t.Error("the metric of the build is missing")
		}
	})
}
