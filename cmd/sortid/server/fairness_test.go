package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/api"
)

// Clients that ask for too many scru64 IDs get only what other clients leave.
func TestGreedyClientsGetOnlyTheRest(t *testing.T) { inBubble(t, testGreedyClientsGetOnlyTheRest) }

func testGreedyClientsGetOnlyTheRest(t *testing.T) {
	s := virtual(t, Config{NodeBits: 8})
	const duration = 20 * time.Second
	// Empty the limit, so that it has no IDs from before the test.
	left := s.sources.Limit("scru64")
	left.AllowN(time.Now(), int(left.Tokens()))
	ctx, stop := context.WithTimeout(t.Context(), duration)
	defer stop()
	var made atomic.Int64
	var clients sync.WaitGroup
	for _, c := range []struct {
		addr           string
		connections, n int
		pause          time.Duration
		all            bool
	}{
		{addr: "192.0.2.1:1", connections: 20, n: 100_000, pause: time.Millisecond},
		{addr: "[2001:db8::1]:1", connections: 1, n: 100_000, pause: time.Millisecond},
		{addr: "192.0.2.3:1", connections: 300, n: 1000, pause: time.Millisecond},
		{addr: "192.0.2.4:1", connections: 1, n: 1, pause: 10 * time.Millisecond, all: true},
		{addr: "192.0.2.5:1", connections: 1, n: 10_000, pause: 200 * time.Millisecond, all: true},
	} {
		var asked, answered atomic.Int64
		path := fmt.Sprintf("/v1/ids/scru64?n=%d", c.n)
		for range c.connections {
			clients.Go(func() {
				for ctx.Err() == nil {
					asked.Add(1)
					w := askFrom(ctx, s, c.addr, "GET", path, strings.NewReader(""), nil)
					if w.Code == http.StatusOK {
						made.Add(int64(w.lines()))
						answered.Add(1)
					}
					time.Sleep(c.pause)
				}
			})
		}
		defer func() {
			t.Logf("%s, n=%d: %d of %d answered", c.addr, c.n, answered.Load(), asked.Load())
			if c.all && float64(answered.Load()) < 0.95*float64(asked.Load()) {
				t.Errorf("%s, n=%d: %d of %d requests answered, want 95%%", c.addr, c.n,
					answered.Load(), asked.Load())
			}
			if answered.Load() == 0 {
				t.Errorf("%s, n=%d: none answered", c.addr, c.n)
			}
		}()
	}
	clients.Wait()
	ticks := duration.Seconds() / 0.256
	share := float64(made.Load()) / (ticks * (1 << 16))
	t.Logf("all: %.3f of the format's limit", share)
	if share < 0.9 || share > 1 {
		t.Errorf("%.3f of the format's limit is used, want 0.9 to 1", share)
	}
}

// If one client sends all it can, clients with other addresses or tokens still get answers.
func TestClientsShareTheLimits(t *testing.T) { inBubble(t, testClientsShareTheLimits) }

func testClientsShareTheLimits(t *testing.T) {
	tokens, bearer := tokensOf(t, "greedy admin", "modest admin")
	for name, c := range map[string]struct {
		config         Config
		greedy, modest string // addresses
	}{
		"addresses":           {Config{}, "192.0.2.1:1", "192.0.2.2:1"},
		"IPv6":                {Config{}, "[2001:db8::1]:1", "[2001:db8:0:1::1]:1"},
		"tokens of one proxy": {Config{Tokens: tokens}, "127.0.0.1:1", "127.0.0.1:1"},
	} {
		c.config.Store = narrow()
		s := virtual(t, c.config)
		for _, kind := range []struct {
			gate                       *api.Gate
			method, path, body, modest string // body and modest: "" never arrives
		}{
			{s.gates.Requests, "GET", "/v1/ids/scru64", "-", ""},
			{s.gates.LargeAnswers, "GET", "/v1/ids/scru128?n=100000", "-", ""},
			{s.gates.LineBodies, "POST", "/v1/inspect", "", "xinaS8QBh\n"},
			{s.gates.Leases, "POST", "/v1/realms/scru64/leases", "",
				`{"request":"0123456789abcdef","node_bits":8}`},
			{s.gates.Lists, "GET", "/v1/realms/scru64/leases", "-", "-"},
		} {
			if kind.gate == s.gates.Requests { // without enough IDs, the requests wait
				left := s.sources.Limit("scru64")
				left.ReserveN(time.Now(), int(left.Tokens()))
				left.ReserveN(time.Now(), int(left.Limit()*9/10))
			}
			ctx, leave := context.WithCancel(t.Context())
			leaves := func() error { <-ctx.Done(); return ctx.Err() } // without the answer
			var all sync.WaitGroup
			most := free(kind.gate)
			for range most + 10 {
				all.Go(func() {
					defer func() { recover() }() // from http.ErrAbortHandler
					var body io.Reader = strings.NewReader(kind.body)
					if kind.body == "" {
						body = stalled{ctx}
					}
					askFrom(ctx, s, c.greedy, kind.method, kind.path, body, leaves,
						"Content-Type: application/json", bearer["greedy"])
				})
			}
			synctest.Wait()
			if n := most - free(kind.gate); n != most/2 {
				t.Errorf("%s: %s: one client has %d of %d requests under way", name, kind.path, n,
					most)
			}
			w := askFrom(t.Context(), s, c.modest, kind.method, kind.path,
				strings.NewReader(kind.modest), nil,
				"Content-Type: application/json", bearer["modest"])
			if w.Code != http.StatusOK && w.Code != http.StatusCreated {
				t.Errorf("%s: %s: another client: status %d, want 200: %s", name, kind.path, w.Code,
					w.Body)
			}
			leave()
			all.Wait()
			if n := most - free(kind.gate); n != 0 {
				t.Errorf("%s: %s: %d requests are still under way, want none", name, kind.path, n)
			}
		}
	}
}

// free returns how many places of gates are free. It takes all of them for a moment.
func free(gates ...*api.Gate) (places int) {
	for _, g := range gates {
		client := func(n int) string { return fmt.Sprint("free ", n) }
		n := 0
		for g.Enter(client(n)) {
			n++
		}
		for i := range n {
			g.Leave(client(i))
		}
		places += n
	}
	return places
}

type stalled struct{ ctx context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, io.ErrUnexpectedEOF
}

// A refused request uses nothing of a limit. After the time in Retry-After, the server answers.
func TestRefusalsCostNothing(t *testing.T) { inBubble(t, testRefusalsCostNothing) }

func testRefusalsCostNothing(t *testing.T) {
	tokens, headers := tokensOf(t, "one admin ids=1000")
	bearer := headers["one"]
	s := virtual(t, Config{Tokens: tokens})
	source := s.sources.Limit("scru64")
	mine := tokens.Find(bearer[len("Authorization: Bearer "):]).IDs
	spend := func(n int, path string) *reply {
		return ask(t.Context(), s, "GET", path+"?n="+strconv.Itoa(n), "", bearer)
	}
	expect := func(what string, status int, w *reply, ids, fromSource float64) {
		t.Helper()
		if w.Code != status {
			t.Fatalf("%s: status %d, want %d: %s", what, w.Code, status, w.Body)
		}
		now := time.Now()
		if got := mine.TokensAt(now); got != ids {
			t.Errorf("%s: the token has %v IDs left, want %v", what, got, ids)
		}
		if got := source.TokensAt(now); got != fromSource {
			t.Errorf("%s: scru64 has %v IDs left, want %v", what, got, fromSource)
		}
	}
	burst := float64(source.Burst())
	time.Sleep(time.Minute)
	expect("unknown encoding", 422, ask(t.Context(), s, "GET", "/v1/ids/scru64?n=5000&encoding=uuid",
		"", bearer), 100_000, burst)
	expect("not acceptable", 406, ask(t.Context(), s, "GET", "/v1/ids/scru64", "", bearer,
		"Accept: image/png"), 100_000, burst)
	expect("once", 200, spend(50_000, "/v1/ids/scru64"), 50_000, burst-50_000)
	w := spend(100_000, "/v1/ids/scru64")
	expect("the token's limit", 429, w, 50_000, burst-50_000)

	// Now other clients have taken all IDs.
	source.AllowN(time.Now(), int(burst)-50_000)
	source.ReserveN(time.Now(), int(source.Limit()))
	expect("scru64's limit", 503, spend(10_000, "/v1/ids/scru64"), 50_000,
		-float64(int(source.Limit())))
	w = spend(40_000, "/v1/ids/scru64")
	expect("scru64's limit", 503, w, 50_000, -float64(int(source.Limit())))
	expect("another format", 200, spend(1000, "/v1/ids/scru128"), 49_000,
		-float64(int(source.Limit())))
	expect("an inspected ID", 200, ask(t.Context(), s, "GET", "/v1/inspect/xinaS8QBh", "", bearer),
		48_999, -float64(int(source.Limit())))

	time.Sleep(w.retryAfter(t))
	if w := spend(40_000, "/v1/ids/scru64"); w.Code != http.StatusOK || w.lines() != 40_000 {
		t.Errorf("after Retry-After: status %d, want 200: %s", w.Code, w.Body)
	}
	w = spend(100_000, "/v1/ids/scru128")
	if w.Code != http.StatusTooManyRequests {
		t.Fatalf("with the limit used up: status %d, want 429", w.Code)
	}
	time.Sleep(w.retryAfter(t) - time.Second)
	if w := spend(100_000, "/v1/ids/scru128"); w.Code != http.StatusTooManyRequests {
		t.Errorf("a second before Retry-After: status %d, want 429", w.Code)
	}
	time.Sleep(time.Second)
	if w := spend(100_000, "/v1/ids/scru128"); w.Code != http.StatusOK {
		t.Errorf("after Retry-After: status %d, want 200: %s", w.Code, w.Body)
	}
}

// The limit of scru64 counts the IDs that /readyz makes, so the generator stays near the clock.
func TestProbesAreCharged(t *testing.T) { inBubble(t, testProbesAreCharged) }

func testProbesAreCharged(t *testing.T) {
	s := virtual(t, Config{NodeBits: 9})
	source := s.sources.Limit("scru64")
	for _, c := range []struct {
		pause time.Duration
		want  float64 // IDs
	}{{api.ReadyFor, 1000}, {api.ReadyFor / 10, 100}} {
		time.Sleep(time.Minute)
		cost := 0.0
		for range 1000 {
			before := source.Tokens()
			if w := ask(t.Context(), s, "GET", "/readyz", ""); w.Code != http.StatusOK {
				t.Fatalf("/readyz: status %d, want 200: %s", w.Code, w.Body)
			}
			cost += before - source.Tokens()
			time.Sleep(c.pause)
		}
		if cost < c.want-2 || cost > c.want+2 {
			t.Errorf("1000 probes, %v apart, cost %v IDs, want %v", c.pause, cost, c.want)
		}
	}
}

// The server reads lines to inspect as fast as the limit of the client's token allows.
func TestLinesAreLimited(t *testing.T) { inBubble(t, testLinesAreLimited) }

func testLinesAreLimited(t *testing.T) {
	tokens, headers := tokensOf(t, "one admin ids=1000")
	bearer := headers["one"]
	s := virtual(t, Config{Tokens: tokens})
	for name, c := range map[string]struct {
		line string
		cost int
	}{
		"good": {"xinaS8QBh\n", 1}, "bad": {"x\n", 1}, "blank": {"\n", 1},
		"long": {strings.Repeat("x", 6400-1) + "\n", 100},
	} {
		mine := tokens.Find(bearer[len("Authorization: Bearer "):]).IDs
		mine.AllowN(time.Now(), int(mine.Tokens()))
		begin := time.Now()
		const seconds = 20
		w := ask(t.Context(), s, "POST", "/v1/inspect", strings.Repeat(c.line, seconds*1000/c.cost),
			bearer)
		if took := time.Since(begin).Seconds(); w.Code != http.StatusOK || took < seconds-1 ||
			took > seconds+1 {
			t.Errorf("%s: %d after %v s, want %d s: %.200s", name, w.Code, took, seconds, w.Body)
		}
		if w := ask(t.Context(), s, "GET", "/v1/ids/euid?n=1000", "",
			bearer); w.Code != http.StatusTooManyRequests {
			t.Errorf("%s: a request for IDs beside the lines: status %d, want 200", name, w.Code)
		}
	}
}
