package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/lease"
)

// inBubble runs a test in virtual time, of years in which all formats have IDs.
func inBubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)))
		test(t)
	})
}

// virtual returns a ready server in the time of a synctest bubble. The server has one node ID
// of scru64.
func virtual(t *testing.T, c Config) *Server {
	t.Helper()
	c.Inspect, c.Formats, c.clock = inspect, formats(t), time.Now
	if c.Store == nil {
		c.Store = lease.NewMemory()
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	waitReady(t, s)
	return s
}

// A reply is what a client sees of an answer. Of the body it has the beginning.
type reply struct {
	status, lines int
	header        http.Header
	body          strings.Builder
	onWrite       func() // called before each write
}

func (r *reply) Header() http.Header { return r.header }

func (r *reply) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *reply) Write(b []byte) (int, error) {
	if r.onWrite != nil {
		r.onWrite()
	}
	r.WriteHeader(http.StatusOK)
	r.lines += strings.Count(string(b), "\n")
	if r.body.Len() < 10_000 {
		r.body.Write(b)
	}
	return len(b), nil
}

func (r *reply) retryAfter(t *testing.T) time.Duration {
	t.Helper()
	n, err := strconv.Atoi(r.header.Get("Retry-After"))
	if err != nil || n < 1 {
		t.Fatalf("status %d with Retry-After %q: %s", r.status, r.header.Get("Retry-After"), &r.body)
	}
	return time.Duration(n) * time.Second
}

// ask sends a request without a network. A header is "Name: value".
func ask(ctx context.Context, s *Server, method, path, body string, headers ...string) *reply {
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		panic(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := &reply{header: http.Header{}}
	s.ServeHTTP(w, r)
	return w
}

// limited returns a file's token and its Authorization header.
func limited(t *testing.T, requests, ids int) (*Tokens, string) {
	t.Helper()
	text, line, err := NewToken("one", []string{permitAdmin}, requests, ids)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokens")
	if err := AppendToken(path, line); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	tokens, err := OpenTokens(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tokens, "Authorization: Bearer " + text
}

// Clients that want more IDs of scru64 than there are do not keep them from others, and get
// what is left.
func TestGreedyClients(t *testing.T) { inBubble(t, testGreedyClients) }

func testGreedyClients(t *testing.T) {
	s := virtual(t, Config{NodeBits: 8})
	const duration = 20 * time.Second
	// What was saved up before is not for the limit.
	for ask(t.Context(), s, "GET", "/v1/ids/scru64?n=100000", "").status == http.StatusOK {
	}
	ctx, stop := context.WithTimeout(t.Context(), duration)
	defer stop()
	var made atomic.Int64
	var greedy sync.WaitGroup
	for range 2 {
		greedy.Go(func() {
			for ctx.Err() == nil {
				if w := ask(ctx, s, "POST", "/v1/ids/scru64?n=100000", ""); w.status == http.StatusOK {
					made.Add(int64(w.lines))
				}
				time.Sleep(time.Millisecond) // a round trip
			}
		})
	}
	asked, answered := 0, 0
	for ctx.Err() == nil {
		asked++
		if w := ask(ctx, s, "GET", "/v1/ids/scru64", ""); w.status == http.StatusOK && w.lines == 1 {
			answered++
			made.Add(1)
		}
		time.Sleep(10 * time.Millisecond)
	}
	greedy.Wait()
	ticks := duration.Seconds() / 0.256
	share := float64(made.Load()) / (ticks * (1 << 16))
	t.Logf("the modest client: %d of %d answered; all: %.3f of the format's limit", answered, asked, share)
	if float64(answered) < 0.95*float64(asked) {
		t.Errorf("the modest client: %d of %d requests answered", answered, asked)
	}
	if share < 0.9 || share > 1 {
		t.Errorf("%.3f of the format's limit is used", share)
	}
}

// A request that is refused costs no IDs, neither its token nor the others; and one that
// comes when Retry-After says so is answered.
func TestRefusalsCostNothing(t *testing.T) { inBubble(t, testRefusalsCostNothing) }

func testRefusalsCostNothing(t *testing.T) {
	tokens, bearer := limited(t, 0, 1000)
	s := virtual(t, Config{Tokens: tokens})
	source := s.generators.byName["scru64"].limit
	mine := tokens.entries[0].ids
	spend := func(n int, path string) *reply {
		return ask(t.Context(), s, "GET", path+"?n="+strconv.Itoa(n), "", bearer)
	}
	check := func(what string, status int, w *reply, ids, fromSource float64) {
		t.Helper()
		if w.status != status {
			t.Fatalf("%s: %d, want %d: %s", what, w.status, status, &w.body)
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
	check("unknown encoding", 422, ask(t.Context(), s, "GET", "/v1/ids/scru64?n=5000&encoding=uuid", "", bearer), 100_000, burst)
	check("not acceptable", 406, ask(t.Context(), s, "GET", "/v1/ids/scru64", "", bearer, "Accept: image/png"), 100_000, burst)
	check("once", 200, spend(50_000, "/v1/ids/scru64"), 50_000, burst-50_000)
	w := spend(100_000, "/v1/ids/scru64")
	check("the token's limit", 429, w, 50_000, burst-50_000)

	// Others take what scru64 yields, and this token is refused without a charge.
	source.AllowN(time.Now(), int(burst)-50_000)
	check("scru64's limit", 503, spend(10_000, "/v1/ids/scru64"), 50_000, 0)
	w = spend(40_000, "/v1/ids/scru64")
	check("scru64's limit", 503, w, 50_000, 0)
	check("another format", 200, spend(1000, "/v1/ids/scru128"), 49_000, 0)

	time.Sleep(w.retryAfter(t))
	if w := spend(40_000, "/v1/ids/scru64"); w.status != http.StatusOK || w.lines != 40_000 {
		t.Errorf("after Retry-After: %d: %s", w.status, &w.body)
	}
	w = spend(100_000, "/v1/ids/scru128")
	if w.status != http.StatusTooManyRequests {
		t.Fatalf("%d, want 429", w.status)
	}
	time.Sleep(w.retryAfter(t) - time.Second)
	if w := spend(100_000, "/v1/ids/scru128"); w.status != http.StatusTooManyRequests {
		t.Errorf("a second before Retry-After: %d, want 429", w.status)
	}
	time.Sleep(time.Second)
	if w := spend(100_000, "/v1/ids/scru128"); w.status != http.StatusOK {
		t.Errorf("after Retry-After: %d: %s", w.status, &w.body)
	}
}

// Probes need no token. What they make is taken from the source's limit, so that any number
// of them leaves the generator near the clock.
func TestProbesAreCharged(t *testing.T) { inBubble(t, testProbesAreCharged) }

func testProbesAreCharged(t *testing.T) {
	s := virtual(t, Config{NodeBits: 9})
	source := s.generators.byName["scru64"].limit
	source.AllowN(time.Now(), int(source.Tokens()))
	before, begin := source.Tokens(), time.Now()
	for range 1000 {
		if w := ask(t.Context(), s, "GET", "/readyz", ""); w.status != http.StatusOK {
			t.Fatalf("%d: %s", w.status, &w.body)
		}
	}
	came := float64(source.Limit()) * time.Since(begin).Seconds()
	if got := before + came - source.Tokens(); got < 999 || got > 1001 {
		t.Errorf("1000 probes cost %v IDs", got)
	}
}

// Requests that their clients break off do not make the server unready, and probes among
// them do not either.
func TestAbortedRequests(t *testing.T) { inBubble(t, testAbortedRequests) }

func testAbortedRequests(t *testing.T) {
	s := virtual(t, Config{})
	gone, leave := context.WithCancel(t.Context())
	leave()
	for i := range 50 {
		for _, path := range []string{"/readyz", "/v1/ids/scru64?n=2000", "/v1/ids/uid60?n=2000", "/metrics"} {
			abandon(gone, s, path)
		}
		if w := ask(t.Context(), s, "GET", "/readyz", ""); w.status != http.StatusOK {
			t.Fatalf("after %d aborted requests of each kind: %d: %s", i+1, w.status, &w.body)
		}
	}
	if n := len(s.requests) + len(s.largeAnswers); n != 0 {
		t.Errorf("%d requests are still under way", n)
	}
}

// abandon sends a request whose client leaves. The answer may break off.
func abandon(gone context.Context, s *Server, path string) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	ask(gone, s, "GET", path, "")
}

// A narrow store has two connections, as databases' stores have, and calls wait in turn
// for one. Each call takes a while; a list of the realm "hangs" ends only with its context.
type narrow struct {
	lease.Store
	connections gate
	lists       atomic.Int64 // that have begun
}

func (n *narrow) call(ctx context.Context, d time.Duration) error {
	if err := n.connections.wait(ctx); err != nil {
		return err
	}
	defer n.connections.leave()
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

const callTime = 100 * time.Millisecond

func (n *narrow) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	if err := n.call(ctx, callTime); err != nil {
		return lease.Record{}, err
	}
	return n.Store.Get(ctx, realm, b)
}

func (n *narrow) GetMany(ctx context.Context, realm string, b []lease.Block) ([]lease.Record, error) {
	if err := n.call(ctx, callTime); err != nil {
		return nil, err
	}
	return n.Store.GetMany(ctx, realm, b)
}

func (n *narrow) CompareAndSetMany(ctx context.Context, changes []lease.Change) (bool, error) {
	if err := n.call(ctx, callTime); err != nil {
		return false, err
	}
	return n.Store.CompareAndSetMany(ctx, changes)
}

func (n *narrow) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	return n.CompareAndSetMany(ctx, []lease.Change{{Prev: prev, Next: next}})
}

func (n *narrow) List(ctx context.Context, realm string) ([]lease.Record, error) {
	d := callTime
	if realm == "hangs" {
		n.lists.Add(1)
		d = time.Hour
	}
	if err := n.call(ctx, d); err != nil {
		return nil, err
	}
	return n.Store.List(ctx, realm)
}

func (n *narrow) Time(ctx context.Context) (time.Time, error) {
	if err := n.call(ctx, callTime); err != nil {
		return time.Time{}, err
	}
	return time.Now(), nil
}

// Lists that take as long as they may, and as many other requests of the store as may wait,
// keep the server neither from renewing its leases nor other clients from the store.
func TestStoreHammered(t *testing.T) { inBubble(t, testStoreHammered) }

func testStoreHammered(t *testing.T) {
	store := &narrow{Store: lease.NewMemory(), connections: newGate(2)}
	s := virtual(t, Config{Store: store})
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	var refused, listed, read atomic.Int64
	var hammering sync.WaitGroup
	hammer := func(path, body string, done *atomic.Int64) {
		hammering.Go(func() {
			for ctx.Err() == nil {
				w := ask(ctx, s, "POST", "/v1/store/"+path, body, "Content-Type: application/json")
				switch {
				case w.status == http.StatusOK:
					done.Add(1)
				case w.status == http.StatusServiceUnavailable && ctx.Err() == nil:
					refused.Add(1)
					time.Sleep(w.retryAfter(t))
				case ctx.Err() == nil:
					t.Errorf("%s: %d: %s", path, w.status, &w.body)
					return
				}
			}
		})
	}
	for range 200 {
		hammer("list", `{"realm":"hangs"}`, &listed)
	}
	for range 200 {
		hammer("get", `{"realm":"scru64","blocks":["0/0"]}`, &read)
	}
	for ctx.Err() == nil {
		for _, path := range []string{"/v1/ids/scru64", "/v1/ids/uid60"} {
			if w := ask(t.Context(), s, "GET", path, ""); w.status != http.StatusOK {
				t.Fatalf("%s: %d: %s", path, w.status, &w.body)
			}
		}
		time.Sleep(time.Second)
	}
	hammering.Wait()
	t.Logf("%d lists begun, %d reads answered, %d refused", store.lists.Load(), read.Load(), refused.Load())
	if store.lists.Load() == 0 || read.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d lists begun, %d reads answered, %d refused: want some of each", store.lists.Load(), read.Load(), refused.Load())
	}
}

// A pipeListener accepts the ends of connections in memory.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (l *pipeListener) dial() net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	return client
}

// serveVirtual serves on connections in memory.
func serveVirtual(t *testing.T, s *Server) *pipeListener {
	l, hs := newPipeListener(), s.HTTPServer()
	go hs.Serve(l)
	t.Cleanup(func() { hs.Close() })
	return l
}

// No more connections are accepted than may be, and one more for each that ends.
func TestLimit(t *testing.T) { inBubble(t, testLimit) }

func testLimit(t *testing.T) {
	pipes := newPipeListener()
	defer pipes.Close()
	l := Limit(pipes)
	accepted := make(chan net.Conn, 2*maxConnections)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	for range maxConnections + 10 {
		go func() {
			client, server := net.Pipe()
			defer client.Close()
			select {
			case pipes.conns <- server:
			case <-pipes.closed:
			}
		}()
	}
	for want := maxConnections; want < maxConnections+3; want++ {
		synctest.Wait()
		if got := len(accepted); got != maxConnections {
			t.Fatalf("%d connections, want %d", got, maxConnections)
		}
		(<-accepted).Close()
	}
}

// Lines that come byte by byte end with the time of a body.
func TestTrickledLines(t *testing.T) { inBubble(t, testTrickledLines) }

func testTrickledLines(t *testing.T) {
	s := virtual(t, Config{})
	conn := serveVirtual(t, s).dial()
	defer conn.Close()
	begin := time.Now()
	io.WriteString(conn, "POST /v1/inspect HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
	var writing sync.WaitGroup
	writing.Go(func() {
		for {
			if _, err := io.WriteString(conn, "x"); err != nil {
				return
			}
			time.Sleep(lineTimeout / 2)
		}
	})
	answer, err := io.ReadAll(conn)
	took := time.Since(begin)
	writing.Wait()
	if err != nil || took < linesTimeout || took > linesTimeout+lineTimeout {
		t.Errorf("it ends after %v, want %v: %v", took, linesTimeout, err)
	}
	if !strings.Contains(string(answer), "so the rest was not read") {
		t.Errorf("%s", answer)
	}
	if n := len(s.lineBodies); n != 0 {
		t.Errorf("%d bodies are still under way", n)
	}
}

// An answer that its client does not read, or reads a little of, ends.
func TestUnreadAnswersEnd(t *testing.T) { inBubble(t, testUnreadAnswersEnd) }

func testUnreadAnswersEnd(t *testing.T) {
	s := virtual(t, Config{})
	l := serveVirtual(t, s)
	for _, c := range []struct {
		request string
		read    int // of the answer, before the client stops
		gate    gate
	}{
		{"GET /v1/ids/scru128?n=100000", 0, s.largeAnswers},
		{"GET /v1/ids/scru128?n=100000", 100_000, s.largeAnswers},
		{"GET /v1/ids/scru128", 0, s.requests},
		{"GET /openapi.json", 1, s.requests},
	} {
		conn := l.dial()
		io.WriteString(conn, c.request+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if _, err := io.CopyN(io.Discard, conn, int64(c.read)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		// A small answer is in a buffer when its handler ends; net/http ends the connection.
		time.Sleep(writeTimeout + time.Second)
		synctest.Wait()
		if n := len(c.gate) + len(s.requests); n != 0 {
			t.Errorf("%s: it is held %v after the client stopped", c.request, writeTimeout)
		}
		if n, err := io.Copy(io.Discard, conn); err != nil || n > 64<<10 {
			t.Errorf("%s: the connection goes on: %d bytes, %v", c.request, n, err)
		}
		conn.Close()
	}
}

// Lines of a token with a limit are read as fast as the limit allows, whatever they are.
func TestLinesAreLimited(t *testing.T) { inBubble(t, testLinesAreLimited) }

func testLinesAreLimited(t *testing.T) {
	tokens, bearer := limited(t, 0, 1000)
	s := virtual(t, Config{Tokens: tokens})
	for name, c := range map[string]struct {
		line string
		cost int
	}{
		"good": {"xinaS8QBh\n", 1}, "bad": {"x\n", 1}, "blank": {"\n", 1}, "long": {strings.Repeat("x", 6400-1) + "\n", 100},
	} {
		ids := tokens.entries[0].ids
		ids.AllowN(time.Now(), int(ids.Tokens()))
		begin := time.Now()
		const seconds = 20
		w := ask(t.Context(), s, "POST", "/v1/inspect", strings.Repeat(c.line, seconds*1000/c.cost), bearer)
		w.WriteHeader(http.StatusOK) // unless there was nothing to answer
		if took := time.Since(begin).Seconds(); w.status != http.StatusOK || took < seconds-1 || took > seconds+1 {
			t.Errorf("%s: %d after %v s, want %d s: %.200s", name, w.status, took, seconds, &w.body)
		}
		if w := ask(t.Context(), s, "GET", "/v1/ids/euid?n=1000", "", bearer); w.status != http.StatusTooManyRequests {
			t.Errorf("%s: IDs beside the lines: %d", name, w.status)
		}
	}
}
