package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
)

// plainRequests are answered by a Listener, the others by an http.Server.
var plainRequests = []string{
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru64? HTTP/1.1\r\nHost: a.example.com:8420\r\n\r\n",
	"GET /v1/ids/uid60?n=1000 HTTP/1.1\r\nhost:[::1]:80\r\nuser-agent: x/1 (y; z)\r\nX-Thing: 1\r\nX-Thing: 2\r\n\r\n",
	"GET /v1/ids/scru160?n=16&form=hex HTTP/1.1\r\nHost: a\r\nACCEPT-ENCODING: gzip\r\nConnection: Keep-Alive\r\n\r\n",
	"GET /v1/ids/euid?form=uuid&n=2 HTTP/1.1\r\nHost: a\r\nAccept: application/json \r\n\r\n",
	"POST /v1/ids/scru128?n=4096 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encodings: none\r\n\r\n",
	"POST /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nAccept: text/*, */*;q=0.1\r\nAuthorization: Basic x\r\n\r\n",
}

var otherRequests = []string{
	"HEAD /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\n\r\n",
	"get /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.0\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.10\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128  HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET http://a/v1/ids/scru128 HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/ HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/ulid HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/%73cru128 HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128/ HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128?n=4097 HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128?n=0 HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128?n=3&n=4 HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru64?form=uuid HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128?n=17 HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nAccept: image/png\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nAccept: image/png\r\nAccept: text/plain\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nAccept:\r\nAccept: image/png\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nOrigin: https://example.com\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a b\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost : a\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nX: \xff\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nX: a\nContent-Length: 5\r\n\r\nhello",
	"GET /v1/ids/scru128 HTTP/1.1\nHost: a\n\n",
	"GET /v1/ids/scru128 HTTP/1.1\nHost: a\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\n\r\n",
	"POST /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
	"POST /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nContent-Length: 00\r\n\r\n",
	"POST /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 4\r\n\r\n",
	"POST /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nContent-Length: -0\r\n\r\n",
	"POST /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"POST /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
	"GET /v1/schemes HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 5000) + "\r\n\r\n",
	"GET /v1/ids/scru128 HTTP/1.1\r\nHost: a\r\n\r\n\r\n",
}

// keptConnections returns how many connections a Listener has passed to no http.Server.
func keptConnections(l *Listener) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kept)
}

// A Listener answers as an http.Server would, and has it answer what is not plain.
func TestPlain(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testPlain(t, Config{Store: lease.NewMemory()}) })
	t.Run("cors", func(t *testing.T) {
		testPlain(t, Config{Store: lease.NewMemory(), Origins: []string{"https://example.com"}})
	})
}

func testPlain(t *testing.T, config Config) {
	s, ts := start(t, config)
	waitReady(t, s)
	slow := httptest.NewUnstartedServer(nil)
	slow.Config = s.HTTPServer()
	slow.Start()
	defer slow.Close()
	check := func(text string, plain bool) {
		t.Helper()
		var responses [2]*http.Response
		var bodies [2]string
		for i, url := range []string{ts.URL, slow.URL} {
			c, in := raw(t, url, text)
			defer c.Close()
			method, _, _ := strings.Cut(text, " ")
			resp, err := http.ReadResponse(in, &http.Request{Method: method})
			if err != nil {
				t.Fatalf("%.100q: %v", text, err)
			}
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatalf("%.100q: %v", text, err)
			}
			responses[i], bodies[i] = resp, string(b)
			if i == 0 && (keptConnections(ts.Listener.(*Listener)) == 1) != plain {
				t.Errorf("%.100q: answered as a plain request: %t, want %t", text, !plain, plain)
			}
			c.Close()
		}
		got, want := responses[0], responses[1]
		if got.Status != want.Status || got.Proto != want.Proto || got.Close != want.Close || got.ContentLength != want.ContentLength ||
			!slices.Equal(got.TransferEncoding, want.TransferEncoding) {
			t.Errorf("%.100q:\ngot  %+v\nwant %+v", text, got, want)
		}
		for _, h := range []http.Header{got.Header, want.Header} {
			if len(h["X-Request-Id"]) == 1 {
				h.Set("X-Request-Id", "")
			}
			if at, err := http.ParseTime(h.Get("Date")); err == nil && time.Since(at).Abs() < time.Hour {
				h.Set("Date", "")
			}
		}
		if !maps.EqualFunc(got.Header, want.Header, slices.Equal) {
			t.Errorf("%.100q:\ngot  %v\nwant %v", text, got.Header, want.Header)
		}
		if len(bodies[0]) != len(bodies[1]) || got.StatusCode != http.StatusOK && bodies[0] != bodies[1] ||
			strings.Count(bodies[0], "\n") != strings.Count(bodies[1], "\n") {
			t.Errorf("%.100q: %.100q, want %.100q", text, bodies[0], bodies[1])
		}
		for i := 0; plain && keptConnections(ts.Listener.(*Listener)) > 0; i++ {
			if i == 1000 {
				t.Fatalf("%.100q: the connection is not forgotten", text)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	for _, text := range plainRequests {
		check(text, true)
	}
	for _, text := range otherRequests {
		check(text, false)
	}
}

// Plain and other requests follow each other on one connection, in pieces of any size.
func TestPlainSequence(t *testing.T) {
	s, ts := start(t, Config{Store: lease.NewMemory()})
	waitReady(t, s)
	plain, post, other := plainRequests[1], plainRequests[6], "GET /v1/schemes HTTP/1.1\r\nHost: a\r\n\r\n"
	var pieces []string // an empty one stands for an answer that is waited for
	for i := 1; i < len(plain); i++ {
		pieces = append(pieces, post, "", "\r\n", plain, "", post, "", "\r\n"+plain, "", plain, "", plain[:i], plain[i:], "", plain, "", plain+plain+plain[:i], "", "", plain[i:], "", other, "", plain, "")
		c, in := raw(t, ts.URL, "")
		for j, piece := range pieces {
			if piece != "" {
				if _, err := io.WriteString(c, piece); err != nil {
					t.Fatal(err)
				}
				continue
			}
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("in two after %d characters, piece %d: %v", i, j, err)
			}
			b, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusOK || len(b) < 13 {
				t.Errorf("in two after %d characters, piece %d: %s, %q, %v", i, j, resp.Status, b, err)
			}
		}
		c.Close()
		pieces = pieces[:0]
	}
}

// A client has its IDs before they are logged.
func TestAnswerBeforeLog(t *testing.T) {
	log := &waitingLog{Handler: slog.DiscardHandler, until: make(chan struct{})}
	_, ts := start(t, Config{Logger: slog.New(log)})
	for range 2 {
		_, in := raw(t, ts.URL, plainRequests[0])
		if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%+v, %v", resp, err)
		}
	}
	close(log.until)
	if err := ts.Listener.(*Listener).Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if log.late.Load() || log.lines.Load() != 2 {
		t.Errorf("%d lines; one waited in vain: %t", log.lines.Load(), log.late.Load())
	}
}

// A waitingLog takes no line before until is closed.
type waitingLog struct {
	slog.Handler
	until chan struct{}
	late  atomic.Bool
	lines atomic.Int32
}

func (l *waitingLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *waitingLog) Handle(_ context.Context, line slog.Record) error {
	if line.Message == "request" {
		l.lines.Add(1)
	}
	select {
	case <-l.until:
	case <-time.After(time.Minute):
		l.late.Store(true)
	}
	return nil
}

// Whatever parsePlain takes for a plain request is the same one for net/http.
func FuzzPlain(f *testing.F) {
	for _, text := range slices.Concat(plainRequests, otherRequests) {
		f.Add([]byte(text))
	}
	f.Add([]byte("\r\n" + plainRequests[0]))
	f.Add([]byte("\x16\x03\x01\r\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := parsePlain(text)
		if !ok {
			return
		}
		in := bufio.NewReader(bytes.NewReader(text))
		want, err := http.ReadRequest(in)
		if err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(in)
		h := want.Header
		if got.method != want.Method || got.path+"?"+got.query != want.URL.Path+"?"+want.URL.RawQuery && !strings.Contains(got.path, "%") ||
			want.ProtoMajor != 1 || want.ProtoMinor != 1 || want.ContentLength != 0 || want.TransferEncoding != nil || want.Close || want.Host == "" || len(rest) > 0 ||
			h.Get("Accept") != got.accept || h.Get("Accept-Encoding") != got.encoding || h.Get("Authorization") != got.authorization ||
			h.Get("Upgrade")+h.Get("Expect")+h.Get("Trailer")+h.Get("Origin") != "" {
			t.Errorf("%+v, net/http: %+v, and left %q", got, want, rest)
		}
	})
}

// pipes is a listener whose connections take nothing that is not read at once.
type pipes struct {
	net.Listener
	conns chan net.Conn
}

func (p *pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p *pipes) Close() error {
	close(p.conns)
	return nil
}

// Shutdown closes connections that wait for a request, waits for answers that are under
// way, and does not wait for ever.
func TestListenerShutdown(t *testing.T) {
	s, err := New(Config{Inspect: inspect})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	for _, patient := range []bool{true, false} {
		inner := &pipes{conns: make(chan net.Conn)}
		l := s.Listener(inner)
		connect := func() net.Conn {
			client, server := net.Pipe()
			inner.conns <- server
			client.SetDeadline(time.Now().Add(time.Minute))
			return client
		}
		silent, idle, busy := connect(), connect(), connect()
		for _, c := range []net.Conn{idle, busy} {
			if _, err := io.WriteString(c, plainRequests[0]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := http.ReadResponse(bufio.NewReader(idle), nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ended := make(chan error)
		go func() { ended <- l.Shutdown(ctx) }()
		for _, c := range []net.Conn{silent, idle} {
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("a connection that waits for a request is not closed: %v", err)
			}
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept: %v", err)
		}
		select {
		case err := <-ended:
			t.Errorf("Shutdown does not wait for an answer: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		if patient {
			b, err := io.ReadAll(busy)
			if !bytes.HasPrefix(b, []byte("HTTP/1.1 200 OK\r\n")) || err != nil {
				t.Errorf("the answer is %q, %v", b, err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			continue
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := busy.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the connection is not closed: %v", err)
		}
	}
}

// Shutdown waits for a connection that comes just then.
func TestListenerShutdownLate(t *testing.T) {
	s, err := New(Config{Inspect: inspect})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	inner := &late{pipes{conns: make(chan net.Conn, 1)}}
	l := s.Listener(inner)
	ended := make(chan error)
	go func() { ended <- l.Shutdown(t.Context()) }()
	<-l.closed
	select {
	case <-ended:
		t.Error("Shutdown did not wait for Accept")
	case <-time.After(50 * time.Millisecond):
	}
	client, server := net.Pipe()
	inner.conns <- server
	close(inner.conns)
	if err := <-ended; err != nil || keptConnections(l) != 0 {
		t.Errorf("%d connections, %v", keptConnections(l), err)
	}
	if _, err := client.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection is not closed: %v", err)
	}
}

// late is a listener that has another connection when it is closed.
type late struct{ pipes }

func (*late) Close() error { return nil }

// failing is a listener that fails before it has a connection.
type failing struct {
	net.Listener
	once sync.Once
}

func (f *failing) Accept() (c net.Conn, err error) {
	f.once.Do(func() { err = errors.New("too many open files") })
	if err != nil {
		return nil, err
	}
	return f.Listener.Accept()
}

// An error of the listener does not end it.
func TestListenerFails(t *testing.T) {
	s, err := New(Config{Inspect: inspect})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := s.Listener(&failing{Listener: inner})
	defer l.Shutdown(t.Context())
	if _, err := l.Accept(); err == nil || err.Error() != "too many open files" {
		t.Errorf("got %v", err)
	}
	_, in := raw(t, "http://"+inner.Addr().String(), plainRequests[0])
	if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%+v, %v", resp, err)
	}
	_, in = raw(t, "http://"+inner.Addr().String(), "GET / HTTP/1.1\r\n")
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if b, err := bufio.NewReader(c).ReadString('\n'); err != nil || b != "GET / HTTP/1.1\r\n" {
		t.Errorf("%q, %v", b, err)
	}
	// An http.Server closes one side first, so that the client gets the last answer.
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(in); err != nil || len(b) > 0 {
		t.Errorf("%q, %v", b, err)
	}
}
