package server

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/testserver"
)

func raw(t *testing.T, url, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func TestManyHeaders(t *testing.T) {
	_, ts := start(t, Config{})
	conn, in := raw(t, ts.URL, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
	go func() {
		for i := range 1_000_000 {
			if _, err := fmt.Fprintf(conn, "X-Header-%d: 0123456789\r\n", i); err != nil {
				return
			}
		}
	}()
	resp, err := http.ReadResponse(in, nil)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%s", resp.Status)
	}
}

func TestSlowClients(t *testing.T) { inBubble(t, testSlowClients) }

func testSlowClients(t *testing.T) {
	l := serveVirtual(t, virtual(t, Config{}))
	const body = " HTTP/1.1\r\nHost: localhost\r\n" +
		"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	for _, text := range []string{
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
		"POST /v1/store/get" + body,
		"POST /v1/ids/scru128" + body,
		"POST /v1/inspect" + body,
		"POST /nowhere" + body,
	} {
		begin := time.Now()
		conn := l.dial()
		io.WriteString(conn, text)
		answer, err := io.ReadAll(conn)
		if took := time.Since(begin); err != nil || took > lineTimeout+time.Second {
			t.Errorf("%.40q: open for %v: %v\n%s", text, took, err, answer)
		}
		if bytes.Contains(answer, []byte("HTTP/1.1 5")) {
			t.Errorf("%.40q: %s", text, answer)
		}
		conn.Close()
	}
}

// endless is a body of left bytes in lines of line bytes, or in one line if that is 0. It
// measures the memory.
type endless struct {
	left, line, at int
	read           int
	most           *uint64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range n {
		p[i] = 'x'
		if e.at++; e.at == e.line {
			p[i], e.at = '\n', 0
		}
	}
	e.left -= n
	const look = 15 << 20
	if e.read += n; e.read/look != (e.read-n)/look {
		*e.most = max(*e.most, inUse())
	}
	return n, nil
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestEndlessBody(t *testing.T) {
	_, ts := start(t, Config{Store: lease.NewMemory()})
	before := inUse()
	most := before
	for _, c := range []struct {
		path string
		line int
		want string
	}{
		{"/v1/inspect", 0, "the body is longer than 67108864 bytes"},
		{"/v1/inspect", 1000, "the body is longer than 67108864 bytes"},
		{"/v1/store/get", 0, "413"},
		{"/v1/ids/scru128", 0, ""},
		{"/nowhere", 0, "404"},
	} {
		r, err := http.NewRequest(http.MethodPost, ts.URL+c.path,
			&endless{left: 1 << 40, line: c.line, most: &most})
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			// The server closed the connection while the client wrote.
			if !strings.Contains(err.Error(), "reset by peer") && !strings.Contains(err.Error(),
				"broken pipe") && !strings.Contains(err.Error(), "EOF") && !errors.Is(err,
				net.ErrClosed) {
				t.Errorf("%s: %v", c.path, err)
			}
			continue
		}
		last := make([]byte, 0, 4096)
		piece := make([]byte, 4096)
		for {
			n, err := resp.Body.Read(piece)
			last = append(last, piece[:n]...)
			last = last[max(0, len(last)-1000):]
			if err != nil {
				break
			}
		}
		resp.Body.Close()
		if !strings.Contains(resp.Status+string(last), c.want) {
			t.Errorf("%s: %s: %s, want %s", c.path, resp.Status, last, c.want)
		}
	}
	if most > before+16<<20 {
		t.Errorf("the server used %d MB of memory", (most-before)>>20)
	}
	if most == before {
		t.Error("the memory was not measured")
	}
}

// HTTP/2 works with TLS, and without TLS if the client starts with it.
func TestHTTP2(t *testing.T) {
	_, plain := start(t, Config{})
	cert, key := testserver.Certificate(t)
	for _, url := range []string{plain.URL, serveTLS(t, cert, key, "")} {
		protocols := new(http.Protocols)
		protocols.SetHTTP2(true)
		protocols.SetUnencryptedHTTP2(true)
		client := &http.Client{Timeout: 2 * time.Minute,
			Transport: &http.Transport{Protocols: protocols,
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		resp, err := client.Get(url + "/v1/ids/scru128?n=10")
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.ProtoMajor != 2 || bytes.Count(b, []byte("\n")) != 10 {
			t.Errorf("%s: %s, %s", url, resp.Proto, b)
		}
		body, feed := io.Pipe()
		go io.WriteString(feed, "xinaS8QBh\n")
		resp, err = client.Post(url+"/v1/inspect", "text/plain", body)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		answers := bufio.NewScanner(resp.Body)
		for i := range 3 {
			if i > 0 {
				io.WriteString(feed, "xinaS8QBh\n")
			}
			if !answers.Scan() || !strings.Contains(answers.Text(), "uid60") {
				t.Errorf("%s: %q, %v", url, answers.Text(), answers.Err())
			}
		}
		feed.Close()
		resp.Body.Close()
		client.CloseIdleConnections()
	}
}

// Each request has a line in the log, with the ID that the client gets.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	w := newRecorder()
	r, _ := http.NewRequest(http.MethodGet, "http://localhost/v1/ids/scru12?n=1", nil)
	r.Header.Set("Authorization", "Bearer secret")
	s.ServeHTTP(w, r)
	var line struct {
		Request, Method, Path string
		Status                int
		Bytes                 int64
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, &log)
	}
	id, err := scru128.Parse(line.Request)
	if err != nil || line.Request != w.Header().Get("X-Request-Id") ||
		time.Since(id.Time()).Abs() > time.Minute {
		t.Errorf("request ID %q, %v", line.Request, err)
	}
	if line.Method != "GET" || line.Path != "/v1/ids/scru12" || line.Status != 422 ||
		line.Bytes != int64(w.Body.Len()) || bytes.Contains(log.Bytes(), []byte("secret")) {
		t.Errorf("%s", &log)
	}
}
