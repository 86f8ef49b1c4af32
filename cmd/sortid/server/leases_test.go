package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http/wire"
)

// clients returns clients of two servers with one store.
func clients(t *testing.T, c Config) (a, b leaseClient) {
	t.Helper()
	if c.Store == nil {
		c.Store = lease.NewMemory()
	}
	c.LeasesOnly = true
	of := func() leaseClient {
		_, ts := start(t, c)
		return leaseClient{T: t, base: ts.URL + "/v1/realms/"}
	}
	return of(), of()
}

// wants checks the status of an answer and, for problems, its code.
func (c leaseClient) wants(what string, a answer, status int, code wire.Code) {
	c.Helper()
	var p api.Problem
	if status >= 400 {
		json.Unmarshal([]byte(a.body), &p)
	}
	if a.StatusCode != status || p.Code != code {
		c.Errorf("%s: %d, want %d %s: %s", what, a.StatusCode, status, code, a.body)
	}
}

// Two servers with one store give, renew, list, release and evict the same leases.
func TestLeasesOfTwoServers(t *testing.T) {
	one, two := clients(t, Config{Conditions: []string{"while the process lives"}})
	two.wants("no realm", two.send("GET", "orders", ""), 404, "no-realm")
	made := one.make("orders", `{"format":"scru64","lead_ms":5120}`)
	if again := two.send("PUT", "orders", `{"format":"scru64"}`); again.StatusCode != 200 ||
		again.body != made.body || !strings.Contains(made.body, `"name":"orders","format":"scru64",`+
		`"lease_window_ms":60160,"lead_ms":5120,"tick_ms":256,"tick_epoch_ms":0,`) ||
		!strings.Contains(made.body, `"conditions":["while the process lives"]`) {
		t.Errorf("%s, then %s", made.body, again.body)
	}

	body := `{"request":"` + strings.Repeat("r", 16) + `","node_bits":8,"holder":"me"}`
	first := one.send("POST", "orders/leases", body)
	l := one.parse(first)
	if first.StatusCode != 201 || l.Holder != "me" || l.Realm != "orders" ||
		l.NodeSpec != fmt.Sprintf("%d/8", l.NodeID) ||
		l.ValidFromMS != l.FirstTick*256 || l.ValidUntilMS != l.EndTick*256 ||
		first.Header.Get("Location") != "/v1/realms/orders/leases/"+l.ID ||
		first.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v: %s", first.Header, first.body)
	}
	again := two.send("POST", "orders/leases", body)
	if l2 := two.parse(again); again.StatusCode != 200 || l2.ID != l.ID || l2.Secret != l.Secret ||
		l2.FirstTick != l.FirstTick || again.Header.Get("Location") != first.Header.Get("Location") {
		t.Errorf("the same at the other server: %s, first %s", again.body, first.body)
	}
	two.wants("another size", two.send("POST", "orders/leases",
		strings.Replace(body, `"node_bits":8`, `"node_bits":9`, 1)), 409, "request-differs")
	l.c = two
	renewed := two.parse(l.renew(`,"renewal":"a"`))
	if renewed.ID != l.ID || renewed.FirstTick != l.FirstTick || renewed.EndTick < l.EndTick {
		t.Errorf("renewed: %+v, before %+v", renewed, l)
	}
	var list answer
	check.Soon(func() bool { // a list may be some seconds old
		list = one.send("GET", "orders/leases", "")
		return strings.Contains(list.body, l.ID)
	})
	if !strings.Contains(list.body, `"id":"`+l.ID+`"`) || strings.Contains(list.body, l.Secret) ||
		!strings.Contains(list.body, `"state":"held"`) ||
		!strings.Contains(list.body, fmt.Sprintf(`"since_ms":%d`, l.ValidFromMS)) ||
		!strings.HasSuffix(list.body, `"next":null}`+"\n") {
		t.Errorf("list: %s", list.body)
	}
	renewed.c = one
	one.wants("release", renewed.release(""), 204, "")
	renewed.c = two
	two.wants("release again", renewed.release(""), 204, "")
	two.wants("renew after the release", renewed.renew(""), 410, "lease-lost")
	one.wants("the request after the release", one.send("POST", "orders/leases", body), 410,
		"lease-lost")

	other, _ := one.acquire("orders", `,"node_bits":8`)
	two.wants("evict", two.send("POST", other.path("evict"), ""), 204, "")
	two.wants("evict again", two.send("POST", other.path("evict"), ""), 404, "not-found")
	one.wants("renew after the eviction", other.renew(""), 410, "lease-lost")
}

// Lists have parts, in order.
func TestListsInParts(t *testing.T) {
	c, _ := clients(t, Config{})
	const n = 25
	for i := range n {
		c.make(fmt.Sprintf("realm%%20%02d%%2F%%25", i), `{"node_bits":8}`)
		c.acquire("realm%2000%2F%25", "")
	}
	for path, member := range map[string]string{"": "realms", "realm%2000%2F%25/leases": "leases"} {
		var all []string
		parts := 0
		for after := ""; ; parts++ {
			a := c.send("GET", path+"?limit=10"+after, "")
			if path == "" {
				a = send(t, "GET", strings.TrimSuffix(c.base, "/")+"?limit=10"+after, "")
			}
			var list map[string]json.RawMessage
			var rows []struct {
				Name   string
				NodeID int `json:"node_id"`
			}
			var next *string
			if err := json.Unmarshal([]byte(a.body), &list); err != nil {
				t.Fatalf("%v: %s", err, a.body)
			}
			check.OK(t, json.Unmarshal(list[member], &rows))
			check.OK(t, json.Unmarshal(list["next"], &next))
			for _, row := range rows {
				all = append(all, fmt.Sprintf("%s %03d", row.Name, row.NodeID))
			}
			if next == nil {
				break
			}
			after = "&after=" + url.QueryEscape(*next)
		}
		if len(all) != n || !slices.IsSorted(all) || len(slices.Compact(all)) != n || parts != 2 {
			t.Errorf("%s: %d rows in %d parts: %q", member, len(all), parts+1, all)
		}
	}
	for query, want := range map[string]string{"limit=0": "limit", "limit=1001": "limit",
		"limit=x": "limit", "limit=": "limit", "after=a&after=b": "after", "secret=x": "secret",
		"after=%zz": "query"} {
		a := c.send("GET", "realm%2000%2F%25/leases?"+query, "")
		if a.StatusCode != 422 || !strings.Contains(a.body, `"field":"`+want+`"`) {
			t.Errorf("%s: %d: %s", query, a.StatusCode, a.body)
		}
	}
}

// Whatever a client sends, it changes nothing of another client's lease.
func TestAttacks(t *testing.T) {
	c, two := clients(t, Config{})
	c.make("orders", `{"format":"scru64"}`)
	c.make("other", `{"node_bits":3}`)
	mine, myBody := c.acquire("orders", `,"node_bits":8`)
	elsewhere, _ := c.acquire("other", "")
	victim, theirBody := c.acquire("orders", `,"node_bits":8,"holder":"victim"`)
	_, node, _ := strings.Cut(theirBody, `"request":"`)
	theirRequest := node[:26]
	const long = 1 << 10
	for name, attack := range map[string]struct {
		path, body string
		status     int
		code       wire.Code
	}{
		"renew with my secret": {victim.path("renew"),
			fmt.Sprintf(`{"secret":%q,"end_tick":%d}`, mine.Secret, victim.EndTick), 410, "lease-lost"},
		"renew with a secret of another realm": {victim.path("renew"),
			fmt.Sprintf(`{"secret":%q,"end_tick":1}`, elsewhere.Secret), 410, "lease-lost"},
		"renew in another realm": {"other/leases/" + mine.ID + "/renew",
			fmt.Sprintf(`{"secret":%q,"end_tick":1}`, mine.Secret), 410, "lease-lost"},
		"renew with the id as the secret": {victim.path("renew"),
			fmt.Sprintf(`{"secret":%q,"end_tick":1}`, victim.ID), 422, "invalid"},
		"renew a malformed id": {"orders/leases/%2e%2e/renew",
			fmt.Sprintf(`{"secret":%q,"end_tick":1}`, mine.Secret), 404, "not-found"},
		"renew a tick far ahead": {mine.path("renew"),
			fmt.Sprintf(`{"secret":%q,"end_tick":9007199254740991}`, mine.Secret), 422, "invalid"},
		"release with my secret": {victim.path("release"),
			fmt.Sprintf(`{"secret":%q,"last_time_ms":0}`, mine.Secret), 204, ""},
		"release with no such id": {"orders/leases/x/release",
			fmt.Sprintf(`{"secret":%q,"last_time_ms":0}`, mine.Secret), 204, ""},
		"release in no realm": {"none/leases/" + victim.ID + "/release",
			fmt.Sprintf(`{"secret":%q}`, mine.Secret), 404, "no-realm"},
		"evict in another realm": {"other/leases/" + victim.ID + "/evict", "", 404, "not-found"},
		"evict the node ID": {"orders/leases/" + url.PathEscape(victim.NodeSpec) + "/evict", "",
			404, "not-found"},
		"take the node ID": {"orders/leases", fmt.Sprintf(
			`{"request":"0123456789abcdef","node_bits":8,"node_id":%d}`, victim.NodeID), 409,
			"node-held"},
		"take a node ID around it": {"orders/leases", fmt.Sprintf(
			`{"request":"0123456789abcdef","node_bits":7,"node_id":%d}`, victim.NodeID>>1), 409,
			"node-held"},
		"take a node ID inside it": {"orders/leases", fmt.Sprintf(
			`{"request":"0123456789abcdef","node_bits":9,"node_id":%d}`, victim.NodeID<<1), 409,
			"node-held"},
		"a node ID too large": {"orders/leases",
			`{"request":"0123456789abcdef","node_bits":8,"node_id":256}`, 422, "invalid"},
		"a size too large": {"orders/leases",
			`{"request":"0123456789abcdef","node_bits":24}`, 409, "realm-differs"},
		"no size": {"orders/leases", `{"request":"0123456789abcdef"}`, 422, "invalid"},
		"the size of another realm": {"other/leases",
			`{"request":"0123456789abcdef","node_bits":4}`, 409, "realm-differs"},
		"a window too long": {"orders/leases",
			`{"request":"0123456789abcdef","node_bits":8,"lease_window_ms":70000}`, 422, "invalid"},
		"a window too short": {"orders/leases",
			`{"request":"0123456789abcdef","node_bits":8,"lease_window_ms":100}`, 422, "invalid"},
		"a clock ahead": {"orders/leases", fmt.Sprintf(
			`{"request":"0123456789abcdef","node_bits":8,"time_ms":%d}`,
			time.Now().Add(time.Hour).UnixMilli()), 422, "clock-differs"},
		"a clock behind": {mine.path("renew"), fmt.Sprintf(
			`{"secret":%q,"end_tick":%d,"time_ms":%d}`, mine.Secret, mine.EndTick,
			time.Now().Add(-time.Hour).UnixMilli()), 422, "clock-differs"},
		"a request with control characters": {"orders/leases",
			`{"request":"0123456789abcde\u0007","node_bits":8}`, 422, "invalid"},
		"a holder with control characters": {"orders/leases",
			`{"request":"0123456789abcdef","node_bits":8,"holder":"\u001b[2J"}`, 422, "invalid"},
		"a long holder": {"orders/leases",
			`{"request":"0123456789abcdef","node_bits":8,"holder":"` + strings.Repeat("é", 60) + `"}`,
			422, "invalid"},
		"another size for their request": {"orders/leases", fmt.Sprintf(
			`{"request":%q,"node_bits":4}`, theirRequest), 409, "request-differs"},
		"a generation":         {"orders@0123456789abcdef/leases", myBody, 422, "invalid"},
		"a realm with @":       {"orders%40x/leases", myBody, 422, "invalid"},
		"a long realm":         {strings.Repeat("x", 101) + "/leases", myBody, 422, "invalid"},
		"a very long realm":    {strings.Repeat("x", long) + "/leases", myBody, 422, "invalid"},
		"a realm not in UTF8":  {"%ff%fe/leases", myBody, 422, "invalid"},
		"a realm of controls":  {"a%00b/leases", myBody, 422, "invalid"},
		"a realm with slash":   {"orders%2Fleases/leases", myBody, 404, "no-realm"},
		"a realm up":           {"%2e%2e/leases", myBody, 422, "invalid"},
		"fence":                {"orders/fence", "{}", 404, "no-path"},
		"delete":               {"DELETE orders", "", 405, "method"},
		"delete a lease":       {"DELETE " + victim.path("renew"), "", 405, "method"},
		"another realm's make": {"PUT orders", `{"format":"uid60"}`, 409, "realm-differs"},
		"other bits":           {"PUT orders", `{"node_bits":8}`, 409, "realm-differs"},
		"a make with @":        {"PUT orders@0123456789abcdef", `{"node_bits":8}`, 422, "invalid"},
		"a make too long":      {"PUT " + strings.Repeat("x", 101), `{"node_bits":8}`, 422, "invalid"},
		"a shorter window":     {"PATCH orders", `{"lease_window_ms":20000}`, 409, "in-use"},
		"a window of a second": {"PATCH orders", `{"lease_window_ms":1000}`, 422, "invalid"},
	} {
		method, path, ok := strings.Cut(attack.path, " ")
		if !ok {
			method, path = "POST", attack.path
		}
		for _, c := range []leaseClient{c, two} {
			c.wants(name, c.send(method, path, attack.body), attack.status, attack.code)
			if a := c.send("POST", "orders/leases", theirBody); a.StatusCode != 200 ||
				c.parse(a).EndTick < victim.EndTick || c.parse(a).ID != victim.ID {
				t.Fatalf("after %s: %s", name, a.body)
			}
		}
	}
	time.Sleep(300 * time.Millisecond) // more than a tick, so that the renewal moves the end
	victim.c.wants("the victim renews", victim.renew(`,"renewal":"mine"`), 200, "")
	mine.c.wants("a clone renews", victim.renew(`,"renewal":"clone"`), 410, "lease-lost")
}

// Clients make a limited number of realms. The store itself has no limit.
func TestManyRealms(t *testing.T) {
	memory := lease.NewMemory()
	c, two := clients(t, Config{Store: memory})
	for i := range api.MaxRealms {
		c.make(fmt.Sprint("realm", i), `{"node_bits":8}`)
	}
	two.wants("one more", two.send("PUT", "more", `{"node_bits":8}`), 409, "too-many-realms")
	two.wants("an old one", two.send("PUT", "realm1", `{"node_bits":8}`), 200, "")
	check.Must(lease.Create(t.Context(), memory, lease.Config{Realm: "more",
		Format: lease.SCRU64()}))(t)
	two.wants("made at the store", two.send("GET", "more", ""), 200, "")
}

// Secrets and requests are in no log and no list.
func TestSecrets(t *testing.T) {
	var log check.Log
	c, _ := clients(t, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	c.make("orders", `{"node_bits":8}`)
	l, body := c.acquire("orders", "")
	_, request, _ := strings.Cut(body, `"request":"`)
	request = request[:16]
	said := ""
	check.Soon(func() bool { // a list may be some seconds old
		said = c.send("GET", "orders/leases", "").body
		return strings.Contains(said, l.ID)
	})
	said += c.send("GET", "orders/leases", "").body + c.send("GET", "orders", "").body +
		l.renew(`,"end_tick":1`).body + c.send("POST", "orders/leases",
		strings.Replace(body, "}", `,"node_id":77}`, 1)).body
	l.release("")
	said += c.send("POST", "orders/leases", body).body + l.renew("").body + log.Take()
	if strings.Contains(said, l.Secret) || strings.Contains(said, request) ||
		!strings.Contains(said, l.ID) {
		t.Errorf("secret %s, request %s, in: %s", l.Secret, request, said)
	}
}

// A token that permits to lease permits nothing else.
func TestLeaseOnly(t *testing.T) {
	tokens, bearer := tokensOf(t, "operator realm:orders", "shop lease:orders")
	_, ts := start(t, Config{Store: lease.NewMemory(), Tokens: tokens, LeasesOnly: true})
	operator := leaseClient{T: t, base: ts.URL + "/v1/realms/", bearer: bearer["operator"]}
	operator.make("orders", `{"node_bits":10}`)
	shop := leaseClient{T: t, base: operator.base, bearer: bearer["shop"]}
	l, _ := shop.acquire("orders", "")
	shop.wants("renew", l.renew(""), 200, "")
	shop.wants("show", shop.send("GET", "orders", ""), 200, "")
	realms := leaseClient{T: t, base: ts.URL + "/v1/realms", bearer: bearer["shop"]}
	if all := realms.send("GET", "", ""); !strings.Contains(all.body, `"name":"orders"`) {
		t.Errorf("the realms: %s", all.body)
	}
	for what, a := range map[string]answer{
		"list":   shop.send("GET", "orders/leases", ""),
		"make":   shop.send("PUT", "orders", `{"node_bits":10}`),
		"change": shop.send("PATCH", "orders", `{"lead_ms":1000}`),
		"evict":  shop.send("POST", "orders/leases/"+l.ID+"/evict", ""),
		"other":  shop.send("POST", "others/leases", acquisition),
	} {
		shop.wants(what, a, 403, "not-allowed")
	}
	shop.wants("release", l.release(""), 204, "")
}

// 300 programs that start at once, with one token, all get a lease.
func TestStart(t *testing.T) {
	tokens, bearer := tokensOf(t, "shop realm:orders")
	_, ts := start(t, Config{Store: lease.NewMemory(), Tokens: tokens, LeasesOnly: true})
	c := leaseClient{T: t, base: ts.URL + "/v1/realms/", bearer: bearer["shop"]}
	c.make("orders", `{"node_bits":10}`)
	var starts sync.WaitGroup
	var mu sync.Mutex
	nodes := map[int64]bool{}
	for i := range 300 {
		starts.Go(func() {
			a := c.send("POST", "orders/leases", fmt.Sprintf(`{"request":"0123456789 %05d"}`, i))
			if a.StatusCode != http.StatusCreated {
				t.Errorf("%d: %s", a.StatusCode, a.body)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			nodes[c.parse(a).NodeID] = true
		})
	}
	starts.Wait()
	if len(nodes) != 300 {
		t.Errorf("%d node IDs, want 300", len(nodes))
	}
}

// A request that waits gets the node ID that another client gives back, at any server.
func TestWaitForNodeID(t *testing.T) {
	one, two := clients(t, Config{})
	one.make("orders", `{"node_bits":1,"lease_window_ms":5000}`)
	a, _ := one.acquire("orders", "")
	one.acquire("orders", "")
	full := two.send("POST", "orders/leases", acquisition)
	two.wants("full", full, 503, "none-free")
	if after, _ := strconv.Atoi(full.Header.Get("Retry-After")); after < 1 || after > 5 ||
		!strings.Contains(full.body, `"free_from_ms":`) {
		t.Errorf("Retry-After %q: %s", full.Header.Get("Retry-After"), full.body)
	}
	got := make(chan answer)
	go func() {
		got <- two.send("POST", "orders/leases", `{"request":"0123456789abcdeg","wait_ms":30000}`)
	}()
	time.Sleep(100 * time.Millisecond)
	one.wants("release", a.release(fmt.Sprintf(`,"last_time_ms":%d`, time.Now().UnixMilli())),
		204, "")
	if b := <-got; b.StatusCode != 201 || two.parse(b).NodeID != a.NodeID {
		t.Errorf("%d: %s", b.StatusCode, b.body)
	}
}

// A server that only leases node IDs makes none of its own, and no IDs.
func TestLeasesOnly(t *testing.T) {
	memory := lease.NewMemory()
	_, ts := start(t, Config{Store: memory, LeasesOnly: true})
	for path, want := range map[string]int{"/v1/ids/scru128": 404, "/v1/ids/scru64?n=3": 404,
		"/readyz": 200, "/v1/inspect/xinaS8QBh": 200, "/v1/realms": 200} {
		if a := send(t, "GET", ts.URL+path, ""); a.StatusCode != want ||
			want == 404 && !strings.Contains(a.body, "--leases-only") {
			t.Errorf("%s: %d: %s", path, a.StatusCode, a.body)
		}
	}
	if realms := check.Must(memory.Realms(t.Context()))(t); len(realms) > 0 {
		t.Errorf("the server made %q", realms)
	}
	store := newFlaky()
	store.down.Store(true)
	_, away := start(t, Config{Store: store, LeasesOnly: true})
	if a := send(t, "GET", away.URL+"/readyz", ""); a.StatusCode != 503 {
		t.Errorf("/readyz without the store: %d: %s", a.StatusCode, a.body)
	}
	if _, err := New(Config{LeasesOnly: true}); err == nil {
		t.Error("without a store: no error")
	}
}

// The metrics of leases count per realm what was done and refused. Names that clients make up are
// no labels.
func TestLeaseMetrics(t *testing.T) {
	store := newFlaky()
	s, ts := start(t, Config{Store: store, LeasesOnly: true})
	c := leaseClient{T: t, base: ts.URL + "/v1/realms/"}
	c.make("orders", `{"node_bits":1,"lease_window_ms":3600000}`) // none ends on a slow machine
	a, body := c.acquire("orders", "")
	c.send("POST", "orders/leases", body)
	c.acquire("orders", "")
	c.send("POST", "orders/leases", acquisition)
	c.send("POST", "orders/leases", "{}")
	c.send("POST", "made up/leases", acquisition)
	a.renew("")
	a.renew("")
	store.down.Store(true)
	a.renew("")
	store.down.Store(false)
	a.release("")
	a.renew("")
	var text string
	for range 100 { // counts of node IDs may be some seconds old
		text = ask(t.Context(), s, "GET", "/metrics", "").Body.String()
		if strings.Contains(text, `sortid_node_ids{realm="orders",state="held"} 1`) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	got := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "sortid_leases_") || strings.HasPrefix(line, "sortid_node_ids") {
			got[strings.TrimSpace(line)] = true
		}
	}
	want := []string{
		`sortid_leases_given_total{realm="orders"} 2`,
		`sortid_leases_renewed_total{realm="orders"} 2`,
		`sortid_leases_released_total{realm="orders"} 1`,
		`sortid_leases_lost_total{realm="orders"} 1`,
		`sortid_leases_refused_total{operation="acquire",realm="orders",reason="none-free"} 1`,
		`sortid_leases_refused_total{operation="acquire",realm="orders",reason="invalid"} 1`,
		`sortid_leases_refused_total{operation="acquire",realm="",reason="no-realm"} 1`,
		`sortid_leases_refused_total{operation="renew",realm="orders",reason="store-unavailable"} 1`,
		`sortid_node_ids{realm="orders",state="held"} 1`,
		`sortid_node_ids{realm="orders",state="waiting"} 1`,
		`sortid_node_ids{realm="orders",state="free"} 0`,
		`sortid_node_ids_free_share{realm="orders"} 0`,
	}
	for _, line := range want {
		if !got[line] {
			t.Errorf("the metrics lack %s", line)
		}
		delete(got, line)
	}
	if len(got) > 0 {
		t.Errorf("more metrics: %q", slices.Sorted(maps.Keys(got)))
	}
}

// A client can wait for longer than other requests may take. After it has hung up, it gets no
// lease.
func TestLongWaits(t *testing.T) { inBubble(t, testLongWaits) }

func testLongWaits(t *testing.T) {
	s := virtual(t, Config{Store: lease.NewMemory(), LeasesOnly: true})
	l := serveVirtual(t, s)
	put := func(method, path, body string, want int) string {
		t.Helper()
		w := ask(t.Context(), s, method, "/v1/realms/orders"+path, body,
			"Content-Type: application/json")
		if w.Code != want {
			t.Fatalf("%s %s: %d, want %d: %s", method, path, w.Code, want, w.Body)
		}
		return w.Body.String()
	}
	put("PUT", "", `{"node_bits":1,"lease_window_ms":3600000}`, 201)
	var first gotLease
	check.OK(t, json.Unmarshal([]byte(put("POST", "/leases", `{"request":"first 0123456789"}`, 201)),
		&first))
	put("POST", "/leases", `{"request":"second 0123456789"}`, 201)
	waits := func(request string) net.Conn {
		conn := l.Dial("192.0.2.1:1")
		body := `{"request":"` + request + `","wait_ms":30000}`
		fmt.Fprintf(conn, "POST /v1/realms/orders/leases HTTP/1.1\r\nHost: localhost\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		synctest.Wait()
		return conn
	}
	begin := time.Now()
	conn := waits("third 0123456789")
	a := read(t)(http.ReadResponse(bufio.NewReader(conn), nil))
	if took := time.Since(begin); a.StatusCode != 503 || took < api.MaxWait ||
		took > api.MaxWait+2*time.Second {
		t.Errorf("%d after %v: %s", a.StatusCode, took, a.body)
	}
	conn.Close()

	gone := waits("fourth 0123456789")
	time.Sleep(time.Second)
	gone.Close()
	synctest.Wait()
	put("POST", "/leases/"+first.ID+"/release", fmt.Sprintf(`{"secret":%q,"last_time_ms":%d}`,
		first.Secret, time.Now().UnixMilli()), 204)
	time.Sleep(20 * time.Second)
	if list := put("GET", "", "", 200); !strings.Contains(list, `"held":1,`) {
		t.Errorf("after the hang-up: %s", list)
	}
	conn = waits("fifth 0123456789")
	defer conn.Close()
	if a := read(t)(http.ReadResponse(bufio.NewReader(conn), nil)); a.StatusCode != 201 {
		t.Errorf("%d: %s", a.StatusCode, a.body)
	}
}
