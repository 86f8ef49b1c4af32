package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http/wire"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/faulttest"
)

const realmJSON = `{"name":"orders","format":"scru64","lease_window_ms":60000,"lead_ms":10000,
	"tick_ms":256,"tick_epoch_ms":0,"guarantee":"none","conditions":["the disk syncs"],
	"held":3,"waiting":2,"free":251,"free_share":0.98}`

const realmsJSON = `{"realms":[` + realmJSON + `],"next":null}`

const leaseJSON = `{"id":"abc","secret":"s3cret","realm":"orders","format":"scru64","node_id":42,
	"node_bits":8,"node_spec":"42/8","holder":"me","valid_from":"x","valid_from_ms":25600000,
	"renew_at_ms":25620000,"valid_until_ms":25660160,"starts_in_ms":3,"valid_for_ms":60160,
	"server_time_ms":25600001,"first_tick":100000,"end_tick":100235,"tick_ms":256,"tick_epoch_ms":0}`

// serve opens a client of a server. Requests after the first go to answer, and serve returns their
// number.
func serve(t *testing.T, path string, answer http.HandlerFunc) (*Client, *atomic.Int32) {
	t.Helper()
	requests, opened := new(atomic.Int32), new(atomic.Bool)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if opened.CompareAndSwap(false, true) {
			w.Write([]byte(realmsJSON))
			return
		}
		requests.Add(1)
		answer(w, r)
	}))
	t.Cleanup(ts.Close)
	return faulttest.Open(t, Open, ts.URL+path), requests
}

func open(t *testing.T, status int, body string) (*Client, *atomic.Int32) {
	t.Helper()
	return serve(t, "/behind/a/proxy?token=hunter2", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		w.Write([]byte(body))
	})
}

func acquire(t *testing.T, c *Client) (lease.Grant, error) {
	return c.Acquire(t.Context(), "orders", lease.AcquireRequest{Request: "0123456789abcdef",
		NodeBits: 8, NodeID: -1})
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
	for _, c := range []struct {
		status int
		code   string
	}{{403, "not-allowed"}, {404, "no-realm"}, {404, ""}, {422, "invalid"}, {500, ""}, {400, "x"}} {
		s, _ := open(t, c.status, `{"code":"`+c.code+
			`","detail":"\u001b[2Jno\n\u009b1m","errors":[{"field":"\u202eq","detail":"\u007fno"}]}`)
		_, err := acquire(t, s)
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\n\u009b\u202e\x7f") ||
			!strings.Contains(err.Error(), `"\x1b[2Jno\n\u009b1m"`) {
			t.Errorf("%v: %q", c, err)
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
	for _, c := range []struct {
		first, want int
		header      string
	}{
		{http.StatusServiceUnavailable, 3, ""}, {http.StatusBadGateway, 3, ""},
		{http.StatusTooManyRequests, 3, "1"}, {http.StatusForbidden, 1, ""},
		{http.StatusNotFound, 1, ""},
	} {
		requests, began := 0, time.Now()
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests++; requests < 3 {
				w.Header().Set("Retry-After", c.header)
				w.WriteHeader(c.first)
				return
			}
			w.Write([]byte(realmsJSON))
		}))
		s, err := Open(t.Context(), ts.URL)
		if err == nil {
			s.Close()
		}
		if requests != c.want || (err == nil) != (c.want == 3) {
			t.Errorf("%d: %d requests, %v", c.first, requests, err)
		}
		if took := time.Since(began); c.header != "" && took < 2*time.Second {
			t.Errorf("%d: three requests in %v, although Retry-After is %s s", c.first, took,
				c.header)
		}
		ts.Close()
	}
}

// If a server has too many clients, Open leaves it alone.
func TestCrowd(t *testing.T) {
	requests := 0
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"code":"limit","detail":"too many"}`))
	}))
	defer ts.Close()
	s := faulttest.Open(t, Open, ts.URL)
	if c := s.Conditions(); requests != 1 || c != nil {
		t.Errorf("%d requests, conditions %q", requests, c)
	}
	_, err := acquire(t, s)
	if e := (*Error)(nil); !errors.As(err, &e) || e.RetryAfter() != time.Minute || requests != 2 {
		t.Errorf("%v, %d requests", err, requests)
	}
}

// Each method sends exactly its request, and reads its answer.
func TestRequests(t *testing.T) {
	t.Setenv("SORTID_TEST_TOKEN", "from the environment")
	at := time.UnixMilli(25_600_007)
	scru64 := lease.Terms{Bits: 23, Tick: 256, Format: "scru64", Window: 235, Lead: 40}
	info := lease.RealmInfo{Name: "orders", Terms: scru64, Held: 3, Waiting: 2, Free: 251,
		FreeShare: 0.98}
	grant := lease.Grant{ID: "abc", Secret: "s3cret", Realm: "orders", Format: "scru64",
		Block: lease.Block{NodeID: 42, Size: 8}, Holder: "me", FirstTick: 100000, EndTick: 100235,
		Tick: 256 * time.Millisecond, Epoch: time.UnixMilli(0),
		RenewAt: time.UnixMilli(25_620_000).UTC(), StartsIn: 3 * time.Millisecond,
		ValidFor: 60160 * time.Millisecond, ServerTime: time.UnixMilli(25_600_001).UTC()}
	repeated := grant
	repeated.Repeated = true
	plain := info
	plain.Terms = lease.Terms{Bits: 10, Only: 10, Tick: 1, Window: 60000, Lead: 10000}
	plain.Name = "a/b c"
	row := lease.Holding{ID: "abc", Block: grant.Block, Holder: "me", State: lease.Held,
		Since: time.UnixMilli(1).UTC(), Until: time.UnixMilli(2).UTC(),
		FreeFrom: time.UnixMilli(3).UTC()}
	type result = []any
	for name, c := range map[string]struct {
		call       func(ctx context.Context, c *Client) (result, error)
		method     string
		path, body string
		status     int
		answer     string
		want       result
	}{
		"acquire anything": {func(ctx context.Context, c *Client) (result, error) {
			g, err := c.Acquire(ctx, "orders", lease.AcquireRequest{Request: "r", NodeID: -1})
			return result{g}, err
		}, "POST", "/v1/realms/orders/leases", `{"request":"r"}`, 201, leaseJSON, result{grant}},
		"acquire, with all": {func(ctx context.Context, c *Client) (result, error) {
			g, err := c.Acquire(ctx, "orders", lease.AcquireRequest{Request: "r", NodeBits: 8,
				NodeID: 0, Holder: "me", Window: 1500*time.Millisecond + 1, Wait: time.Second,
				Time: at})
			return result{g}, err
		}, "POST", "/v1/realms/orders/leases", `{"request":"r","node_bits":8,"node_id":0,` +
			`"holder":"me","lease_window_ms":1501,"wait_ms":1000,"time_ms":25600007}`, 200,
			leaseJSON, result{repeated}},
		"renew": {func(ctx context.Context, c *Client) (result, error) {
			g, err := c.Renew(ctx, "orders", "a/c", lease.RenewRequest{Secret: "s", EndTick: 7,
				Renewal: "n", Time: at})
			return result{g}, err
		}, "POST", "/v1/realms/orders/leases/a%2Fc/renew",
			`{"secret":"s","end_tick":7,"renewal":"n","time_ms":25600007}`, 200, leaseJSON,
			result{grant}},
		"release": {func(ctx context.Context, c *Client) (result, error) {
			return nil, c.Release(ctx, "orders", "abc", lease.ReleaseRequest{Secret: "s", EndTick: 7,
				LastTime: at})
		}, "POST", "/v1/realms/orders/leases/abc/release",
			`{"secret":"s","end_tick":7,"last_time_ms":25600007}`, 204, "", nil},
		"release, last time unknown": {func(ctx context.Context, c *Client) (result, error) {
			return nil, c.Release(ctx, "orders", "abc", lease.ReleaseRequest{Secret: "s"})
		}, "POST", "/v1/realms/orders/leases/abc/release", `{"secret":"s"}`, 204, "", nil},
		"evict": {func(ctx context.Context, c *Client) (result, error) {
			return nil, c.Evict(ctx, "orders", "abc")
		}, "POST", "/v1/realms/orders/leases/abc/evict", ``, 204, "", nil},
		"holdings": {func(ctx context.Context, c *Client) (result, error) {
			rows, next, err := c.Holdings(ctx, "orders", "7/8 &", 100)
			return result{rows, next}, err
		}, "GET", "/v1/realms/orders/leases?after=7%2F8+%26&limit=100", ``, 200,
			`{"leases":[{"id":"abc","node_id":42,"node_bits":8,"holder":"me","state":"held",` +
				`"since_ms":1,"valid_until_ms":2,"free_from_ms":3}],"next":"42/8"}`,
			result{[]lease.Holding{row}, "42/8"}},
		"create": {func(ctx context.Context, c *Client) (result, error) {
			r, made, err := c.CreateRealm(ctx, lease.Config{Realm: "orders", Format: lease.SCRU64(),
				Window: time.Minute, MaxLead: time.Second})
			return result{r, made}, err
		}, "PUT", "/v1/realms/orders", `{"format":"scru64","lease_window_ms":60000,"lead_ms":1000}`,
			201, realmJSON, result{info, true}},
		"create what exists": {func(ctx context.Context, c *Client) (result, error) {
			r, made, err := c.CreateRealm(ctx, lease.Config{Realm: "a/b c", NodeBits: 10})
			return result{r, made}, err
		}, "PUT", "/v1/realms/a%2Fb%20c", `{"node_bits":10}`, 200,
			`{"name":"a/b c","node_bits":10,"lease_window_ms":60000,"lead_ms":10000,"tick_ms":1,` +
				`"held":3,"waiting":2,"free":251,"free_share":0.98}`, result{plain, false}},
		"set": {func(ctx context.Context, c *Client) (result, error) {
			r, err := c.SetRealm(ctx, "orders", lease.TermsChange{Window: time.Minute, Force: true})
			return result{r}, err
		}, "PATCH", "/v1/realms/orders", `{"lease_window_ms":60000,"force":true}`, 200, realmJSON, result{info}},
		"realm": {func(ctx context.Context, c *Client) (result, error) {
			r, err := c.Realm(ctx, "orders")
			return result{r}, err
		}, "GET", "/v1/realms/orders", ``, 200, realmJSON, result{info}},
		"realms": {func(ctx context.Context, c *Client) (result, error) {
			r, next, err := c.Realms(ctx, nil, "", 5)
			return result{r, next}, err
		}, "GET", "/v1/realms?limit=5", ``, 200, realmsJSON,
			result{[]lease.RealmInfo{info}, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var got *http.Request
			var body []byte
			s, _ := serve(t, "/path?token=env:SORTID_TEST_TOKEN",
				func(w http.ResponseWriter, r *http.Request) {
					got = r
					body, _ = io.ReadAll(r.Body)
					w.WriteHeader(c.status)
					w.Write([]byte(c.answer))
				})
			result, err := c.call(t.Context(), s)
			if err != nil || !reflect.DeepEqual(result, c.want) {
				t.Errorf("got  %+v, %v\nwant %+v", result, err, c.want)
			}
			if got.Method != c.method || got.RequestURI != "/path"+c.path ||
				string(body) != c.body {
				t.Errorf("got  %s %s %s\nwant %s /path%s %s", got.Method, got.RequestURI, body,
					c.method, c.path, c.body)
			}
			want := http.Header{"Authorization": {"Bearer from the environment"},
				"Accept": {"application/json"}, "Idempotency-Key": nil, "Content-Type": nil}
			if c.body != "" {
				want.Set("Content-Type", "application/json")
			}
			for name, values := range want {
				if !slices.Equal(got.Header[name], values) {
					t.Errorf("header %s: got %q, want %q", name, got.Header[name], values)
				}
			}
			if c := s.Conditions(); !slices.Equal(c, []string{"the disk syncs"}) {
				t.Errorf("conditions: %q", c)
			}
		})
	}
}

// Each code of the server is an error of package lease. The client sends the request once.
func TestCodes(t *testing.T) {
	all := []error{lease.ErrNoRealm, lease.ErrNotFound, lease.ErrFull, lease.ErrRealm,
		lease.ErrRequestDiffers, lease.ErrTooManyRealms, lease.ErrForgotten, lease.ErrLost,
		lease.ErrConfig, lease.ErrClock, lease.ErrBusy, ErrAccess}
	for code, c := range map[string]struct {
		status int
		more   string // members of the problem
		after  string // Retry-After
		is     error
		text   string // after the detail
	}{
		"no-realm":          {404, ``, "", lease.ErrNoRealm, ""},
		"not-found":         {404, ``, "", lease.ErrNotFound, ""},
		"node-held":         {409, `"holder":"you","state":"held"`, "7", lease.ErrFull, ""},
		"realm-differs":     {409, ``, "", lease.ErrRealm, ""},
		"request-differs":   {409, ``, "", lease.ErrRequestDiffers, ""},
		"too-many-realms":   {409, ``, "", lease.ErrTooManyRealms, ""},
		"forgotten":         {409, ``, "", lease.ErrForgotten, ""},
		"lease-lost":        {410, ``, "", lease.ErrLost, ""},
		"method":            {405, ``, "", nil, ""},
		"too-large":         {413, ``, "", nil, ""},
		"content-type":      {415, ``, "", nil, ""},
		"invalid":           {422, `"errors":[{"field":"wait_ms","detail":"30001"}]`, "", lease.ErrConfig, ": wait_ms: 30001"},
		"clock-differs":     {422, `"difference_ms":-12345`, "", lease.ErrClock, ""},
		"no-token":          {401, ``, "", ErrAccess, ""},
		"not-allowed":       {403, `"realm":"orders","token":"t"`, "", ErrAccess, ""},
		"limit":             {429, ``, "2", lease.ErrBusy, ""},
		"none-free":         {503, `"free_from_ms":3`, "4", lease.ErrFull, ""},
		"store-unavailable": {503, ``, "1", nil, ""},
		"another-day":       {418, ``, "", nil, ""},
	} {
		t.Run(code, func(t *testing.T) {
			more := c.more
			if more != "" {
				more += ","
			}
			s, requests := serve(t, "?token=secret", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/problem+json")
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status)
				fmt.Fprintf(w, `{%s"type":"/problems/%s","code":"%s","status":%d,"detail":"do this"}`,
					more, code, code, c.status)
			})
			_, err := acquire(t, s)
			for _, e := range all {
				if errors.Is(err, e) != (e == c.is) {
					t.Errorf("%v: it matches %v: %v", err, e, errors.Is(err, e))
				}
			}
			e := (*Error)(nil)
			if !errors.As(err, &e) || e.Code != code || e.Status != c.status ||
				fmt.Sprint(int(e.RetryAfter().Seconds())) != strings.Replace("0"+c.after, "0", "",
					len(c.after)) || !strings.HasSuffix(err.Error(), "do this"+c.text) {
				t.Errorf("got %+v: %v", e, err)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// The errors have what the server says.
func TestErrorMembers(t *testing.T) {
	s, _ := open(t, 409, `{"code":"node-held","detail":"x","holder":"you","state":"waiting",
		"valid_until_ms":5,"free_from_ms":6}`)
	_, err := s.Acquire(t.Context(), "orders", lease.AcquireRequest{NodeBits: 8, NodeID: 42})
	held, want := (*lease.HeldError)(nil), lease.HeldError{Realm: "orders", Holding: lease.Holding{
		Block: lease.Block{NodeID: 42, Size: 8}, Holder: "you", State: lease.Waiting,
		Until: time.UnixMilli(5).UTC(), FreeFrom: time.UnixMilli(6).UTC()}}
	if !errors.As(err, &held) || *held != want {
		t.Errorf("got %+v, want %+v", held, want)
	}
	s, _ = open(t, 422, `{"code":"clock-differs","detail":"x","difference_ms":-12345}`)
	_, err = acquire(t, s)
	if clock := (*lease.ClockError)(nil); !errors.As(err, &clock) ||
		clock.Difference != -12345*time.Millisecond {
		t.Errorf("%+v", clock)
	}
	s, _ = open(t, 503, `{"code":"none-free","detail":"x","free_from_ms":6}`)
	_, err = acquire(t, s)
	if full := (*lease.FullError)(nil); !errors.As(err, &full) || full.Realm != "orders" ||
		full.Size != 8 || !full.From.Equal(time.UnixMilli(6)) {
		t.Errorf("%+v", full)
	}
	s, _ = open(t, 422, `{"code":"invalid","detail":"x","errors":[{"field":"a","detail":"b"}]}`)
	_, err = acquire(t, s)
	if wrong := (*lease.RequestError)(nil); !errors.As(err, &wrong) || wrong.Field != "a" ||
		wrong.Detail != "b" {
		t.Errorf("%+v", wrong)
	}
}

// Each unexpected answer is an error, and none says that the lease was lost. The client does not
// repeat the request.
func TestAnswers(t *testing.T) {
	with := func(old, new string) string {
		return faulttest.Replace(t, leaseJSON, old, new)
	}
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"a proxy":          {502, `<html>Bad Gateway</html>`, "502"},
		"a proxy's 410":    {410, `<html>Gone</html>`, "410"},
		"a proxy's 409":    {409, `{"detail":"conflict"}`, "409: conflict"},
		"no server":        {404, `not found`, "no sortid server"},
		"redirect":         {307, ``, "redirects are not followed"},
		"moved":            {301, ``, "redirects are not followed"},
		"no access":        {403, `<html>`, "403"},
		"nothing":          {200, ``, "the server's answer"},
		"no content":       {204, ``, "the server's answer"},
		"garbage":          {200, `<html>`, "the server's answer"},
		"cut off":          {200, leaseJSON[:200], "the server's answer"},
		"empty":            {200, `{}`, "makes no sense"},
		"too long":         {200, `{"id":"` + strings.Repeat("x", maxAnswer) + `"}`, "longer than"},
		"another realm":    {200, with(`"orders"`, `"other"`), `realm "other"`},
		"no id":            {200, with(`"abc"`, `""`), "no id"},
		"no secret":        {200, with(`"s3cret"`, `""`), "no secret"},
		"a long secret":    {200, with(`s3cret`, strings.Repeat("s", 513)), "long secret"},
		"a wrong node ID":  {200, with(`"node_id":42`, `"node_id":256`), "node ID 256 of 8 bits"},
		"negative node ID": {200, with(`"node_id":42`, `"node_id":-1`), "node ID -1"},
		"25 bits":          {200, with(`"node_bits":8`, `"node_bits":25`), "25 bits"},
		"no ticks":         {200, with(`"end_tick":100235`, `"end_tick":100000`), "ticks 100000 to 100000"},
		"no end":           {200, with(`"end_tick":100235,`, ``), "ticks 100000 to 0"},
		"long ticks":       {200, with(`"tick_ms":256`, `"tick_ms":3600001`), "ticks of 3600001 ms"},
		"no tick length":   {200, with(`"tick_ms":256,`, ``), "ticks of 0 ms"},
		"a later start":    {200, with(`25600000`, `25600001`), "valid_from_ms"},
		"a later end":      {200, with(`25660160`, `25660161`), "valid_until_ms"},
		"overflow": {200, with(`"end_tick":100235`, `"end_tick":9223372036854775807`),
			"ticks 100000 to 9223372036854775807"},
		"a huge number": {200, with(`"end_tick":100235`, `"end_tick":99999999999999999999`),
			"the server's answer"},
		"a fraction":     {200, with(`"end_tick":100235`, `"end_tick":1.5`), "the server's answer"},
		"no server time": {200, with(`"server_time_ms":25600001,`, ``), "server_time_ms 0"},
		"negative wait":  {200, with(`"starts_in_ms":3`, `"starts_in_ms":-3`), "starts_in_ms -3"},
	} {
		t.Run(name, func(t *testing.T) {
			s, requests := open(t, c.status, c.body)
			_, err := acquire(t, s)
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "hunter2") || errors.Is(err, lease.ErrLost) ||
				errors.Is(err, lease.ErrForgotten) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if _, err := s.Renew(t.Context(), "orders", "abc", lease.RenewRequest{}); err == nil ||
				errors.Is(err, lease.ErrLost) || errors.Is(err, lease.ErrForgotten) {
				t.Errorf("renew: %v", err)
			}
			if n := requests.Load(); n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
		})
	}
}

func TestBadRealms(t *testing.T) {
	for _, body := range []string{`{}`, strings.Replace(realmJSON, `"tick_ms":256`, `"tick_ms":0`, 1),
		strings.Replace(realmJSON, `60000`, `-60000`, 1),
		strings.Replace(realmJSON, `60000`, `9223372036854775807`, 1),
		strings.Replace(realmJSON, `"format":"scru64"`, `"node_bits":25`, 1)} {
		s, _ := open(t, 200, body)
		_, err := s.Realm(t.Context(), "orders")
		faulttest.Says(t, err, "makes no sense")
	}
	s, _ := open(t, 200, `{"leases":[{"node_bits":99}]}`)
	_, _, err := s.Holdings(t.Context(), "orders", "", 1)
	faulttest.Says(t, err, "makes no sense")
}

// A command waits while the server is busy, but at least as long as the server says.
func TestPatience(t *testing.T) {
	n := 0
	s, _ := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		if n++; n < 3 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
			w.Write([]byte(`{"code":"store-unavailable"}`))
			return
		}
		w.Write([]byte(realmJSON))
	})
	began := time.Now()
	if _, err := s.Realm(t.Context(), "orders"); err != nil || time.Since(began) < 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	n = -99
	if _, err := s.Realm(ctx, "orders"); err == nil {
		t.Error("no error")
	}
}

// A mistake in the scheme is explained at once.
func TestScheme(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(realmsJSON))
	})
	plain, encrypted := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer encrypted.Close()
	alert := faulttest.Listen(t, "127.0.0.1:0", func(c net.Conn) {
		c.Read(make([]byte, 100))
		c.Write([]byte("\x15\x03\x01\x00\x02\x02\x46"))
		c.Close()
	})
	nginx := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		w.Write([]byte("<h1>The plain HTTP request was sent to HTTPS port</h1>"))
	}))
	defer nginx.Close()
	for url, want := range map[string]string{
		strings.Replace(encrypted.URL, "https", "http", 1): "uses TLS; the URL must begin with https://",
		strings.Replace(plain.URL, "http", "https", 1):     "does not use TLS; the URL must begin with http://",
		"http://" + alert.Addr().String():                  "uses TLS; the URL must begin with https://",
		nginx.URL:                                          "uses TLS; the URL must begin with https://",
	} {
		faulttest.Refused(t, Open, url+"?token=secret", want)
	}
}

// A request that waits for a node ID is given more time than others.
func TestWait(t *testing.T) {
	const wait = 6 * time.Second // longer than a request usually may take
	s, _ := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(wait)
		w.Write([]byte(leaseJSON))
	})
	if _, err := s.Acquire(t.Context(), "orders", lease.AcquireRequest{NodeID: -1,
		Wait: wait}); err != nil {
		t.Error(err)
	}
}

// If the server closes an idle connection, the next request does not fail.
func TestClosedConnection(t *testing.T) {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			w.Write([]byte(realmsJSON))
			return
		}
		w.Write([]byte(leaseJSON))
	}))
	defer ts.Close()
	s := faulttest.Open(t, Open, ts.URL)
	for range 50 {
		ts.CloseClientConnections()
		if _, err := s.Renew(t.Context(), "orders", "abc", lease.RenewRequest{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSlow(t *testing.T) {
	release := make(chan struct{})
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(realmsJSON[:5]))
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

// No request body has a secret unless it needs one, and no body has an unknown field.
func TestBodies(t *testing.T) {
	for _, c := range []struct {
		body any
		want string
	}{
		{wire.NewAcquire(lease.AcquireRequest{NodeID: -1}), "request"},
		{wire.NewRenew(lease.RenewRequest{}), "secret end_tick"},
		{wire.NewRelease(lease.ReleaseRequest{}), "secret"}, {wire.NewMakeRealm(lease.Config{}), ""},
	} {
		text, _ := json.Marshal(c.body)
		var fields map[string]any
		json.Unmarshal(text, &fields)
		for _, name := range strings.Fields(c.want) {
			if _, ok := fields[name]; !ok {
				t.Errorf("%T: no %s in %s", c.body, name, text)
			}
			delete(fields, name)
		}
		if len(fields) > 0 {
			t.Errorf("%T: %s has more than %s", c.body, text, c.want)
		}
	}
}

func TestTLS(t *testing.T) {
	cert, key := testserver.Certificate(t)
	pair := check.Must(tls.LoadX509KeyPair(cert, key))(t)
	pem := check.Must(os.ReadFile(cert))(t)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(pem)
	ts := httptest.NewUnstartedServer(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(realmsJSON)) }))
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

// A hurried listener closes its first connections before they have a request.
type hurried struct {
	net.Listener
	left int
}

func (l *hurried) Accept() (net.Conn, error) {
	for ; l.left > 0; l.left-- {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c.Close()
	}
	return l.Listener.Accept()
}

// Open goes on after a server that ends has closed the connection.
func TestOpenSurvivesClosedConnections(t *testing.T) {
	for range 10 {
		ts := httptest.NewUnstartedServer(http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(realmsJSON)) }))
		ts.Listener = &hurried{ts.Listener, 3}
		ts.Start()
		s, err := Open(t.Context(), ts.URL)
		if err != nil {
			t.Fatalf("Open failed after closed connections: %v", err)
		}
		s.Close()
		ts.Close()
	}
}
