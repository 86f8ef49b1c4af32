package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

func sendHost(t *testing.T, url, request string) answer {
	t.Helper()
	_, in := raw(t, url, request)
	return read(t)(http.ReadResponse(in, nil))
}

func checkProblem(t *testing.T, what string, a answer, status int) {
	t.Helper()
	var p api.Problem
	if a.StatusCode != status || a.Header.Get("Content-Type") != "application/problem+json" ||
		json.Unmarshal([]byte(a.body), &p) != nil || p.Status != status || p.Title == "" ||
		p.Detail == "" || p.Code == "" || p.Type != "/problems/"+string(p.Code) {
		t.Errorf("%s: %d, want the problem %d: %s", what, a.StatusCode, status, a.body)
	}
}

// If a web page's domain leads to the server, the page's requests name that domain as Host. Without
// tokens, the server refuses them.
func TestHosts(t *testing.T) {
	tokens, _ := tokensOf(t, "shop ids")
	open, plain := start(t, Config{Hosts: []string{"IDs.example.com", "fd00::1", "sortid:8420"}})
	guarded, _ := start(t, Config{Tokens: tokens})
	for host, served := range map[string]bool{
		"localhost": true, "localhost:8420": true, "LOCALHOST.": true, "LocalHost.:8420": true,
		"127.0.0.1": true, "127.0.0.1:8420": true, "127.0.0.1.": true, "127.9.9.9": true,
		"[::1]": true, "[::1]:8420": true, "[0:0::1]": true,
		"[::ffff:127.0.0.1]": true, "[::ffff:7f00:1]:8420": true,
		"ids.example.com": true, "IDS.Example.Com.:8420": true, "[fd00::1]:8420": true,
		"sortid": true,

		"": false, ":8420": false, ".": false,
		"evil.example": false, "evil.example:8420": false,
		"localhost.evil.example": false, "127.0.0.1.nip.io": false, "127.0.0.1.nip.io:8420": false,
		"xids.example.com": false, "ids.example.com.evil.example": false, "example.com": false,
		"localhost..": false, "127.1": false, "2130706433": false, "0x7f000001": false,
		"0.0.0.0": false, "0.0.0.0:8420": false, "[::]": false, "10.0.0.1": false,
		"[fd00::2]":         false,
		"[::ffff:10.0.0.1]": false, "localhost@evil.example": false,
		"evil.example@localhost":      false,
		"localhost:8420@evil.example": false, "127.0.0.1:8420@evil.example": false,
		"[::1]:8420@evil.example": false, "[::1].evil.example": false, "[localhost]": false,
		"[::1": false, "::1]:8420": false, "localhost:evil.example": false,
		"localhost,evil.example": false,
	} {
		request := "GET /v1/ids/euid HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"
		switch a := sendHost(t, plain.URL, request); {
		case strings.Contains(host, "@"): // net/http refuses such a host
			if a.StatusCode != http.StatusBadRequest {
				t.Errorf("%q: %d", host, a.StatusCode)
			}
		case served && a.StatusCode != http.StatusOK:
			t.Errorf("%q: %d: %s", host, a.StatusCode, a.body)
		case !served:
			checkProblem(t, fmt.Sprintf("%q", host), a, http.StatusMisdirectedRequest)
		}
		for _, path := range []string{"/", "/healthz", "/v1/ids/euid", "/openapi.json",
			"/nowhere"} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			open.ServeHTTP(w, r)
			if refused := w.Code == http.StatusMisdirectedRequest; refused == served {
				t.Errorf("%s of %q: %d", path, host, w.Code)
			}
			w = httptest.NewRecorder()
			if guarded.ServeHTTP(w, r); w.Code == http.StatusMisdirectedRequest {
				t.Errorf("with tokens, %s of %q: %d", path, host, w.Code)
			}
		}
	}
	// The host of an absolute URL counts, not the header Host.
	a := sendHost(t, plain.URL,
		"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	checkProblem(t, "an absolute URL", a, http.StatusMisdirectedRequest)
	if a := sendHost(t, plain.URL, "GET /healthz HTTP/1.0\r\n\r\n"); a.StatusCode != http.StatusOK {
		t.Errorf("no host: %d: %s", a.StatusCode, a.body)
	}
	a = sendHost(t, plain.URL, "GET /healthz HTTP/1.0\r\nHost: evil.example\r\n\r\n")
	checkProblem(t, "HTTP/1.0", a, http.StatusMisdirectedRequest)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, plain.URL+"/healthz", nil)
	r.Host = "evil.example"
	resp := check.Must(transport.RoundTrip(r))(t)
	resp.Body.Close()
	if resp.ProtoMajor != 2 || resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("%s: %d, want 421", resp.Proto, resp.StatusCode)
	}
}

// An address as the host must be loopback, or the address to which the client connects.
func TestHostIsLocalAddress(t *testing.T) {
	s, _ := start(t, Config{})
	for at, hosts := range map[string]map[string]int{
		"10.0.0.5:8420": {"10.0.0.5": 200, "10.0.0.5:8420": 200, "[::ffff:10.0.0.5]": 200,
			"10.0.0.6": 421, "0.0.0.0": 421},
		"[fd00::5]:80": {"[fd00::5]": 200, "[fd00:0::5]:80": 200, "[fd00::6]": 421,
			"10.0.0.5": 421},
		"[::ffff:10.0.0.5]:8420": {"10.0.0.5": 200},
		"[fe80::1%eth0]:8420":    {"[fe80::1]:8420": 200, "[fe80::2]:8420": 421},
	} {
		addr := check.Must(net.ResolveTCPAddr("tcp", at))(t)
		for host, want := range hosts {
			r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
			r.Host = host
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
				net.Addr(addr))))
			if w.Code != want {
				t.Errorf("%s at %s: %d, want %d", host, at, w.Code, want)
			}
		}
	}
}

func TestHostsAndOriginsChecked(t *testing.T) {
	for _, c := range []Config{
		{Hosts: []string{"http://ids.example.com"}}, {Hosts: []string{"*"}},
		{Hosts: []string{"*.example.com"}},
		{Hosts: []string{""}}, {Hosts: []string{"a b"}}, {Hosts: []string{"user@a"}},
		{Hosts: []string{"a/b"}},
		{Origins: []string{"example.com"}}, {Origins: []string{"https://example.com/path"}},
		{Origins: []string{""}},
	} {
		if err := c.Check(); err == nil {
			t.Errorf("%q, %q: no error", c.Hosts, c.Origins)
		}
		if s, err := New(c); err == nil {
			s.Close(t.Context())
			t.Errorf("%q, %q: New returns no error", c.Hosts, c.Origins)
		}
	}
	good := Config{Hosts: []string{"ids.example.com", "::1", "[fd00::1]:80"},
		Origins: []string{"*", "https://example.com:8443"}}
	check.OK(t, good.Check())
}

// Browsers send requests of pages of other origins, and only hide the answers. So the requests must
// change nothing.
func TestForeignPages(t *testing.T) {
	const (
		trusted = "https://trusted.example"
		cross   = "Sec-Fetch-Site: cross-site"
	)
	foreign := map[string][]string{
		"cross-site":          {cross, "Origin: https://evil.example"},
		"same-site":           {"Sec-Fetch-Site: same-site", "Origin: http://other.localhost"},
		"without an origin":   {cross},
		"a sandboxed page":    {cross, "Origin: null"},
		"an old browser":      {"Origin: https://evil.example"},
		"old, sandboxed":      {"Origin: null"},
		"old, another port":   {"Origin: http://127.0.0.1:1"},
		"like a trusted page": {"Origin: https://trusted.example.evil.example"},
		"another format":      {"Origin: http://trusted.example"},
	}
	friends := map[string][]string{
		"no browser":          nil,
		"its own page":        {"Sec-Fetch-Site: same-origin"},
		"typed by the user":   {"Sec-Fetch-Site: none"},
		"its own page, old":   {"Origin: http://SELF"},
		"a trusted page":      {cross, "Origin: " + trusted},
		"a trusted page, old": {"Origin: " + trusted},
	}
	requests := []struct{ method, path, body string }{
		{"PUT", "/v1/realms/made", `{"node_bits":8}`},
		{"POST", "/v1/realms/made/leases", `{"request":"0123456789abcdef"}`},
		{"GET", "/v1/realms/scru64/leases", ""},
		{"HEAD", "/v1/realms", ""},
		{"GET", "/v1/ids/euid", ""},
		{"HEAD", "/v1/ids/euid", ""},
		{"POST", "/v1/ids/euid", ""},
		{"POST", "/v1/inspect", "xinaS8QBh"},
	}
	for name, origins := range map[string][]string{"one origin": {trusted},
		"any origin": {trusted, "*"}} {
		t.Run(name, func(t *testing.T) {
			memory := lease.NewMemory()
			_, ts := start(t, Config{Store: memory, Origins: origins})
			made := func() bool {
				r := check.Must(memory.Get(t.Context(), "made", lease.Block{}))(t)
				return r.Revision != 0
			}
			for who, headers := range foreign {
				for _, c := range requests {
					// A form can send text/plain. For JSON, a browser first asks the server.
					for _, kind := range []string{api.TypeText, api.TypeJSON} {
						what := fmt.Sprintf("%s, %s %s, %s", who, c.method, c.path, kind)
						a := send(t, c.method, ts.URL+c.path, c.body,
							append(headers, "Content-Type: "+kind)...)
						switch {
						case name == "any origin" && !api.IsLeases(c.path):
							if a.StatusCode != http.StatusOK {
								t.Errorf("%s: %d: %s", what, a.StatusCode, a.body)
							}
						case c.method == http.MethodHead:
							if a.StatusCode != http.StatusForbidden {
								t.Errorf("%s: %d, want 403", what, a.StatusCode)
							}
						default:
							checkProblem(t, what, a, http.StatusForbidden)
						}
					}
				}
				for _, path := range []string{"/", "/healthz", "/openapi.json",
					"/v1/inspect/xinaS8QBh"} {
					if a := send(t, http.MethodGet, ts.URL+path, "",
						headers...); a.StatusCode != http.StatusOK {
						t.Errorf("%s, GET %s: %d", who, path, a.StatusCode)
					}
				}
			}
			if made() {
				t.Fatal("a foreign page has changed the store")
			}
			for who, headers := range friends {
				for _, c := range requests {
					if strings.HasPrefix(c.path, "/v1/realms/made") {
						continue
					}
					var own []string
					for _, h := range headers {
						self := strings.TrimPrefix(ts.URL, "http://")
						own = append(own, strings.ReplaceAll(h, "SELF", self))
					}
					a := send(t, c.method, ts.URL+c.path, c.body, own...)
					if a.StatusCode != http.StatusOK {
						t.Errorf("%s, %s %s: %d: %s", who, c.method, c.path, a.StatusCode, a.body)
					}
				}
			}
			// Programs send neither Origin nor Sec-Fetch-Site.
			if a := send(t, http.MethodPut, ts.URL+"/v1/realms/made",
				`{"node_bits":8}`); a.StatusCode != http.StatusCreated || !made() {
				t.Errorf("a program: %d: %s", a.StatusCode, a.body)
			}
		})
	}
}

// Only trusted pages may read answers or send JSON, and only under a name of the server.
func TestPreflight(t *testing.T) {
	_, ts := start(t, Config{Store: lease.NewMemory(),
		Origins: []string{"https://trusted.example"}})
	_, none := start(t, Config{})
	const trusted = "https://trusted.example"
	allows := func(url, method, path, origin, want string) {
		t.Helper()
		a := send(t, method, url+path, "", "Origin: "+origin, "Sec-Fetch-Site: cross-site",
			"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type")
		if got := a.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s %s: allowed %q, want %q", method, origin, got, want)
		}
	}
	for origin, want := range map[string]string{trusted: trusted, "https://evil.example": "",
		"null": ""} {
		allows(ts.URL, http.MethodOptions, "/v1/realms/made", origin, want)
		allows(ts.URL, http.MethodGet, "/v1/inspect/xinaS8QBh", origin, want)
		allows(none.URL, http.MethodGet, "/v1/inspect/xinaS8QBh", origin, "")
	}
	a := sendHost(t, ts.URL,
		"OPTIONS /v1/ids/euid HTTP/1.1\r\nHost: evil.example\r\nOrigin: https://trusted.example\r\n"+
			"Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n")
	checkProblem(t, "for a foreign host", a, http.StatusMisdirectedRequest)
}

func TestPagePolicy(t *testing.T) {
	const policy = "default-src 'none'; frame-ancestors 'none'"
	_, ts := start(t, Config{Page: []byte("<!doctype html>"), PagePolicy: policy})
	a := send(t, http.MethodGet, ts.URL+"/", "")
	if got := a.Header.Get("Content-Security-Policy"); got != policy ||
		a.body != "<!doctype html>" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%q, %q, %v", got, a.body, a.Header)
	}
}
