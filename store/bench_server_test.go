package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http"
	"github.com/sortid/sortid/store/internal/faulttest"
)

var leases = flag.Int("leases", 100_000, "how many leases BenchmarkServerLoad holds")

// served are the stores that are measured through a server and directly.
var served = slices.DeleteFunc(slices.Clone(servers), func(s server) bool {
	return !slices.Contains([]string{"bolt", "postgres", "kubernetes"}, s.name)
})

func serve(b *testing.B, store string) *testserver.Server {
	b.Helper()
	open(b, store) // the server makes neither a file nor a table
	return testserver.StartSortid(b, store, "--leases-only")
}

func openClient(b *testing.B, url string) *http.Client {
	b.Helper()
	c := check.Must(http.Open(b.Context(), url))(b)
	b.Cleanup(func() { c.Close() })
	return c
}

// compare reports the times of calls through a server, and of the same calls directly.
func compare(b *testing.B, through, direct []time.Duration) {
	report(b, through)
	slices.Sort(direct)
	half := func(took []time.Duration) float64 { return float64(took[len(took)/2]) }
	b.ReportMetric(half(direct)/1e6, "ms/direct-p50")
	b.ReportMetric(float64(direct[len(direct)*99/100])/1e6, "ms/direct-p99")
	b.ReportMetric(half(through)/half(direct), "x/direct")
}

// BenchmarkServerAcquire leases a node ID through a server and then directly, as BenchmarkAcquire
// does.
func BenchmarkServerAcquire(b *testing.B) {
	for _, server := range served {
		b.Run(server.name, func(b *testing.B) {
			url := server.url(b)
			s, config := open(b, url), bench
			config.NodeBits = 8
			for range 100 {
				defer acquire(b, s, config).Close(context.Background())
			}
			c := openClient(b, serve(b, url).URL)
			var through, direct []time.Duration
			measure := func(took *[]time.Duration, acquire func() (*lease.Lease, error)) {
				start := time.Now()
				l, err := acquire()
				*took = append(*took, time.Since(start))
				if err == nil {
					err = l.Close(b.Context())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				measure(&through, func() (*lease.Lease, error) {
					return lease.AcquireFrom(b.Context(), c, config)
				})
				measure(&direct, func() (*lease.Lease, error) {
					return lease.Acquire(b.Context(), s, config)
				})
			}
			compare(b, through, direct)
		})
	}
}

// A watchedLessor measures renewals.
type watchedLessor struct {
	lease.Lessor
	took chan time.Duration
}

func (w *watchedLessor) Renew(ctx context.Context, realm, id string,
	r lease.RenewRequest) (lease.Grant, error) {
	start := time.Now()
	g, err := w.Lessor.Renew(ctx, realm, id, r)
	if err == nil {
		select {
		case w.took <- time.Since(start):
		default:
		}
	}
	return g, err
}

// BenchmarkServerRenew renews a lease through a server and then directly, ten times each.
func BenchmarkServerRenew(b *testing.B) {
	config := lease.Config{Realm: "bench", Format: lease.SCRU160(), NodeBits: 8,
		Window: 4 * time.Millisecond}
	for _, server := range served {
		b.Run(server.name, func(b *testing.B) {
			url := server.url(b)
			s := &watched{Store: open(b, url), took: make(chan time.Duration)}
			check.OK(b, acquire(b, s, config).Close(b.Context()))
			c := &watchedLessor{openClient(b, serve(b, url).URL), make(chan time.Duration)}
			var through, direct []time.Duration
			for b.Loop() {
				l := check.Must(lease.AcquireFrom(b.Context(), c, config))(b)
				through = append(through, renewals(b, l, c.took)...)
				direct = append(direct, renewals(b, acquire(b, s, config), s.took)...)
			}
			compare(b, through, direct)
		})
	}
}

// renewals returns how long ten renewals took, and closes the lease.
func renewals(b *testing.B, l *lease.Lease, took chan time.Duration) (all []time.Duration) {
	b.Helper()
	for range 10 {
		select {
		case d := <-took:
			all = append(all, d)
		case <-time.After(10 * time.Second):
			b.Fatalf("no renewal in ten seconds: %v", l.Err())
		}
	}
	check.OK(b, l.Close(b.Context()))
	return all
}

// BenchmarkServerTogether starts a thousand nodes at once directly, and then through a server with
// the same store.
func BenchmarkServerTogether(b *testing.B) {
	const nodes = 1000
	for _, server := range served {
		if server.name == "kubernetes" { // see BenchmarkPods
			continue
		}
		b.Run(server.name, func(b *testing.B) {
			url := server.url(b)
			var direct float64
			if server.name == "bolt" {
				direct = startProcesses(b, url, 8, nodes).Seconds()
			} else {
				direct = startTogether(b, url, nodes, bench.NodeBits)
			}
			through := startTogether(b, serve(b, url).URL, nodes, bench.NodeBits)
			b.ReportMetric(direct, "s/direct")
			b.ReportMetric(through/direct, "x/direct")
		})
	}
}

// A meter counts what passes a relay. What a client sends in one piece counts as one request.
type meter struct{ requests, bytes atomic.Int64 }

// relay returns the URL of a relay to the server at the URL raw.
func (m *meter) relay(b *testing.B, raw string) string {
	b.Helper()
	u := check.Must(url.Parse(raw))(b)
	return faulttest.At(b, raw, faulttest.Relay(b, u.Host,
		func(_, _ net.Conn) (request, answer func([]byte) bool) {
			counts := func(pieces *atomic.Int64) func([]byte) bool {
				return func(piece []byte) bool {
					pieces.Add(1)
					m.bytes.Add(int64(len(piece)))
					return true
				}
			}
			return counts(&m.requests), counts(new(atomic.Int64))
		}))
}

// create makes the realm "load", which has a million node IDs.
func create(b *testing.B, c *http.Client) {
	b.Helper()
	if _, _, err := c.CreateRealm(b.Context(), lease.Config{Realm: "load", NodeBits: 20,
		Window: time.Hour}); err != nil {
		b.Fatal(err)
	}
}

// text returns a text as long as the random ones that clients send.
func text(n int) string { return fmt.Sprintf("%026d", n) }

// BenchmarkServerLoad holds many leases on one server with bolt, and renews each of them once, as
// fast as the server can. Then it lists them.
func BenchmarkServerLoad(b *testing.B) {
	const connections = 64 // as many as the requests for leases that use the store at a time
	b.Run("bolt", func(b *testing.B) {
		s := serve(b, "bolt:"+b.TempDir()+"/leases.db")
		create(b, openClient(b, s.URL))
		b.ReportMetric(s.Memory("VmHWM"), "MB/idle")
		held := make([]heldLease, *leases)
		// each calls f for all leases from connections to the server.
		each := func(f func(c *connection, i int) error) (time.Duration, []time.Duration) {
			took := make([]time.Duration, *leases)
			var wg sync.WaitGroup
			begin := time.Now()
			for first := range connections {
				wg.Go(func() {
					c := connectTo(b, s.URL)
					if c == nil {
						return
					}
					defer c.Close()
					for i := first; i < *leases; i += connections {
						start := time.Now()
						if err := f(c, i); err != nil {
							b.Errorf("lease %d: %v", i, err)
							return
						}
						took[i] = time.Since(start)
					}
				})
			}
			wg.Wait()
			return time.Since(begin), took
		}
		acquired, _ := each(func(c *connection, i int) error {
			return c.post("", fmt.Sprintf(`{"request":%q}`, text(i)), &held[i])
		})
		before, own := processor(b), ownProcessor()
		renewed, took := each(func(c *connection, i int) error {
			l := &held[i]
			old := l.EndTick
			err := c.post("/"+l.ID+"/renew", fmt.Sprintf(
				`{"secret":%q,"end_tick":%d,"renewal":%q,"time_ms":%d}`, l.Secret, l.EndTick,
				text(i), time.Now().UnixMilli()), l)
			if err == nil && l.EndTick <= old {
				err = fmt.Errorf("it still ends at tick %d", old)
			}
			return err
		})
		used := (processor(b) - before) - (ownProcessor() - own)
		n := float64(*leases)
		report(b, took)
		b.ReportMetric(n, "leases")
		b.ReportMetric(connections, "connections")
		b.ReportMetric(n/acquired.Seconds(), "acquires/s")
		b.ReportMetric(n/renewed.Seconds(), "renewals/s")
		b.ReportMetric(used.Seconds()*1000/n, "ms-server-cpu/renewal")
		b.ReportMetric(s.Memory("VmHWM"), "MB")
		b.ReportMetric(s.Memory("RssAnon"), "MB/own")
		list(b, openClient(b, s.URL))
		b.ReportMetric(s.Memory("VmHWM"), "MB/listed")
	})
}

// list reads the realm "load", its counts and its leases, and does so again when the server's list
// is too old.
func list(b *testing.B, c *http.Client) {
	for range 3 {
		for next, more := "", true; more; more = next != "" {
			var err error
			if _, next, err = c.Holdings(b.Context(), "load", next, 1000); err != nil {
				b.Fatal(err)
			}
		}
		time.Sleep(11 * time.Second)
	}
}

type heldLease struct {
	ID      string `json:"id"`
	Secret  string `json:"secret"`
	EndTick int64  `json:"end_tick"`
}

// A connection sends requests for leases of the realm "load". It uses the processor less than a
// [nethttp.Client], because the server runs on the same machine.
type connection struct {
	net.Conn
	in  *bufio.Reader
	out []byte
}

func connectTo(b *testing.B, server string) *connection {
	conn, err := net.Dial("tcp", strings.TrimPrefix(server, "http://"))
	if err != nil {
		b.Error(err)
		return nil
	}
	return &connection{Conn: conn, in: bufio.NewReader(conn)}
}

func (c *connection) post(path, body string, answer any) error {
	c.out = fmt.Appendf(c.out[:0], "POST /v1/realms/load/leases%s HTTP/1.1\r\nHost: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, c.RemoteAddr(),
		len(body), body)
	if _, err := c.Write(c.out); err != nil {
		return err
	}
	resp, err := nethttp.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != nethttp.StatusOK && resp.StatusCode != nethttp.StatusCreated {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}
