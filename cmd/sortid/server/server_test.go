package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/cmd/sortid/server/idapi"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

func newServer(t *testing.T, c Config) *Server {
	t.Helper()
	s := check.Must(New(c))(t)
	t.Cleanup(func() { check.OK(t, s.Close(context.Background())) })
	return s
}

func start(t *testing.T, c Config) (*Server, *httptest.Server) {
	t.Helper()
	s := newServer(t, c)
	ts := httptest.NewUnstartedServer(nil)
	ts.Config = s.HTTPServer()
	ts.Start()
	t.Cleanup(ts.Close)
	return s, ts
}

func waitReady(t testing.TB, s *Server) {
	t.Helper()
	if !check.Soon(func() bool { return s.sources.Ready() == nil }) {
		t.Fatal(s.sources.Ready())
	}
}

// hardly permits a token's first requests, and then only one request an hour.
func hardly(tokens *access.Tokens, bearer string) {
	tokens.Find(strings.TrimPrefix(bearer, "Authorization: Bearer ")).Requests.SetLimit(
		rate.Every(time.Hour))
}

type answer struct {
	*http.Response
	body string
}

func send(t *testing.T, method, url, body string, headers ...string) answer {
	t.Helper()
	r := check.Must(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	if strings.Contains(url, api.RealmsPath) && body != "" {
		r.Header.Set("Content-Type", api.TypeJSON)
	}
	setHeaders(r, headers)
	return read(t)(http.DefaultTransport.RoundTrip(r))
}

func setHeaders(r *http.Request, headers []string) {
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
}

func read(t *testing.T) func(*http.Response, error) answer {
	return func(resp *http.Response, err error) answer {
		t.Helper()
		check.OK(t, err)
		defer resp.Body.Close()
		b := check.Must(io.ReadAll(resp.Body))(t)
		return answer{resp, string(b)}
	}
}

func TestIDs(t *testing.T) {
	s, ts := start(t, Config{Store: lease.NewMemory()})
	waitReady(t, s)
	last := map[string]format.ID{}
	for _, sch := range format.Ours() {
		for _, encoding := range sch.Encodings() {
			for _, n := range []int{1, 2, 5000} {
				for _, accept := range []string{"", "application/json"} {
					url := fmt.Sprintf("%s/v1/ids/%s?n=%d&encoding=%s", ts.URL, sch.Name(), n,
						encoding)
					a := send(t, http.MethodPost, url, "", "Accept: "+accept)
					kind := a.Header.Get("Content-Type")
					if a.StatusCode != 200 || a.Header.Get("Cache-Control") != "no-store" ||
						(kind == api.TypeJSON) != (accept == api.TypeJSON) ||
						(kind == api.TypeText) != (accept == "") || !strings.HasSuffix(a.body, "\n") {
						t.Fatalf("%s: %d %v: %s", url, a.StatusCode, a.Header, a.body)
					}
					if got := checkNew(t, a.Request, []byte(a.body), last); got != n {
						t.Fatalf("%s: %d IDs, want %d", url, got, n)
					}
				}
			}
		}
	}
}

func TestMostIDs(t *testing.T) {
	_, ts := start(t, Config{})
	for _, query := range []string{"?n=100000", "?n=%3100000"} {
		for _, accept := range []string{api.TypeText, api.TypeJSON} {
			a := send(t, http.MethodGet, ts.URL+"/v1/ids/scru128"+query, "", "Accept: "+accept)
			if a.StatusCode != http.StatusOK ||
				max(strings.Count(a.body, "\n"), strings.Count(a.body, `,"`)) < 100_000 {
				t.Errorf("%s as %s: %d, %d bytes", query, accept, a.StatusCode, len(a.body))
			}
		}
	}
}

func TestCountsOnce(t *testing.T) {
	for path, want := range map[string]int{
		"/v1/ids/euid":                 http.StatusOK,
		"/v1/ids/euid?n=%31":           http.StatusOK,
		"/v1/ids/scru64?encoding=uuid": http.StatusUnprocessableEntity,
		"/v1/ids/scru64":               http.StatusServiceUnavailable,
	} {
		tokens, bearer := tokensOf(t, "one ids requests=1")
		_, ts := start(t, Config{Tokens: tokens})
		if a := send(t, http.MethodGet, ts.URL+path, "", bearer["one"]); a.StatusCode != want {
			t.Errorf("%s: %d, want %d: %s", path, a.StatusCode, want, a.body)
		}
	}
}

func TestConcurrent(t *testing.T) {
	s, ts := start(t, Config{Store: lease.NewMemory()})
	waitReady(t, s)
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, name := range catalog.Names(format.Ours()) {
				a := send(t, http.MethodGet, ts.URL+"/v1/ids/"+name+"?n=500", "")
				mu.Lock()
				for id := range strings.Lines(a.body) {
					if seen[name+id] {
						t.Errorf("%s twice: %s", name, id)
					}
					seen[name+id] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if want := 8 * len(catalog.Names(format.Ours())) * 500; len(seen) != want {
		t.Errorf("%d IDs, want %d", len(seen), want)
	}
}

func TestRequests(t *testing.T) {
	s, ts := start(t, Config{Store: lease.NewMemory(), Version: "v1.2.3"})
	waitReady(t, s)
	_, bare := start(t, Config{})
	long, base := strings.Repeat("x", 70000), ts.URL
	expect := func(name, request string, status int, want, body string, headers ...string) {
		method, path, _ := strings.Cut(request, " ")
		url := base + path
		t.Run(name, func(t *testing.T) {
			a := send(t, method, url, body, headers...)
			if a.StatusCode != status || !strings.Contains(a.body, want) {
				t.Fatalf("%d, want %d with %q:\n%.500s", a.StatusCode, status, want, a.body)
			}
			if id := a.Header.Get("X-Request-Id"); len(id) != 25 {
				t.Errorf("request ID %q", id)
			}
			if status >= 400 {
				checkProblem(t, name, a, status)
			}
			if status == 503 && a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		})
	}
	expect("unknown format", "GET /v1/ids/scru12", 422,
		strings.Join(catalog.Names(format.Ours()), ", "), "")
	expect("too many", "GET /v1/ids/scru128?n=100001", 422, "want 1 to 100000", "")
	expect("none", "GET /v1/ids/scru128?n=0", 422, "want 1 to 100000", "")
	expect("negative", "GET /v1/ids/scru128?n=-1", 422, `"field":"n"`, "")
	expect("not a number", "GET /v1/ids/scru128?n=many", 422, `"field":"n"`, "")
	expect("unknown encoding", "GET /v1/ids/scru128?encoding=ulid", 422, "text, hex, int and uuid",
		"")
	expect("encoding of another width", "GET /v1/ids/scru64?encoding=uuid", 422,
		"scru64 IDs have 64 bits", "")
	expect("unknown parameter", "GET /v1/ids/scru128?m=3", 422, "unknown query parameter", "")
	expect("accepts neither", "GET /v1/ids/scru128", 406, "text/plain or application/json", "",
		"Accept: image/png")
	expect("prefers JSON", "GET /v1/ids/scru128", 200, `{"format"`, "",
		"Accept: text/plain;q=0.5, application/json")
	expect("unknown path", "GET /v2/ids", 404, "no such path", "")
	expect("unknown method", "DELETE /v1/ids/euid", 405, "accepts only GET, HEAD, POST", "")
	expect("options", "OPTIONS /v1/inspect", 204, "", "")
	expect("head", "HEAD /v1/ids/euid", 200, "", "")
	expect("inspect", "GET /v1/inspect/0372ijojuxuhjsfkeryi2mrtm", 200,
		`"time":"2022-04-03T11:40:14.308Z"`, "")
	expect("inspect no ID", "GET /v1/inspect/nonsense", 422, `"field":"id"`, "")
	expect("inspect as", "GET /v1/inspect/naS8QBhxi?format=euid", 422, "euid", "")
	expect("inspect long", "GET /v1/inspect/"+long[:300], 422, "longer than 200 characters", "")
	expect("lines", "POST /v1/inspect", 200, `no format known to sortid has such IDs"}`+"\n"+
		`{"format":"scru64","text":"0u2pf62ji4b9"`,
		"nonsense\n\n 0u2pf62ji4b9 \r\n"+long+"\nxinaS8QBh")
	expect("a long line", "POST /v1/inspect", 200,
		`{"line":1,"error":"longer than 1024 bytes, so it is not an ID"}`+"\n"+`{"format":"uid60"`,
		long+"\nxinaS8QBh")
	expect("no lines", "POST /v1/inspect", 200, "", "")
	expect("bounds", "GET /v1/bounds/scru64?from=2026-11-17&to=2026-11-18", 200,
		`"to":"2026-11-18T00:00:00.000Z"`, "")
	expect("bounds without a start", "GET /v1/bounds/scru64", 422, "field\":\"from", "")
	expect("bounds, no time", "GET /v1/bounds/scru64?from=soon", 422, `"field":"from"`, "")
	expect("bounds, empty", "GET /v1/bounds/scru64?from=2026-11-17&to=2026-11-16", 422, "is empty",
		"")
	expect("formats", "GET /v1/formats", 200, `{"name":"scru64"`, "")
	expect("live", "GET /healthz", 200, "ok", "")
	expect("ready", "GET /readyz", 200, "ready", "")
	expect("metrics", "GET /metrics", 200, "# HELP sortid_lease_remaining_seconds", "")
	expect("description", "GET /openapi.json", 200, `"version":"v1.2.3"`, "")
	expect("page", "GET /", 200, "GET /v1/ids/{format}", "")
	expect("no store to read", "POST /v1/store/get", 404, "no such path", "{}")
	expect("problems", "GET /problems/lease-lost", 200, "the lease has ended", "")
	expect("unknown problem", "GET /problems/none", 404, "no such path", "")
	base = bare.URL
	expect("no store", "GET /v1/ids/scru64", 503, "has no store to lease a node ID of scru64 from",
		"")
	expect("no store for leases", "POST /v1/realms/orders/leases", 404, "has no store", "{}")
	expect("no store, ready", "GET /readyz", 200, "ready", "")
}

func TestGzip(t *testing.T) {
	_, ts := start(t, Config{})
	a := send(t, http.MethodGet, ts.URL+"/v1/ids/scru128?n=1000", "", "Accept-Encoding: gzip")
	if a.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal(a.Header)
	}
	r := check.Must(gzip.NewReader(strings.NewReader(a.body)))(t)
	b, err := io.ReadAll(r)
	if err != nil || bytes.Count(b, []byte("\n")) != 1000 {
		t.Errorf("%d lines, %v", bytes.Count(b, []byte("\n")), err)
	}
	a = send(t, http.MethodGet, ts.URL+"/v1/ids/scru128", "", "Accept-Encoding: gzip")
	if len(a.body) != len("03hb4e8694d0no0jfid7ucnon\n") || a.Header.Get("Content-Encoding") != "" ||
		a.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("one ID: %q, %v", a.body, a.Header)
	}
}

// A hooked store counts its calls. The function before can delay them or make them fail.
type hooked struct {
	lease.Store
	before func(ctx context.Context, method, realm string) error
	mu     sync.Mutex
	calls  map[string]int // by method
}

func (h *hooked) enter(ctx context.Context, method, realm string) error {
	h.mu.Lock()
	if h.calls == nil {
		h.calls = map[string]int{}
	}
	h.calls[method]++
	h.mu.Unlock()
	if h.before == nil {
		return nil
	}
	return h.before(ctx, method, realm)
}

func (h *hooked) count(methods ...string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, method := range methods {
		n += h.calls[method]
		delete(h.calls, method)
	}
	return n
}

func (h *hooked) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	if err := h.enter(ctx, "Get", realm); err != nil {
		return lease.Record{}, err
	}
	return h.Store.Get(ctx, realm, b)
}

func (h *hooked) GetMany(ctx context.Context, realm string,
	b []lease.Block) ([]lease.Record, error) {
	if err := h.enter(ctx, "GetMany", realm); err != nil {
		return nil, err
	}
	return h.Store.GetMany(ctx, realm, b)
}

func (h *hooked) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	return h.CompareAndSetMany(ctx, []lease.Change{{Prev: prev, Next: next}})
}

func (h *hooked) CompareAndSetMany(ctx context.Context, changes []lease.Change) (bool, error) {
	if err := h.enter(ctx, "CompareAndSet", changes[0].Next.Realm); err != nil {
		return false, err
	}
	return h.Store.CompareAndSetMany(ctx, changes)
}

func (h *hooked) List(ctx context.Context, realm string) ([]lease.Record, error) {
	if err := h.enter(ctx, "List", realm); err != nil {
		return nil, err
	}
	return h.Store.List(ctx, realm)
}

func (h *hooked) Realms(ctx context.Context) ([]string, error) {
	if err := h.enter(ctx, "Realms", ""); err != nil {
		return nil, err
	}
	return h.Store.Realms(ctx)
}

func (h *hooked) Time(ctx context.Context) (time.Time, error) {
	if err := h.enter(ctx, "Time", ""); err != nil {
		return time.Time{}, err
	}
	return h.Store.Time(ctx)
}

type flaky struct {
	hooked
	down, noClock atomic.Bool
}

var errDown = errors.New("the database at 10.9.8.7 is down")

func newFlaky() *flaky {
	f := &flaky{}
	f.Store, f.before = lease.NewMemory(), func(_ context.Context, method, _ string) error {
		switch {
		case f.down.Load():
			return errDown
		case method == "Time" && f.noClock.Load():
			return lease.ErrNoTime
		}
		return nil
	}
	return f
}

// While the store is down, the server makes only IDs that need no lease. Only the log has details.
func TestStoreUnreachable(t *testing.T) {
	store := newFlaky()
	store.down.Store(true)
	var log check.Log
	s, ts := start(t, Config{Store: store, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for path, status := range map[string]int{
		"/v1/ids/scru128": 200, "/v1/ids/scru160": 200, "/v1/ids/euid": 200, "/healthz": 200,
		"/v1/ids/scru64": 503, "/v1/ids/uid60": 503, "/readyz": 503,
	} {
		a := send(t, http.MethodGet, ts.URL+path, "")
		if a.StatusCode != status {
			t.Errorf("%s: %d, want %d: %s", path, a.StatusCode, status, a.body)
		}
		if strings.Contains(a.body, "10.9.8.7") {
			t.Errorf("%s: the answer contains details of the store: %s", path, a.body)
		}
	}
	a := send(t, http.MethodGet, ts.URL+"/v1/realms/orders", "")
	if a.StatusCode != 503 || a.Header.Get("Retry-After") == "" ||
		strings.Contains(a.body, "10.9.8.7") {
		t.Errorf("%d: %s", a.StatusCode, a.body)
	}
	store.down.Store(false)
	waitReady(t, s)
	if a := send(t, http.MethodGet, ts.URL+"/v1/ids/scru64", ""); a.StatusCode != 200 {
		t.Errorf("%d: %s", a.StatusCode, a.body)
	}
	if text := log.Take(); !strings.Contains(text, "10.9.8.7") {
		t.Errorf("the log does not say what is wrong with the store: %s", text)
	}

	s.Drain()
	if a := send(t, http.MethodGet, ts.URL+"/readyz", ""); a.StatusCode != 503 ||
		!strings.Contains(a.body, "shuts down") {
		t.Errorf("draining: %d: %s", a.StatusCode, a.body)
	}
}

func TestClose(t *testing.T) {
	store := lease.NewMemory()
	s := newServer(t, Config{Store: store})
	waitReady(t, s)
	held := func() (n int) {
		for _, realm := range catalog.Names(idapi.Leased()) {
			root := check.Must(store.Get(t.Context(), realm, lease.Block{}))(t)
			records := check.Must(store.List(t.Context(), realm+"@"+root.Generation))(t)
			for _, r := range records {
				if (r.Owner != lease.Owner{}) {
					n++
				}
			}
		}
		return n
	}
	if n := held(); n != 2 {
		t.Errorf("%d node IDs held, want 2", n)
	}
	check.OK(t, s.Close(t.Context()))
	if n := held(); n != 0 {
		t.Errorf("%d node IDs held after Close", n)
	}
}

func TestTokens(t *testing.T) {
	tokens, bearer := tokensOf(t, "ids ids", "orders realm:orders", "admin admin",
		"prometheus metrics", "slow ids requests=2 ids=5")
	s, ts := start(t, Config{Store: lease.NewMemory(), Tokens: tokens})
	waitReady(t, s)
	textOf := func(name string) string {
		return strings.TrimPrefix(bearer[name], "Authorization: Bearer ")
	}
	for _, realm := range []string{"orders", "other"} {
		send(t, "PUT", ts.URL+"/v1/realms/"+realm, `{"node_bits":8}`, bearer["admin"])
	}
	for _, c := range []struct {
		method, path, body string
		ids, orders, admin int // statuses
	}{
		{"GET", "/v1/ids/scru128", "", 200, 403, 200},
		{"POST", "/v1/ids/scru64", "", 200, 403, 200},
		{"GET", "/v1/inspect/xinaS8QBh", "", 200, 200, 200},
		{"POST", "/v1/inspect", "xinaS8QBh", 200, 200, 200},
		{"GET", "/v1/bounds/euid?from=-1h", "", 200, 200, 200},
		{"GET", "/v1/formats", "", 200, 200, 200},
		{"GET", "/metrics", "", 403, 403, 200},
		{"PUT", "/v1/realms/orders", `{"node_bits":8}`, 403, 200, 200},
		{"PUT", "/v1/realms/other", `{"node_bits":8}`, 403, 403, 200},
		{"GET", "/v1/realms/orders", "", 403, 200, 200},
		{"GET", "/v1/realms/other", "", 403, 403, 200},
		{"GET", "/v1/realms/scru64", "", 403, 403, 200},
		{"GET", "/v1/realms/ordersX", "", 403, 403, 404},
		{"GET", "/v1/realms/orders/leases", "", 403, 200, 200},
		{"GET", "/v1/realms/other/leases", "", 403, 403, 200},
		{"GET", "/v1/realms", "", 403, 200, 200},
		{"PATCH", "/v1/realms/orders", "{}", 403, 200, 200},
		{"PATCH", "/v1/realms/other", "{}", 403, 403, 200},
		{"POST", "/v1/realms/other/leases", `{"request":"0123456789abcdef"}`, 403, 403, 201},
		{"POST", "/v1/realms/orders/leases/x/evict", "", 403, 404, 404},
		{"POST", "/v1/realms/other/leases/x/evict", "", 403, 403, 404},
	} {
		var refused string
		for _, header := range []string{"Accept: */*", "Authorization: Bearer wrong",
			"Authorization: Basic " + textOf("admin"),
			"Authorization: " + textOf("admin"), "Authorization: Bearer " +
				textOf("admin")[:20], "Authorization: Bearer "} {
			a := send(t, c.method, ts.URL+c.path, c.body, header)
			if a.StatusCode != 401 || a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s with %.22q: %d", c.method, c.path, header, a.StatusCode)
			}
			if refused != "" && a.body != refused {
				t.Errorf("%s %s: the answers differ: %s and %s", c.method, c.path, refused, a.body)
			}
			refused = a.body
		}
		for name, want := range map[string]int{"ids": c.ids, "orders": c.orders, "admin": c.admin} {
			a := send(t, c.method, ts.URL+c.path, c.body, bearer[name])
			if a.StatusCode != want {
				t.Errorf("%s %s with %s: %d, want %d: %s", c.method, c.path, name, a.StatusCode,
					want, a.body)
			}
			if want == 403 && (!strings.Contains(a.body, `"code":"not-allowed"`) ||
				!strings.Contains(a.body, `"token":"`+name+`"`)) {
				t.Errorf("%s %s with %s: %s", c.method, c.path, name, a.body)
			}
		}
	}
	for path, want := range map[string]int{"/metrics": 200, "/v1/ids/euid": 403,
		"/v1/realms/orders": 403} {
		if a := send(t, "GET", ts.URL+path, "", bearer["prometheus"]); a.StatusCode != want {
			t.Errorf("%s with the permission metrics: %d, want %d", path, a.StatusCode, want)
		}
	}
	if a := send(t, "GET", ts.URL+"/metrics", "", bearer["ids"]); !strings.Contains(a.body,
		`needs the permission \"metrics\" or \"admin\"`) {
		t.Errorf("/metrics without the permission: %s", a.body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/", "/openapi.json"} {
		if a := send(t, http.MethodGet, ts.URL+path, ""); a.StatusCode != 200 {
			t.Errorf("%s without a token: %d", path, a.StatusCode)
		}
	}
	if a := send(t, http.MethodGet, ts.URL+"/v1/realms", "",
		bearer["orders"]); strings.Contains(a.body, "scru64") {
		t.Errorf("a token sees realms that it may not use: %s", a.body)
	}
	if a := send(t, http.MethodGet, ts.URL+"/v1/realms", "",
		bearer["admin"]); !strings.Contains(a.body, "scru64") {
		t.Errorf("realms: %s", a.body)
	}

	// The token permits two requests at once, and five IDs a second.
	hardly(tokens, bearer["slow"])
	for i, want := range []int{200, 200, 429} {
		a := send(t, http.MethodGet, ts.URL+"/v1/formats", "", bearer["slow"])
		after, _ := strconv.Atoi(a.Header.Get("Retry-After"))
		if a.StatusCode != want || (want == 429) != (after > 1800 && after <= 3600) {
			t.Errorf("request %d: %d, want %d; Retry-After: %q", i, a.StatusCode, want,
				a.Header.Get("Retry-After"))
		}
	}
}

// If a realm grants node IDs of only one size, the server's own node ID has that size.
func TestOwnNodeIDs(t *testing.T) {
	store := lease.NewMemory()
	for realm, config := range map[string]lease.Config{
		"scru64": {Format: lease.SCRU64(), NodeBits: 12, OneSize: true},
		"uid60":  {Format: lease.UID60(), NodeBits: 9},
	} {
		config.Realm = realm
		check.Must(lease.Create(t.Context(), store, config))(t)
	}
	s, _ := start(t, Config{Store: store, NodeBits: 8, MustExist: true})
	waitReady(t, s)
	// A node ID of 12 bits makes 4096 scru64 IDs in 256 ms.
	if got := float64(s.sources.Limit("scru64").Limit()) * 0.256; got < 3800 || got > 4096 {
		t.Errorf("%v scru64 IDs in a tick, want less than 4096", got)
	}
}
