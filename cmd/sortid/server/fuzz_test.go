package server

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

type seed [5]string

var seeds = []seed{
	{"GET", "/v1/ids/scru128", "n=3&encoding=hex", "Accept: application/json;q=0.5, */*", ""},
	{"POST", "/v1/ids/scru64", "n=100000", "Accept-Encoding: gzip", ""},
	{"HEAD", "/v1/ids/scru64", "n=3&encoding=int", "Accept: application/json", ""},
	{"POST", "/v1/ids/uid60", "n=2000", "Accept: application/json\nAccept-Encoding: gzip", ""},
	{"GET", "/v1/ids/euid", "encoding=uuid&n=-1", "Origin: https://example.com", ""},
	{"GET", "/v1/inspect/0372ijojuxuhjsfkeryi2mrtm", "format=scru128", "", ""},
	{"POST", "/v1/inspect", "", "Content-Type: text/plain", "xinaS8QBh\n\nnonsense\r\n\x00"},
	{"GET", "/v1/bounds/uid60", "from=-1h&to=2026-11-17T00:00:00Z", "", ""},
	{"GET", "/v1/formats", "", "Accept-Encoding: gzip", ""},
	{"GET", "/healthz", "", "", ""},
	{"GET", "/readyz", "", "", ""},
	{"GET", "/", "", "Host: example.com", ""},
	{"GET", "/openapi.json", "", "Accept-Encoding: gzip", ""},
	{"GET", "/v1/realms", "after=a&limit=2", "Origin: https://example.com", ""},
	{"PUT", "/v1/realms/orders", "", "Content-Type: application/json",
		`{"format":"scru64","node_bits":8,"lease_window_ms":60000,"lead_ms":null}`},
	{"PUT", "/v1/realms/a%2Fb", "", "Content-Type: application/json", `{"node_bits":1}`},
	{"PATCH", "/v1/realms/scru64", "", "Content-Type: application/json", `{"lead_ms":20000}`},
	{"GET", "/v1/realms/scru64", "", "", ""},
	{"GET", "/v1/realms/scru64/leases", "limit=1000", "Accept-Encoding: gzip", ""},
	{"POST", "/v1/realms/scru64/leases", "", "Content-Type: application/json",
		`{"request":"0123456789abcdef","node_bits":8,"node_id":3,"holder":"x","time_ms":1e3}`},
	{"POST", "/v1/realms/scru64/leases", "", "Content-Type: application/json",
		`{"request":"0123456789abcdef","node_bits":8,"wait_ms":0}`},
	{"POST", "/v1/realms/scru64/leases/x/renew", "", "Content-Type: application/json",
		`{"secret":"x","end_tick":9007199254740991,"renewal":"r"}`},
	{"POST", "/v1/realms/scru64/leases/x/release", "", "Content-Type: application/json",
		`{"secret":"x","last_time_ms":0}`},
	{"POST", "/v1/realms/scru64/leases/x/evict", "", "", ""},
	{"OPTIONS", "/v1/ids/scru128", "",
		"Access-Control-Request-Method: GET\nOrigin: https://example.com", ""},
	{"GET", "/metrics", "", "Authorization: Bearer x", ""},
	{"HEAD", "/metrics", "", "Authorization: Bearer x", ""},
	{"CONNECT", "//v1/../v1//ids", "%zz", "Expect: 100-continue", ""},
}

func (s seed) request() *http.Request {
	r, err := http.NewRequest(s[0], "http://localhost/", strings.NewReader(s[4]))
	if err != nil {
		return nil
	}
	r.URL = &url.URL{Path: "/" + strings.TrimPrefix(s[1], "/"), RawQuery: s[2]}
	r.RequestURI, r.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:1"
	for line := range strings.Lines(s[3]) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		r.Header.Add(name, value)
	}
	return r
}

// No request gets a status of 5xx, except 501 and 503. Errors are problem documents, HEAD is
// like GET, and no ID comes twice.
func FuzzRequests(f *testing.F) {
	s, err := New(Config{Store: lease.NewMemory(), NodeBits: 1,
		Origins: []string{"https://example.com"}})
	check.OK(f, err)
	f.Cleanup(func() { s.Close(f.Context()) })
	checkSeeds(f, s)
	for _, seed := range seeds {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	last := map[string]format.ID{}
	f.Fuzz(func(t *testing.T, method, path, query, headers, body string) {
		given := seed{method, path, query, headers, body}
		r := given.request()
		if r == nil {
			return
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		checkAnswer(t, r, w, last)
		if method != http.MethodGet && method != http.MethodHead {
			return
		}
		given[0] = map[string]string{http.MethodGet: http.MethodHead,
			http.MethodHead: http.MethodGet}[method]
		other, w2 := given.request(), httptest.NewRecorder()
		s.ServeHTTP(w2, other)
		checkAnswer(t, other, w2, last)
		compareHead(t, r, w, w2)
	})
}

func checkSeeds(f *testing.F, s *Server) {
	seen := map[string]bool{}
	for _, seed := range seeds {
		_, pattern := s.mux.Handler(seed.request())
		seen[pattern] = true
	}
	for path, item := range s.config.describe()["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			if pattern := strings.ToUpper(method) + " " + path; !seen[pattern] {
				f.Errorf("no seed for %s", pattern)
			}
		}
	}
}

func checkAnswer(t *testing.T, r *http.Request, w *httptest.ResponseRecorder,
	last map[string]format.ID) {
	t.Helper()
	body := w.Body.Bytes()
	if w.Header().Get("Content-Encoding") == "gzip" {
		in, err := gzip.NewReader(w.Body)
		if err == nil {
			body, err = io.ReadAll(in)
		}
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
	}
	switch {
	case w.Code >= 500 && w.Code != http.StatusServiceUnavailable &&
		w.Code != http.StatusNotImplemented:
		t.Errorf("%s %s: %d: %s", r.Method, r.URL, w.Code, body)
	case w.Code >= 400:
		var p struct{ Status int }
		err := json.Unmarshal(body, &p)
		if err != nil || p.Status != w.Code ||
			w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d, but no problem: %v, %s: %s", r.Method, r.URL, w.Code, err,
				w.Header().Get("Content-Type"), body)
		}
	case w.Code == http.StatusOK:
		checkNew(t, r, body, last)
	}
}

// checkNew checks that each ID in body is above all earlier IDs. It returns the number of IDs.
func checkNew(t *testing.T, r *http.Request, body []byte, last map[string]format.ID) int {
	t.Helper()
	name, ok := strings.CutPrefix(r.URL.Path, api.IDsPath)
	sch, err := format.Lookup(name)
	if !ok || err != nil {
		return 0
	}
	encoding := format.Encoding(cmp.Or(r.URL.Query().Get("encoding"), string(format.Text)))
	texts := strings.Fields(string(body))
	if strings.HasPrefix(string(body), "{") {
		var list struct {
			Format string
			IDs    []string
		}
		if err := json.Unmarshal(body, &list); err != nil || list.Format != name {
			t.Errorf("%s: %q, %v", r.URL, list.Format, err)
		}
		texts = list.IDs
	}
	for _, text := range texts {
		id := check.Must(sch.ParseAs(encoding, text))(t)
		if before, ok := last[name]; ok && id.Compare(before) <= 0 {
			t.Fatalf("%s after %s", id, before)
		}
		last[name] = id
	}
	return len(texts)
}

// compareHead compares the answers to GET and HEAD, except for compression and readiness.
func compareHead(t *testing.T, r *http.Request, a, b *httptest.ResponseRecorder) {
	t.Helper()
	if a.Code == http.StatusServiceUnavailable || b.Code == http.StatusServiceUnavailable {
		return
	}
	for _, w := range []*httptest.ResponseRecorder{a, b} {
		w.Header().Del("X-Request-Id")
		w.Header().Del("Content-Encoding")
	}
	if a.Code != b.Code || !maps.EqualFunc(a.Header(), b.Header(), slices.Equal) {
		t.Errorf("%s: GET and HEAD differ: %d %v and %d %v", r.URL, a.Code, a.Header(), b.Code,
			b.Header())
	}
}
