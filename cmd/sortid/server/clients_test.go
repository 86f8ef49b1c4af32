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
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/scru128"
)

func raw(t *testing.T, url, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn := check.Must(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	check.Must(io.WriteString(conn, text))(t)
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
	resp := check.Must(http.ReadResponse(in, nil))(t)
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
		"POST /v1/realms/orders/leases" + body,
		"POST /v1/ids/scru128" + body,
		"POST /v1/inspect" + body,
		"POST /nowhere" + body,
	} {
		begin := time.Now()
		conn := l.Dial("127.0.0.1:1")
		io.WriteString(conn, text)
		answer, err := io.ReadAll(conn)
		if took := time.Since(begin); err != nil || took > api.LineTimeout+time.Second {
			t.Errorf("%.40q: open for %v: %v\n%s", text, took, err, answer)
		}
		if bytes.Contains(answer, []byte("HTTP/1.1 5")) {
			t.Errorf("%.40q: %s", text, answer)
		}
		conn.Close()
	}
}

// endless is a long body. A reader also measures the memory.
type endless struct {
	left, read int     // bytes
	line       int     // bytes of each line; 0 means one line
	at         int     // bytes read of the current line
	most       *uint64 // the most memory measured
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
		*e.most = max(*e.most, heap())
	}
	return n, nil
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestEndlessBody(t *testing.T) {
	_, ts := start(t, Config{Store: lease.NewMemory()})
	closed := regexp.MustCompile("reset by peer|broken pipe|EOF|" + net.ErrClosed.Error())
	before := heap()
	most := before
	for _, c := range []struct {
		path string
		line int
		want string
	}{
		{"/v1/inspect", 0, "the body is longer than 67108864 bytes"},
		{"/v1/inspect", 1000, "the body is longer than 67108864 bytes"},
		{"/v1/realms/orders/leases", 0, "413"},
		{"/v1/ids/scru128", 0, ""},
		{"/nowhere", 0, "404"},
	} {
		r := check.Must(http.NewRequest(http.MethodPost, ts.URL+c.path,
			&endless{left: 1 << 40, line: c.line, most: &most}))(t)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			// The server may close the connection before it has read the body.
			if !closed.MatchString(err.Error()) {
				t.Errorf("%s: %v", c.path, err)
			}
			continue
		}
		var last, piece [4096]byte
		for n := 0; err == nil; {
			n, err = resp.Body.Read(piece[:])
			copy(last[copy(last[:], last[n:]):], piece[:n])
		}
		resp.Body.Close()
		if !strings.Contains(resp.Status+string(last[:]), c.want) {
			t.Errorf("%s: %s: %s, want %s", c.path, resp.Status, last[:], c.want)
		}
	}
	if most > before+16<<20 {
		t.Errorf("the server used %d MB of memory", (most-before)>>20)
	}
	if most == before {
		t.Error("the memory was not measured")
	}
}

// HTTP/2 works with TLS, and without TLS if the client begins with HTTP/2.
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
		a := read(t)(client.Get(url + "/v1/ids/scru128?n=10"))
		if a.ProtoMajor != 2 || strings.Count(a.body, "\n") != 10 {
			t.Errorf("%s: %s, %s", url, a.Proto, a.body)
		}
		body, feed := io.Pipe()
		go io.WriteString(feed, "xinaS8QBh\n")
		resp := check.Must(client.Post(url+"/v1/inspect", "text/plain", body))(t)
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

// Each request has a line in the log, with the request ID that the client gets.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	w := httptest.NewRecorder()
	r, _ := http.NewRequest(http.MethodGet, "http://localhost/v1/ids/scru12?n=1", nil)
	r.Header.Set("Authorization", "Bearer secret")
	s.ServeHTTP(w, r)
	var line struct {
		Request, Method, Path string
		Status                int
		Bytes                 int64
	}
	check.OK(t, json.Unmarshal(log.Bytes(), &line))
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

// If an error is not a problem document, the answer is 500, and only the log says why.
func TestFailure(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	s.mux.HandleFunc("/fails", func(w http.ResponseWriter, _ *http.Request) {
		api.Refuse(w, errors.New("the disk is full"))
	})
	for _, encoding := range []string{"", "gzip"} {
		log.Reset()
		w := ask(t.Context(), s, http.MethodGet, "/fails", "", "Accept-Encoding: "+encoding)
		if body := w.Body.String(); w.Code != http.StatusInternalServerError ||
			w.Header().Get("Content-Type") != "application/problem+json" ||
			!strings.Contains(body, "its log says more") || strings.Contains(body, "disk") {
			t.Errorf("%q: %d: %s", encoding, w.Code, body)
		}
		if text := log.String(); !strings.Contains(text, `"msg":"a request failed","request":"`+
			w.Header().Get("X-Request-Id")+`","error":"the disk is full"`) ||
			strings.Contains(text, "panic") {
			t.Errorf("%q: %s", encoding, text)
		}
	}
}

// Requests for unknown paths have the route "none" in the metrics, even if they are redirected.
func TestRouteOfUnknownPaths(t *testing.T) {
	s := newServer(t, Config{})
	for path, want := range map[string]int{"/nowhere": 404, "//nowhere": 307, "/a/../b": 307} {
		if w := ask(t.Context(), s, http.MethodGet, path, ""); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	metrics := ask(t.Context(), s, http.MethodGet, "/metrics", "").Body.String()
	for _, want := range []string{`{code="307",route="none"} 2`, `{code="404",route="none"} 1`} {
		if !strings.Contains(metrics, "sortid_requests_total"+want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

func serveTLS(t *testing.T, cert, key, clientCA string) (url string) {
	t.Helper()
	hs := newServer(t, Config{}).HTTPServer()
	hs.TLSConfig = check.Must(access.TLS(t.Context(), cert, key, clientCA, nil))(t)
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	go hs.ServeTLS(access.TLSListener(l), "", "")
	t.Cleanup(func() { hs.Close() })
	return "https://" + l.Addr().String()
}

func TestClientCA(t *testing.T) {
	cert, key := testserver.Certificate(t)
	url := serveTLS(t, cert, key, cert)
	other, otherKey := testserver.Certificate(t)
	for _, c := range []struct {
		cert, key string
		ok        bool
	}{{cert, key, true}, {other, otherKey, false}, {"", "", false}} {
		config := &tls.Config{InsecureSkipVerify: true}
		if c.cert != "" {
			pair := check.Must(tls.LoadX509KeyPair(c.cert, c.key))(t)
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return &pair, nil
			}
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		resp, err := client.Get(url + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != c.ok {
			t.Errorf("certificate %q: %v", c.cert, err)
		}
	}
}

func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	testserver.Long(t, "installs packages from npm")
	for _, program := range []string{"npm", "node"} {
		testserver.Program(t, program)
	}
	s, ts := start(t, Config{Store: lease.NewMemory()})
	waitReady(t, s)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"client.ts":    string(check.Must(os.ReadFile(filepath.Join("testdata", "client.ts")))(t)),
		"openapi.json": send(t, "GET", ts.URL+"/openapi.json", "").body,
		"package.json": `{"type":"module","private":true}`,
	} {
		check.Write(t, filepath.Join(dir, name), text)
	}
	run := func(name string, args ...string) ([]byte, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	}
	if out, err := run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefer-offline",
		"openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3",
		"@types/node@24.0.0"); err != nil {
		testserver.Missing(t,
			fmt.Sprintf("npm cannot install the generator of clients: %v\n%s", err, out),
			"connect to npm's registry")
	}
	bin := func(name string) string { return filepath.Join("node_modules", ".bin", name) }
	for _, command := range [][]string{
		{filepath.Join(dir, bin("openapi-typescript")), "openapi.json", "-o", "api.d.ts"},
		{filepath.Join(dir, bin("tsc")), "--strict", "--skipLibCheck", "--target", "es2022",
			"--module", "nodenext", "--noUncheckedIndexedAccess", "client.ts"},
		{"node", "client.js", ts.URL},
	} {
		if out, err := run(command[0], command[1:]...); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
}

// HTTP without TLS to a port with TLS gets a sentence, whatever the method is.
func TestPlainToTLS(t *testing.T) {
	cert, key := testserver.Certificate(t)
	url := strings.TrimPrefix(serveTLS(t, cert, key, ""), "https://")
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel() // the server waits a second for more of the request
			conn, in := raw(t, url, method+" /v1/realms/orders HTTP/1.1\r\nHost: localhost\r\n"+
				"Content-Length: 2\r\n\r\n{}")
			a := read(t)(http.ReadResponse(in, nil))
			if a.StatusCode != 400 || !strings.Contains(a.body, "needs HTTPS: begin the URL with https://") {
				t.Errorf("%d: %s", a.StatusCode, a.body)
			}
			if b, err := io.ReadAll(in); err != nil || len(b) > 0 {
				t.Errorf("the connection goes on: %q, %v", b, err)
			}
			conn.Close()
		})
	}
}
