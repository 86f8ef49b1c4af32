package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/faulttest"
	"github.com/sortid/sortid/testserver"
)

const conditions = `{"conditions":["the disk keeps what it has synced"]}`

// serve opens a store on a server. Later requests go to answer, and serve returns their number.
func serve(t *testing.T, path string, answer http.HandlerFunc) (*Store, *atomic.Int32) {
	t.Helper()
	requests := new(atomic.Int32)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/conditions") {
			w.Write([]byte(conditions))
			return
		}
		requests.Add(1)
		answer(w, r)
	}))
	t.Cleanup(ts.Close)
	return faulttest.Open(t, Open, ts.URL+path), requests
}

func open(t *testing.T, status int, body string) (*Store, *atomic.Int32) {
	t.Helper()
	return serve(t, "/behind/a/proxy?token=secret", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		w.Write([]byte(body))
	})
}

func TestBadURLs(t *testing.T) {
	faulttest.BadURLs(t, Open, map[string]string{
		"http://":                             "",
		"http://a,b?token=secret":             "several hosts",
		"http://user:secret@a":                "a user or a password",
		"http://a?tokne=secret":               "tokne",
		"http://a?token=env:SORTID_NOT_THERE": "SORTID_NOT_THERE, which is not set",
		"https://a?token=secret&ca=nowhere":   "nowhere",
		"http://a:b:c?token=secret":           "",
		"http://a?token=secret&token=secret":  "",
		"ftp://a?token=secret%zz":             "",
	})
}

func TestServerText(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound,
		http.StatusUnprocessableEntity} {
		s, _ := open(t, status,
			`{"detail":"\u001b[2Jno\n\u009b1m","errors":[{"location":"\u202equery","message":"\u007fno"}]}`)
		_, err := s.Realms(t.Context())
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\n\u009b\u202e\x7f") ||
			!strings.Contains(err.Error(), `"\x1b[2Jno\n\u009b1m"`) {
			t.Errorf("%d: %q", status, err)
		}
	}
}

// An unreachable server is not a malformed URL, and the error does not contain the token.
func TestUnreachable(t *testing.T) {
	address := faulttest.Unreachable(t)
	err := faulttest.Patiently(t, 300*time.Millisecond, func(ctx context.Context) error {
		_, err := Open(ctx, "http://"+address+"?token=secret")
		return err
	}, "refused")
	if errors.Is(err, connect.ErrURL) {
		t.Errorf("%v", err)
	}
}

// Open waits for a server that is not ready, but not for a server that refuses the token.
func TestNotReady(t *testing.T) {
	for _, c := range []struct{ first, want int }{
		{http.StatusServiceUnavailable, 3}, {http.StatusBadGateway, 3},
		{http.StatusTooManyRequests, 3}, {http.StatusForbidden, 1},
	} {
		requests := 0
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests++; requests < 3 {
				w.WriteHeader(c.first)
				return
			}
			w.Write([]byte(conditions))
		}))
		s, err := Open(t.Context(), ts.URL)
		if err == nil {
			s.Close()
		}
		if requests != c.want || (err == nil) != (c.want == 3) {
			t.Errorf("%d: %d requests, %v", c.first, requests, err)
		}
		ts.Close()
	}
}

func TestRequest(t *testing.T) {
	t.Setenv("SORTID_TEST_TOKEN", "from the environment")
	var got *http.Request
	var body GetRequest
	const path = "/path?token=env:SORTID_TEST_TOKEN"
	s, _ := serve(t, path, func(w http.ResponseWriter, r *http.Request) {
		got = r
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		w.Write([]byte(`{"records":[{"realm":"orders","block":"42/8","state":"whole",
			"revision":"18446744073709551615","hwm":"9007199254740993"}]}`))
	})
	if c := s.Conditions(); len(c) != 1 || c[0] != "the disk keeps what it has synced" {
		t.Errorf("conditions: %q", c)
	}
	block := lease.Block{NodeID: 42, Size: 8}
	record, err := s.Get(t.Context(), "orders", block)
	if err != nil {
		t.Fatal(err)
	}
	if record.Revision != 1<<64-1 || record.HWM != 1<<53+1 {
		t.Errorf("%+v", record)
	}
	if got.Method != http.MethodPost || got.URL.Path != "/path/v1/store/get" ||
		got.Header.Get("Authorization") != "Bearer from the environment" ||
		got.Header.Get("Content-Type") != "application/json" || body.Realm != "orders" ||
		len(body.Blocks) != 1 || body.Blocks[0] != block {
		t.Errorf("%s %s %v %+v", got.Method, got.URL, got.Header, body)
	}
}

// Each unexpected answer is an error. The store does not repeat the request.
func TestAnswers(t *testing.T) {
	const record = `{"realm":"r","block":"1/8","revision":"1","hwm":"2","state":"whole"}`
	for name, c := range map[string]struct {
		status int
		body   string
		is     error
		want   string
	}{
		"no token": {401,
			`{"title":"Unauthorized","status":401,"detail":"a valid token is needed"}`, ErrAccess,
			"a valid token is needed"},
		"another realm": {403, `{"detail":"this token does not permit that"}`, ErrAccess,
			"does not permit"},
		"store is down": {503, `{"detail":"the store did not answer"}`, nil,
			"503: the store did not answer"},
		"too many": {429, `{"detail":"the token's limit"}`, nil, "429: the token's limit"},
		"invalid": {422, `{"detail":"invalid request",` +
			`"errors":[{"message":"0 changes","location":"body.changes"}]}`, nil,
			"body.changes: 0 changes"},
		"a proxy":   {502, `<html>Bad Gateway</html>`, nil, "502"},
		"no server": {404, `not found`, nil, "no sortid server"},
		"redirect":  {307, ``, nil, "307"},
		"moved":     {301, ``, nil, "301"},
		"nothing":   {200, ``, nil, "the server's answer"},
		"garbage":   {200, `<html>`, nil, "the server's answer"},
		"cut off":   {200, `{"records":[` + record, nil, "the server's answer"},
		"no record": {200, `{"records":[]}`, nil, "0 records, want 1"},
		"too many records": {200, `{"records":[` + record + `,` + record + `]}`, nil,
			"2 records, want 1"},
		"another block": {200, `{"records":[` + strings.Replace(record, "1/8", "2/8", 1) + `]}`,
			nil, "record of 2/8"},
		"of another realm": {200, `{"records":[` + strings.Replace(record, `"r"`, `"other"`, 1) +
			`]}`, nil, `realm "other"`},
		"a number too big": {200, `{"records":[` + strings.Replace(record, `"hwm":"2"`,
			`"hwm":"99999999999999999999"`, 1) + `]}`, nil, "the server's answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s, requests := open(t, c.status, c.body)
			_, err := s.Get(t.Context(), "r", lease.Block{NodeID: 1, Size: 8})
			faulttest.Says(t, err, c.want)
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v, want %v", err, c.is)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestNoTime(t *testing.T) {
	s, _ := open(t, 501, `{"detail":"the store has no clock"}`)
	if _, err := s.Time(t.Context()); !errors.Is(err, lease.ErrNoTime) {
		t.Errorf("%v", err)
	}
}

// A refusal is no error. Only a complete answer with true means that the change was made.
func TestRefused(t *testing.T) {
	for body, wantErr := range map[string]bool{`{"stored":false}`: false, `{}`: false,
		`{"stored":"true"}`: true, `{"stored":true`: true} {
		s, requests := open(t, 200, body)
		stored, err := s.CompareAndSet(t.Context(), lease.Record{Realm: "r"},
			lease.Record{Realm: "r", Revision: 1})
		if stored || (err != nil) != wantErr || requests.Load() != 1 {
			t.Errorf("%s: %v, %v, %d requests", body, stored, err, requests.Load())
		}
	}
}

func TestIllegal(t *testing.T) {
	s, requests := open(t, 422, `{"detail":"invalid request",`+
		`"errors":[{"message":"hwm is 5, want 7","location":"body.changes[0].next"}]}`)
	stored, err := s.CompareAndSet(t.Context(), lease.Record{Realm: "r"},
		lease.Record{Realm: "r", Revision: 1})
	if stored || !errors.Is(err, lease.ErrIllegal) ||
		!strings.Contains(err.Error(), "body.changes[0].next: hwm is 5, want 7") ||
		requests.Load() != 1 {
		t.Errorf("%v, %v, %d requests", stored, err, requests.Load())
	}
	if _, err := s.Get(t.Context(), "r", lease.Block{}); err == nil ||
		errors.Is(err, lease.ErrIllegal) {
		t.Errorf("get: %v", err)
	}
}

func TestLostAnswers(t *testing.T) {
	m := lease.NewMemory()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			GetRequest
			CompareAndSetRequest
		}
		var answer struct {
			ConditionsAnswer
			GetAnswer
			CompareAndSetAnswer
		}
		err := json.NewDecoder(r.Body).Decode(&request)
		if len(request.Blocks) > 0 && err == nil {
			answer.Records, err = m.GetMany(r.Context(), request.Realm, request.Blocks)
		}
		if len(request.Changes) > 0 && err == nil {
			changes := make([]lease.Change, len(request.Changes))
			for i, c := range request.Changes {
				changes[i] = lease.Change(c)
			}
			answer.Stored, err = m.CompareAndSetMany(r.Context(), changes)
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		json.NewEncoder(w).Encode(answer)
	}))
	defer ts.Close()
	faulttest.LostAnswers(t, Open, ts.URL)
}

func TestSlow(t *testing.T) {
	release := make(chan struct{})
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(conditions[:5]))
		http.NewResponseController(w).Flush()
		<-release
	}))
	defer ts.Close()
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, ts.URL); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestTLS(t *testing.T) {
	cert, key := testserver.Certificate(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(pem)
	ts := httptest.NewUnstartedServer(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(conditions)) }))
	ts.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: clients,
		ClientAuth: tls.RequireAndVerifyClientCert}
	ts.StartTLS()
	defer ts.Close()
	for _, c := range []struct {
		query url.Values
		ok    bool
	}{
		{url.Values{"ca": {cert}, "cert": {cert}, "key": {key}}, true},
		{url.Values{"ca": {cert}}, false},
		{url.Values{"cert": {cert}, "key": {key}}, false},
		{nil, false},
	} {
		s, err := Open(t.Context(), ts.URL+"?"+c.query.Encode())
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c.query, err)
		}
		if s != nil {
			s.Close()
		}
	}
}
