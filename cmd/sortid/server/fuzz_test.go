package server

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/sortid/sortid/lease"
)

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

// No request makes the server fail: there is no status of 500 and above but 501 and 503.
func FuzzRequests(f *testing.F) {
	s, err := New(Config{Store: lease.NewMemory(), Inspect: inspect, Origins: []string{"https://example.com"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close(f.Context()) })
	for _, seed := range [][5]string{
		{"GET", "/v1/ids/scru128", "n=3&encoding=hex", "Accept: application/json;q=0.5, */*", ""},
		{"POST", "/v1/ids/scru64", "n=100000", "Accept-Encoding: gzip", ""},
		{"GET", "/v1/ids/euid", "encoding=uuid&n=-1", "Origin: https://example.com", ""},
		{"GET", "/v1/inspect/0372ijojuxuhjsfkeryi2mrtm", "format=scru128", "", ""},
		{"POST", "/v1/inspect", "", "Content-Type: text/plain", "xinaS8QBh\n\nnonsense\r\n\x00"},
		{"GET", "/v1/bounds/uid60", "from=-1h&to=2026-11-17T00:00:00Z", "", ""},
		{"POST", "/v1/store/get", "", "Content-Type: application/json", `{"realm":"scru64","blocks":["0/0","1/8"]}`},
		{"POST", "/v1/store/list", "", "", `{"realm":"scru64@0123456789abcdef"}`},
		{"POST", "/v1/store/realms", "", "", `{}`},
		{"POST", "/v1/store/time", "", "", `{}`},
		{"POST", "/v1/store/compare-and-set", "", "Content-Type: application/json",
			`{"changes":[{"prev":{"realm":"r","block":"1/8"},"next":{"realm":"r","block":"1/8","revision":"1","hwm":"18446744073709551615","state":"whole"}}]}`},
		{"OPTIONS", "/v1/ids/scru128", "", "Access-Control-Request-Method: GET\nOrigin: https://example.com", ""},
		{"HEAD", "/metrics", "", "Authorization: Bearer x", ""},
		{"CONNECT", "//v1/../v1//ids", "%zz", "Expect: 100-continue", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, method, path, query, headers, body string) {
		r, err := http.NewRequest(method, "http://localhost/", strings.NewReader(body))
		if err != nil {
			return // net/http does not pass such a request on
		}
		r.URL = &url.URL{Path: "/" + strings.TrimPrefix(path, "/"), RawQuery: query}
		r.RequestURI, r.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:1"
		for line := range strings.Lines(headers) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			r.Header.Add(name, value)
		}
		w := newRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != http.StatusServiceUnavailable && w.Code != http.StatusNotImplemented {
			t.Errorf("%s %s: %d: %s", method, r.URL, w.Code, w.Body)
		}
	})
}
