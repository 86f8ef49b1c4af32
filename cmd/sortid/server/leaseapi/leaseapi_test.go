package leaseapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http/wire"
)

// A fake answers each call with an error, and keeps the last requests.
type fake struct {
	mu       sync.Mutex // for the fields that Acquire changes
	err      error
	wait     func(ctx context.Context, q lease.AcquireRequest) error // for acquisitions that wait
	acquired lease.AcquireRequest
	renewed  lease.RenewRequest
	released lease.ReleaseRequest
	made     lease.Config
	calls    int
}

func (f *fake) Acquire(ctx context.Context, _ string,
	q lease.AcquireRequest) (lease.Grant, error) {
	f.mu.Lock()
	f.calls++
	f.acquired = q
	f.mu.Unlock()
	if q.Wait > 0 {
		return lease.Grant{}, f.wait(ctx, q)
	}
	return lease.Grant{}, f.err
}

func (f *fake) Renew(_ context.Context, _, _ string, q lease.RenewRequest) (lease.Grant, error) {
	f.calls++
	f.renewed = q
	return lease.Grant{}, f.err
}

func (f *fake) Release(_ context.Context, _, _ string, q lease.ReleaseRequest) error {
	f.calls++
	f.released = q
	return f.err
}

func (f *fake) Evict(context.Context, string, string) error { f.calls++; return f.err }

func (f *fake) Holdings(context.Context, string, string, int) ([]lease.Holding, string, error) {
	return nil, "", f.err
}

func (f *fake) CreateRealm(_ context.Context, c lease.Config) (lease.RealmInfo, bool, error) {
	f.calls++
	f.made = c
	return lease.RealmInfo{Name: c.Realm}, true, f.err
}

func (f *fake) SetRealm(context.Context, string, lease.TermsChange) (lease.RealmInfo,
	error) {
	return lease.RealmInfo{}, f.err
}

func (f *fake) Realm(context.Context, string) (lease.RealmInfo, error) {
	return lease.RealmInfo{}, f.err
}

func (f *fake) Realms(context.Context, func(string) bool, string, int) ([]lease.RealmInfo, string,
	error) {
	return nil, "", f.err
}

func serve(f Lessor) (*Endpoints, http.Handler) {
	mux := http.NewServeMux()
	e := New(f, nil, nil, api.NewGates(), slog.New(slog.DiscardHandler))
	e.Register(mux)
	return e, mux
}

func ask(ctx context.Context, h http.Handler,
	method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const (
	atLeases   = "/v1/realms/orders/leases"
	theRequest = `{"request":"0123456789abcdef"}`
)

// Each error of the lessor has its status, its code and its further members.
func TestProblems(t *testing.T) {
	soon := time.Now().Add(3 * time.Second).Truncate(time.Millisecond).UTC()
	far := soon.Add(time.Hour)
	at := func(t time.Time) string {
		return fmt.Sprintf(`"free_from_ms":%d,"free_from":%q`, t.UnixMilli(),
			t.Format("2006-01-02T15:04:05.000Z"))
	}
	held := &lease.HeldError{Realm: "orders", Holding: lease.Holding{Holder: "other",
		State: lease.Held, Until: soon, FreeFrom: far}}
	for name, c := range map[string]struct {
		err    error
		status int
		code   wire.Code
		after  string // Retry-After
		want   []string
	}{
		"no realm":  {lease.ErrNoRealm, 404, "no-realm", "", []string{`realm \"orders\"`}},
		"not found": {lease.ErrNotFound, 404, "not-found", "", nil},
		"held": {held, 409, "node-held", "5", []string{`"holder":"other","state":"held"`,
			fmt.Sprintf(`"valid_until_ms":%d`, soon.UnixMilli()), at(far)}},
		"realm": {&lease.Error{Err: lease.ErrRealm, Detail: "bits"}, 409, "realm-differs", "",
			[]string{`"detail":"the terms of the realm differ from the configuration: bits"`}},
		"request":   {lease.ErrRequestDiffers, 409, "request-differs", "", []string{"new random"}},
		"realms":    {lease.ErrTooManyRealms, 409, "too-many-realms", "", []string{"lease create"}},
		"forgotten": {lease.ErrForgotten, 409, "forgotten", "", []string{"sortid lease fence"}},
		"lost":      {lease.ErrLost, 410, "lease-lost", "", []string{"stop at once"}},
		"field": {&lease.RequestError{Field: "node_id", Detail: "too large"}, 422, "invalid", "",
			[]string{`"errors":[{"field":"node_id","detail":"too large"}]`}},
		"config": {&lease.Error{Err: lease.ErrConfig, Detail: "odd"}, 422, "invalid", "",
			[]string{`{"field":"body","detail":"odd"}`}},
		"clock": {&lease.ClockError{Difference: -90 * time.Second, Max: time.Second}, 422,
			"clock-differs", "", []string{`"difference_ms":-90000`}},
		"full": {&lease.FullError{Realm: "orders", From: soon}, 503, "none-free", "3",
			[]string{at(soon)}},
		"full, one is ahead": {&lease.FullError{From: far, Ahead: []*lease.LeadError{
			{Until: soon.Add(time.Second), Max: time.Second}}}, 503, "none-free", "3",
			[]string{at(soon)}},
		"full for ever": {&lease.FullError{}, 503, "none-free", "1", nil},
		"ahead": {&lease.LeadError{Until: far.Add(time.Second), Max: time.Second}, 503, "none-free",
			"5", []string{at(far)}},
		"busy":    {lease.ErrBusy, 503, "limit", "1", nil},
		"down":    {errors.New("10.9.8.7 is down"), 503, "store-unavailable", "1", nil},
		"timeout": {context.DeadlineExceeded, 503, "store-unavailable", "1", nil},
	} {
		_, h := serve(&fake{err: c.err})
		for _, rt := range []string{"POST " + atLeases, "GET /v1/realms/orders", "POST " + atLeases +
			"/x/evict"} {
			method, path, _ := strings.Cut(rt, " ")
			body := ""
			if path == atLeases {
				body = theRequest
			}
			w := ask(t.Context(), h, method, path, body)
			var p api.Problem
			err := json.Unmarshal(w.Body.Bytes(), &p)
			if err != nil || w.Code != c.status || p.Status != c.status || p.Code != c.code ||
				p.Type != "/problems/"+string(c.code) || p.Title == "" || p.Detail == "" ||
				w.Header().Get("Content-Type") != api.ProblemType ||
				w.Header().Get("Retry-After") != c.after {
				t.Errorf("%s: %s: %d, %v, want %d %s: %s", name, rt, w.Code, w.Header(), c.status,
					c.code, w.Body)
			}
			for _, want := range c.want {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("%s: want %s in %s", name, want, w.Body)
				}
			}
			if strings.Contains(w.Body.String(), "10.9.8.7") {
				t.Errorf("%s: the answer describes the store: %s", name, w.Body)
			}
		}
	}
}

// Bodies that are wrong get the field and what was expected, and the store is not asked.
func TestWrongBodies(t *testing.T) {
	f := &fake{}
	_, h := serve(f)
	const renew, release = atLeases + "/x/renew", atLeases + "/x/release"
	request := func(members string) string { return `{"request":"0123456789abcdef",` + members + `}` }
	renewal := func(members string) string { return `{"secret":"s","end_tick":5,` + members + `}` }
	for _, c := range []struct{ path, body, field, want string }{
		{atLeases, `{`, "body", "not JSON"},
		{atLeases, `[]`, "body", "not a JSON object"},
		{atLeases, `null`, "body", "not a JSON object"},
		{atLeases, `"x"`, "body", "not a JSON object"},
		{atLeases, ` `, "body", "not JSON"},
		{atLeases, `{"request"`, "body", "not JSON"},
		{atLeases, `{"request":}`, "body", "not JSON"},
		{atLeases, `{1:2}`, "body", "not JSON"},
		{atLeases, theRequest + theRequest, "body", "more than one JSON value"},
		{atLeases, theRequest + `x`, "body", "more than one JSON value"},
		{atLeases, "{\"request\":\"0123456789abcdef\xff\"}", "body", "not UTF-8"},
		{atLeases, `{}`, "request", "missing; want a string of 16 to 128 characters"},
		{atLeases, `{"request":null}`, "request", "missing"},
		{atLeases, `{"request":7}`, "request", "not a string"},
		{atLeases, `{"request":["0123456789abcdef"]}`, "request", "not a string"},
		{atLeases, `{"request":"short"}`, "request", "5 characters; want"},
		{atLeases, `{"request":"` + strings.Repeat("x", 129) + `"}`, "request", "129 characters"},
		{atLeases, `{"Request":"0123456789abcdef"}`, "Request", "unknown; the known fields are"},
		{atLeases, request(`"request":"0123456789abcdeg"`), "request", "given twice"},
		{atLeases, request(`"node":1`), "node", "unknown"},
		{atLeases, request(`"` + strings.Repeat("x", 5000) + `":1`), strings.Repeat("x", 40) + "...",
			"unknown"},
		{atLeases, request(`"node_id":-1`), "node_id", "-1; want a whole number from 0 to 16777215"},
		{atLeases, request(`"node_id":16777216`), "node_id", "want a whole number"},
		{atLeases, request(`"node_id":1.0`), "node_id", "1.0; want a whole number"},
		{atLeases, request(`"node_id":1e0`), "node_id", "want a whole number"},
		{atLeases, request(`"node_id":"1"`), "node_id", "a string; want a whole number"},
		{atLeases, request(`"node_id":true`), "node_id", "not a number"},
		{atLeases, request(`"node_id":{}`), "node_id", "not a number"},
		{atLeases, request(`"node_id":[1]`), "node_id", "not a number"},
		{atLeases, request(`"node_id":` + strings.Repeat("9", 5000)), "node_id", "...; want"},
		{atLeases, request(`"node_bits":0`), "node_bits", "0; want a whole number from 1 to 24"},
		{atLeases, request(`"node_bits":25`), "node_bits", "25; want"},
		{atLeases, request(`"wait_ms":30001`), "wait_ms", "30001; want a whole number from 0 to 30000"},
		{atLeases, request(`"wait_ms":-5`), "wait_ms", "-5; want"},
		{atLeases, request(`"lease_window_ms":0`), "lease_window_ms", "0; want"},
		{atLeases, request(`"lease_window_ms":86400001`), "lease_window_ms", "want"},
		{atLeases, request(`"time_ms":9007199254740992`), "time_ms", "want"},
		{atLeases, request(`"time_ms":-1`), "time_ms", "want"},
		{atLeases, request(`"holder":"` + strings.Repeat("é", 101) + `"`), "holder", "101 characters"},
		{renew, `{"end_tick":5}`, "secret", "missing"},
		{renew, `{"secret":"s"}`, "end_tick", "missing"},
		{renew, `{"secret":"","end_tick":5}`, "secret", "0 characters"},
		{renew, `{"secret":"` + strings.Repeat("x", 513) + `","end_tick":5}`, "secret", "513"},
		{renew, renewal(`"renewal":""`), "renewal", "0 characters"},
		{renew, renewal(`"end_tick":1e400`), "end_tick", "given twice"},
		{renew, `{"secret":"s","end_tick":1e400}`, "end_tick", "want a whole number"},
		{renew, `{"secret":"s","end_tick":9223372036854775808}`, "end_tick", "want"},
		{release, `{"secret":"s","last_time_ms":0.5}`, "last_time_ms", "0.5; want"},
		{release, renewal(`"renewal":"r"`), "renewal", "unknown"},
		{atLeases + "/x/evict", `{"secret":"s"}`, "secret", "unknown"},
		{"PUT /v1/realms/orders", `{}`, "format", "missing; want a format, node_bits, or both"},
		{"PUT /v1/realms/orders", `{"format":"scru46"}`, "format", `"scru46"`},
		{"PUT /v1/realms/orders", `{"format":"scru128"}`, "format",
			"have no node ID; the formats with one are scru64, "},
		{"PUT /v1/realms/orders", `{"format":"xid"}`, "node_bits", "choose a size"},
		{"PUT /v1/realms/orders", `{"format":"snowid","node_bits":11}`, "node_bits",
			"a node ID of snowid has 1 to 10 bits, not 11"},
		{"PUT /v1/realms/orders", `{"lead_ms":0,"node_bits":3}`, "lead_ms", "0; want"},
		{"PATCH /v1/realms/orders", `{"format":"scru64"}`, "format", "unknown"},
	} {
		method, path, ok := strings.Cut(c.path, " ")
		if !ok {
			method, path = "POST", c.path
		}
		w := ask(t.Context(), h, method, path, c.body)
		var p api.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 422 ||
			p.Code != wire.InvalidRequest || len(p.Errors) == 0 || p.Errors[0].Field != c.field ||
			!strings.Contains(p.Errors[0].Detail, c.want) {
			t.Errorf("%s %.80s: %d, want the field %s and %q: %s", c.path, c.body, w.Code, c.field,
				c.want, w.Body)
		}
	}
	if f.calls != 0 {
		t.Errorf("the lessor was called %d times", f.calls)
	}
	for _, secret := range []string{`{"secret":"topsecret","end_tick":{"x":"topsecret"}}`,
		`{"secret":"topsecret","end_tick":"topsecret","topsecre":1}`} {
		if w := ask(t.Context(), h, "POST", renew, secret); strings.Contains(w.Body.String(),
			"topsecret") {
			t.Errorf("the answer repeats a secret: %s", w.Body)
		}
	}
}

// All wrong fields are named at once.
func TestAllWrongFields(t *testing.T) {
	_, h := serve(&fake{})
	w := ask(t.Context(), h, "POST", atLeases, `{"node_bits":0,"x":1,"wait_ms":"1"}`)
	var p api.Problem
	check.OK(t, json.Unmarshal(w.Body.Bytes(), &p))
	var got []string
	for _, m := range p.Errors {
		got = append(got, m.Field)
	}
	if want := []string{"node_bits", "x", "wait_ms", "request"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q: %s", got, want, w.Body)
	}
}

// The lessor gets what the body says. A field that is null is as if it was left out.
func TestBodies(t *testing.T) {
	f := &fake{}
	_, h := serve(f)
	post := func(path, body string) {
		t.Helper()
		if w := ask(t.Context(), h, "POST", path, body); w.Code/100 != 2 {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
	}
	post(atLeases, `{"request":"0123456789abcdef","node_bits":null,"node_id":null,"time_ms":null}`)
	if want := (lease.AcquireRequest{Request: "0123456789abcdef", NodeID: -1}); f.acquired != want {
		t.Errorf("%+v, want %+v", f.acquired, want)
	}
	post(atLeases, `{"request":"0123456789abcdef","node_bits":8,"node_id":0,"holder":"h",`+
		`"lease_window_ms":5000,"wait_ms":0,"time_ms":0}`)
	if want := (lease.AcquireRequest{Request: "0123456789abcdef", NodeBits: 8, Holder: "h",
		Window: 5 * time.Second, Time: time.UnixMilli(0)}); f.acquired != want {
		t.Errorf("%+v, want %+v", f.acquired, want)
	}
	post(atLeases+"/x/renew", `{"secret":"s","end_tick":9007199254740991,"renewal":"r","time_ms":7}`)
	if want := (lease.RenewRequest{Secret: "s", EndTick: 1<<53 - 1, Renewal: "r",
		Time: time.UnixMilli(7)}); f.renewed != want {
		t.Errorf("%+v, want %+v", f.renewed, want)
	}
	post(atLeases+"/x/release", `{"secret":"s","last_time_ms":0}`)
	if want := (lease.ReleaseRequest{Secret: "s", LastTime: time.UnixMilli(0)}); f.released != want {
		t.Errorf("%+v, want %+v", f.released, want)
	}
	post(atLeases+"/x/release", `{"secret":"s","end_tick":3,"last_time_ms":null}`)
	if want := (lease.ReleaseRequest{Secret: "s", EndTick: 3}); f.released != want {
		t.Errorf("%+v, want %+v", f.released, want)
	}
	post(atLeases+"/x/evict", "")
	post(atLeases+"/x/evict", "{}")
}

// A realm has the format and the size that the body names.
func TestRealmConfigs(t *testing.T) {
	for body, want := range map[string]lease.Config{
		`{"format":"scru64"}`:                {Format: lease.SCRU64()},
		`{"format":"scru64","node_bits":8}`:  {Format: lease.SCRU64(), NodeBits: 8},
		`{"format":"uid60"}`:                 {Format: lease.UID60()},
		`{"format":"SCRU160","node_bits":5}`: {Format: lease.SCRU160(), NodeBits: 5},
		`{"node_bits":24,"lead_ms":1000}`:    {NodeBits: 24, MaxLead: time.Second},
		`{"node_bits":1,"format":null,"lease_window_ms":5000}`: {NodeBits: 1,
			Window: 5 * time.Second},
	} {
		f := &fake{}
		_, h := serve(f)
		want.Realm = "a/b ü"
		if w := ask(t.Context(), h, "PUT", "/v1/realms/a%2Fb%20%C3%BC", body); w.Code != 201 {
			t.Errorf("%s: %d: %s", body, w.Code, w.Body)
		}
		if f.made.Realm != want.Realm || f.made.Format != want.Format ||
			f.made.NodeBits != want.NodeBits || f.made.Window != want.Window ||
			f.made.MaxLead != want.MaxLead {
			t.Errorf("%s: %+v, want %+v", body, f.made, want)
		}
	}
}

// A body needs little memory, whatever it contains.
func TestMemoryOfBodies(t *testing.T) {
	fill := func(begin, piece, end string) string {
		n := (api.MaxBody - len(begin) - len(end)) / len(piece)
		return begin + strings.Repeat(piece, n) + end
	}
	for name, body := range map[string]string{
		"lists":           fill(`{"x":[`, `[],`, `0]}`),
		"nested lists":    fill(`{"x":`, `[`, ``),
		"numbers":         fill(`{"x":[`, `0,`, `0]}`),
		"members":         fill(`{`, `"a":0,`, `"b":0}`),
		"nested objects":  fill(`{"x":`, `{"":`, ``),
		"one long string": fill(`{"request":"`, `x`, `"}`),
		"escapes":         fill(`{"request":"`, `\u0041`, `"}`),
		"spaces":          fill(`{`, ` `, `}`),
	} {
		var before, after runtime.MemStats
		const times = 10
		runtime.ReadMemStats(&before)
		for range times {
			if err := decode([]byte(body), &wire.Acquire{}); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		runtime.ReadMemStats(&after)
		used := (after.TotalAlloc - before.TotalAlloc) / times
		if most := uint64(512 << 10); used > most {
			t.Errorf("%s: a body of %d bytes takes %d bytes, want at most %d", name, len(body), used,
				most)
		}
		t.Logf("%s: %d bytes", name, used)
	}
}

// A body that is too large, or in another form than JSON, is refused before it is read.
func TestRefusedBodies(t *testing.T) {
	f := &fake{}
	_, h := serve(f)
	for _, path := range []string{atLeases, atLeases + "/x/renew", atLeases + "/x/release",
		atLeases + "/x/evict"} {
		for kind, status := range map[string]int{"": 415, "text/plain": 415,
			"application/x-www-form-urlencoded": 415, "application/json; charset": 415,
			"application/json; charset=utf-8": 413, "Application/JSON": 413} {
			body := strings.NewReader(`{"request":"` + strings.Repeat(" ", 1<<20))
			r := httptest.NewRequest("POST", path, io.MultiReader(body)) // of unknown length
			r.Header.Set("Content-Type", kind)
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != status {
				t.Errorf("%s, %q: %d, want %d: %s", path, kind, w.Code, status, w.Body)
			}
			if read := 1<<20 - body.Len(); read > 2*api.MaxBody {
				t.Errorf("%s, %q: %d bytes were read", path, kind, read)
			}
		}
	}
	if f.calls != 0 {
		t.Errorf("the lessor was called %d times", f.calls)
	}
}

// hanging is a lessor that never answers for the realm orders.
type hanging struct{ fake }

func (h *hanging) Acquire(ctx context.Context, realm string,
	q lease.AcquireRequest) (lease.Grant, error) {
	if realm == "orders" {
		<-ctx.Done()
		return lease.Grant{}, ctx.Err()
	}
	return h.fake.Acquire(ctx, realm, q)
}

// Requests of a realm that takes long leave turns for other realms. Those that get no turn in time
// may be sent again.
func TestRealmsShareTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, h := serve(&hanging{})
		ended := make(chan *httptest.ResponseRecorder)
		begin := time.Now()
		const clients = 5 * api.MaxTurns
		for range clients {
			go func() { ended <- ask(t.Context(), h, "POST", atLeases, theRequest) }()
		}
		synctest.Wait()
		w := ask(t.Context(), h, "POST", strings.Replace(atLeases, "orders", "users", 1), theRequest)
		if w.Code != http.StatusCreated || time.Since(begin) > 0 {
			t.Errorf("another realm: %d after %v: %s", w.Code, time.Since(begin), w.Body)
		}
		late := 0
		for range clients {
			if w := <-ended; strings.Contains(w.Body.String(), "send the same again") {
				late++
			}
		}
		if took := time.Since(begin); late < clients-4*api.MaxTurns || took > 20*time.Second {
			t.Errorf("%d of %d got no turn, after %v", late, clients, took)
		}
	})
}

// A request that waits takes no place of other requests. It ends when the client hangs up, and when
// the server shuts down.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := &lease.FullError{Realm: "orders"}
		f := &fake{err: full, wait: func(ctx context.Context, q lease.AcquireRequest) error {
			select {
			case <-time.After(q.Wait):
				return full
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		e, h := serve(f)
		const body = `{"request":"0123456789abcdef","wait_ms":30000}`
		ended := make(chan *httptest.ResponseRecorder, 10)
		begin := time.Now()
		ctx, hangUp := context.WithCancel(t.Context())
		for range api.MaxTurns + 10 {
			go func() { ended <- ask(ctx, h, "POST", atLeases, body) }()
		}
		synctest.Wait()
		if w := ask(t.Context(), h, "POST", atLeases, theRequest); w.Code != 503 ||
			time.Since(begin) > 0 {
			t.Errorf("a request beside those that wait: %d after %v", w.Code, time.Since(begin))
		}
		hangUp()
		for range api.MaxTurns + 10 {
			<-ended
		}
		if time.Since(begin) > 0 {
			t.Errorf("after the hang-up, the requests go on for %v", time.Since(begin))
		}
		if w := ask(t.Context(), h, "POST", atLeases, body); w.Code != 503 ||
			time.Since(begin) < 30*time.Second || !strings.Contains(w.Body.String(), "none-free") {
			t.Errorf("%d after %v: %s", w.Code, time.Since(begin), w.Body)
		}
		go func() { ended <- ask(t.Context(), h, "POST", atLeases, body) }()
		begin = time.Now()
		time.Sleep(time.Second)
		e.Drain()
		if w := <-ended; time.Since(begin) > time.Second ||
			!strings.Contains(w.Body.String(), "none-free") {
			t.Errorf("at the shutdown: after %v: %s", time.Since(begin), w.Body)
		}
		if w := ask(t.Context(), h, "POST", atLeases, body); time.Since(begin) > time.Second ||
			!strings.Contains(w.Body.String(), "none-free") {
			t.Errorf("during the shutdown: after %v: %s", time.Since(begin), w.Body)
		}
	})
}
