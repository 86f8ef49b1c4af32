// Package leaseapi serves leases of node IDs, and their realms, as resources over HTTP.
package leaseapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/lease"
)

// A Lessor does the work; [lease.StoreLessor] is one.
type Lessor interface {
	lease.Lessor
	Evict(ctx context.Context, realm, id string) error
	Holdings(ctx context.Context, realm, after string, limit int) ([]lease.Holding, string, error)
	CreateRealm(ctx context.Context, c lease.Config) (lease.RealmInfo, bool, error)
	SetRealm(ctx context.Context, realm string, window, lead time.Duration) (lease.RealmInfo, error)
	Realm(ctx context.Context, realm string) (lease.RealmInfo, error)
	Realms(ctx context.Context, permitted func(name string) bool, after string,
		limit int) ([]lease.RealmInfo, string, error)
}

// Endpoints are the requests for leases and realms. Make them with [New].
type Endpoints struct {
	lessor     Lessor
	conditions []string // the conditions under which the store loses no change
	tokens     *access.Tokens
	gates      *api.Gates
	turns      *api.Turns
	log        *slog.Logger
	metrics    *metrics
	drains     context.Context // ends when the server begins to shut down
	drain      context.CancelFunc
}

// New returns endpoints. The conditions are the sentences under which the store loses no change.
func New(l Lessor, conditions []string, tokens *access.Tokens, gates *api.Gates,
	log *slog.Logger) *Endpoints {
	e := &Endpoints{lessor: l, conditions: append([]string{}, conditions...), tokens: tokens,
		gates: gates, turns: api.NewTurns(api.MaxTurns), log: log, metrics: newMetrics(l)}
	e.drains, e.drain = context.WithCancel(context.Background())
	return e
}

// Drain answers all requests that wait for a node ID. Later requests do not wait.
func (e *Endpoints) Drain() { e.drain() }

const (
	realmsPath = api.RealmsPath
	realmPath  = realmsPath + "/{realm}"
	leasesPath = realmPath + "/leases"
	leasePath  = leasesPath + "/{id}"
)

// A route is what all requests with one method and one path have in common.
type route struct {
	method, path string
	serve        func(*Endpoints, *request) (answer, error)
	counted      operation // "" if it is not counted in the metrics of leases
	list         bool
}

var routes = []route{
	{http.MethodGet, realmsPath, (*Endpoints).listRealms, "", true},
	{http.MethodPut, realmPath, (*Endpoints).makeRealm, "", false},
	{http.MethodPatch, realmPath, (*Endpoints).changeRealm, "", false},
	{http.MethodGet, realmPath, (*Endpoints).showRealm, "", false},
	{http.MethodGet, leasesPath, (*Endpoints).listLeases, "", true},
	{http.MethodPost, leasesPath, (*Endpoints).acquire, acquiring, false},
	{http.MethodPost, leasePath + "/renew", (*Endpoints).renew, renewing, false},
	{http.MethodPost, leasePath + "/release", (*Endpoints).release, releasing, false},
	{http.MethodPost, leasePath + "/evict", (*Endpoints).evict, evicting, false},
}

// Register registers the endpoints. huma only describes them, because net/http serves them faster.
func (e *Endpoints) Register(h huma.API, mux *http.ServeMux) {
	describe(h)
	for _, rt := range routes {
		mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) {
			if err := e.handle(rt, w, r); err != nil {
				api.Refuse(w, err)
			}
		})
	}
	mux.HandleFunc("/v1/store/", func(w http.ResponseWriter, _ *http.Request) {
		api.Refuse(w, api.NewProblem(http.StatusGone, api.Replaced,
			"clients of this server lease node IDs, and no longer read and write its store: "+
				"send POST %s, as /openapi.json describes, or install the release of sortid that "+
				"the server runs", leasesPath))
	})
}

// A request is what an endpoint knows about an HTTP request.
type request struct {
	*http.Request
	w         http.ResponseWriter
	client    api.Client
	gate      *api.Gate // has a place for the request
	realm, id string
	query     url.Values
}

type answer struct {
	status   int
	body     any // nil for no body
	location string
}

// handle answers a request, or returns a problem.
func (e *Endpoints) handle(rt route, w http.ResponseWriter, r *http.Request) error {
	in := &request{Request: r, w: w, client: e.tokens.Client(r), gate: e.gates.Leases,
		realm: r.PathValue("realm"), id: r.PathValue("id")}
	permission := access.PermitRealms
	if in.realm != "" {
		permission = access.PermitRealm(in.realm)
	}
	if err := e.tokens.Allow(r.Context(), permission); err != nil {
		return err
	}
	if rt.list {
		in.gate = e.gates.Lists
	}
	if !in.gate.Enter(in.client) {
		return in.gate.Full()
	}
	defer func() { in.gate.Leave(in.client) }()
	a, err := e.serve(rt, in)
	if rt.counted != "" && r.Context().Err() == nil {
		e.metrics.count(rt.counted, in.realm, a, err)
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h["Cache-Control"] = headerNoStore
	if a.location != "" {
		h.Set("Location", a.location)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return nil
	}
	b, err := json.Marshal(a.body)
	if err != nil {
		return err
	}
	h["Content-Type"] = headerJSON
	w.WriteHeader(a.status)
	w.Write(append(b, '\n'))
	return nil
}

var (
	headerJSON    = []string{api.TypeJSON}
	headerNoStore = []string{"no-store"}
)

func (e *Endpoints) serve(rt route, in *request) (answer, error) {
	if err := in.check(rt.list); err != nil {
		return answer{}, err
	}
	a, err := rt.serve(e, in)
	if err != nil {
		return a, e.problem(in, err)
	}
	return a, nil
}

// check refuses names that no realm has, and all parameters except the parameters of lists.
func (in *request) check(list bool) (err error) {
	if in.realm != "" {
		c := lease.Config{Realm: in.realm, Format: lease.UID60, NodeBits: 1}
		if err := c.Validate(); err != nil {
			return invalid("realm", "%.300s", configDetail(err))
		}
	}
	if in.URL.RawQuery == "" {
		return nil
	}
	if in.query, err = url.ParseQuery(in.URL.RawQuery); err != nil {
		return invalid("query", "malformed: %v", err)
	}
	for name, values := range in.query {
		switch {
		case !list || name != "after" && name != "limit":
			return invalid(shorten(name), "unknown query parameter")
		case len(values) > 1:
			return invalid(name, "given twice")
		}
	}
	return nil
}

// part returns where a list begins, and how many rows it has.
func (in *request) part() (after string, rows int, err error) {
	const usual = 100
	text := in.query.Get("limit")
	if !in.query.Has("limit") {
		return in.query.Get("after"), usual, nil
	}
	rows, err = strconv.Atoi(text)
	if err != nil || rows < 1 || rows > api.MaxList {
		return "", 0, invalid("limit", "%q is not a whole number from 1 to %d", shorten(text),
			api.MaxList)
	}
	return in.query.Get("after"), rows, nil
}

func (in *request) decode(into any) error {
	body, err := readBody(in.w, in.Request)
	if err != nil {
		return err
	}
	return decode(body, into)
}

// turn calls f when it is the request's turn. Then f may use the store for [api.CallTimeout].
func (e *Endpoints) turn(in *request, f func(context.Context) error) error {
	if err := e.turns.Take(in.Context(), in.client); err != nil {
		return err
	}
	defer e.turns.Done()
	ctx, cancel := context.WithTimeout(in.Context(), api.CallTimeout)
	defer cancel()
	return f(ctx)
}

func (e *Endpoints) acquire(in *request) (answer, error) {
	var body acquireBody
	if err := in.decode(&body); err != nil {
		return answer{}, err
	}
	q, begin := body.request(), time.Now()
	wait := q.Wait
	q.Wait = 0
	var g lease.Grant
	err := e.turn(in, func(ctx context.Context) (err error) {
		g, err = e.lessor.Acquire(ctx, in.realm, q)
		return err
	})
	none := errors.Is(err, lease.ErrFull) || errors.Is(err, lease.ErrLead)
	if q.Wait = wait - time.Since(begin); none && q.Wait > 0 {
		g, err = e.await(in, q, err)
	}
	if err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusCreated, body: newLeaseAnswer(g),
		location: realmsPath + "/" + url.PathEscape(g.Realm) + "/leases/" + url.PathEscape(g.ID)}
	if g.Repeated {
		a.status = http.StatusOK
	}
	return a, nil
}

// await acquires a lease when a node ID can be had. The err says why none can be had now. While the
// request waits, it takes no turn, and no place of other requests. The lessor asks the store once
// for all waiting requests of a realm.
func (e *Endpoints) await(in *request, q lease.AcquireRequest, err error) (lease.Grant, error) {
	if !e.gates.Waiters.Enter(in.client) {
		return lease.Grant{}, err
	}
	in.gate.Leave(in.client)
	in.gate = e.gates.Waiters
	ctx, cancel := context.WithTimeout(in.Context(), q.Wait+api.CallTimeout)
	defer cancel()
	defer context.AfterFunc(e.drains, cancel)()
	control, end := http.NewResponseController(in.w), time.Now().Add(q.Wait+api.WriteTimeout)
	control.SetReadDeadline(end) // the end of the body's time would look like a hang-up
	control.SetWriteDeadline(end)
	g, waited := e.lessor.Acquire(ctx, in.realm, q)
	if waited != nil && e.drains.Err() != nil && in.Context().Err() == nil {
		return g, err
	}
	return g, waited
}

func (e *Endpoints) renew(in *request) (answer, error) {
	var body renewBody
	if err := in.decode(&body); err != nil {
		return answer{}, err
	}
	var g lease.Grant
	err := e.turn(in, func(ctx context.Context) (err error) {
		g, err = e.lessor.Renew(ctx, in.realm, in.id, body.request())
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: newLeaseAnswer(g)}, nil
}

func (e *Endpoints) release(in *request) (answer, error) {
	var body releaseBody
	if err := in.decode(&body); err != nil {
		return answer{}, err
	}
	err := e.turn(in, func(ctx context.Context) error {
		return e.lessor.Release(ctx, in.realm, in.id, body.request())
	})
	return answer{status: http.StatusNoContent}, err
}

func (e *Endpoints) evict(in *request) (answer, error) {
	// Without a body, the type may be missing. No form of a web page leaves it out.
	if in.ContentLength != 0 || in.Header.Get("Content-Type") != "" {
		body, err := readBody(in.w, in.Request)
		if err == nil && len(body) > 0 {
			err = decode(body, &evictBody{})
		}
		if err != nil {
			return answer{}, err
		}
	}
	err := e.turn(in, func(ctx context.Context) error {
		return e.lessor.Evict(ctx, in.realm, in.id)
	})
	return answer{status: http.StatusNoContent}, err
}

func (e *Endpoints) listLeases(in *request) (answer, error) {
	after, rows, err := in.part()
	if err != nil {
		return answer{}, err
	}
	list := leasesAnswer{Leases: []holdingAnswer{}}
	err = e.turn(in, func(ctx context.Context) error {
		info, err := e.lessor.Realm(ctx, in.realm)
		if err != nil {
			return err
		}
		holdings, last, err := e.lessor.Holdings(ctx, in.realm, after, rows)
		for _, h := range holdings {
			list.Leases = append(list.Leases, newHoldingAnswer(in.realm, info.Terms, h))
		}
		list.Next = next(last)
		return err
	})
	return answer{status: http.StatusOK, body: list}, err
}

func (e *Endpoints) listRealms(in *request) (answer, error) {
	after, rows, err := in.part()
	if err != nil {
		return answer{}, err
	}
	list := realmsAnswer{Realms: []realmAnswer{}}
	err = e.turn(in, func(ctx context.Context) error {
		infos, last, err := e.lessor.Realms(ctx, func(name string) bool {
			return e.tokens.Permits(in.Context(), access.PermitRealm(name))
		}, after, rows)
		for _, info := range infos {
			list.Realms = append(list.Realms, e.realm(info))
		}
		list.Next = next(last)
		return err
	})
	return answer{status: http.StatusOK, body: list}, err
}

func (e *Endpoints) showRealm(in *request) (answer, error) {
	var info lease.RealmInfo
	err := e.turn(in, func(ctx context.Context) (err error) {
		info, err = e.lessor.Realm(ctx, in.realm)
		return err
	})
	return answer{status: http.StatusOK, body: e.realm(info)}, err
}

func (e *Endpoints) makeRealm(in *request) (answer, error) {
	var body realmBody
	if err := in.decode(&body); err != nil {
		return answer{}, err
	}
	config, err := realmConfig(in.realm, body)
	if err != nil {
		return answer{}, err
	}
	var info lease.RealmInfo
	var made bool
	err = e.turn(in, func(ctx context.Context) (err error) {
		info, made, err = e.lessor.CreateRealm(ctx, config)
		return err
	})
	a := answer{status: http.StatusOK, body: e.realm(info)}
	if made {
		a.status = http.StatusCreated
	}
	return a, err
}

func (e *Endpoints) changeRealm(in *request) (answer, error) {
	var body spansBody
	if err := in.decode(&body); err != nil {
		return answer{}, err
	}
	var info lease.RealmInfo
	err := e.turn(in, func(ctx context.Context) (err error) {
		info, err = e.lessor.SetRealm(ctx, in.realm, duration(body.WindowMS), duration(body.LeadMS))
		return err
	})
	return answer{status: http.StatusOK, body: e.realm(info)}, err
}

const guarantee = "no node ID is used twice for the same time"

func (e *Endpoints) realm(info lease.RealmInfo) realmAnswer {
	return newRealmAnswer(info, guarantee, e.conditions)
}
