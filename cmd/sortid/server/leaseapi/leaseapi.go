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

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/cmd/sortid/server/fair"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http/wire"
)

// A Lessor does the work; [lease.StoreLessor] is one.
type Lessor interface {
	lease.Lessor
	Evict(ctx context.Context, realm, id string) error
	Holdings(ctx context.Context, realm, after string, limit int) ([]lease.Holding, string, error)
	CreateRealm(ctx context.Context, c lease.Config) (lease.RealmInfo, bool, error)
	SetRealm(ctx context.Context, realm string, change lease.TermsChange) (lease.RealmInfo, error)
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
	turns      *fair.Places // of realms
	log        *slog.Logger
	metrics    *metrics
	drains     context.Context // ends when the server begins to shut down
	drain      context.CancelFunc
}

// New returns endpoints. The conditions are the sentences under which the store loses no change.
func New(l Lessor, conditions []string, tokens *access.Tokens, gates *api.Gates,
	log *slog.Logger) *Endpoints {
	e := &Endpoints{lessor: l, conditions: append([]string{}, conditions...), tokens: tokens,
		gates: gates, turns: fair.New(2 * api.MaxTurns), log: log, metrics: newMetrics(l)}
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
	permit       func(realm string) string // nil: any realm
}

var routes = []route{
	{http.MethodGet, realmsPath, (*Endpoints).listRealms, "", true, nil},
	{http.MethodPut, realmPath, (*Endpoints).makeRealm, "", false, access.PermitRealm},
	{http.MethodPatch, realmPath, (*Endpoints).changeRealm, "", false, access.PermitRealm},
	{http.MethodGet, realmPath, (*Endpoints).showRealm, "", false, access.PermitLease},
	{http.MethodGet, leasesPath, (*Endpoints).listLeases, "", true, access.PermitRealm},
	{http.MethodPost, leasesPath, (*Endpoints).acquire, acquiring, false, access.PermitLease},
	{http.MethodPost, leasePath + "/renew", (*Endpoints).renew, renewing, false, access.PermitLease},
	{http.MethodPost, leasePath + "/release", (*Endpoints).release, releasing, false, access.PermitLease},
	{http.MethodPost, leasePath + "/evict", (*Endpoints).evict, evicting, false, access.PermitRealm},
}

// Register registers the endpoints.
func (e *Endpoints) Register(mux *http.ServeMux) {
	for _, rt := range routes {
		mux.Handle(rt.method+" "+rt.path, api.Handler(
			func(w http.ResponseWriter, r *http.Request) error { return e.handle(rt, w, r) }))
	}
}

// A request is what an endpoint knows about an HTTP request.
type request struct {
	*http.Request
	w         http.ResponseWriter
	client    string
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
	if rt.permit != nil {
		permission = rt.permit(in.realm)
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
		c := lease.Config{Realm: in.realm, Format: lease.UID60(), NodeBits: 1}
		if err := c.Validate(); err != nil {
			return invalid("realm", "%.300s", configDetail(err))
		}
	}
	var known []string
	if list {
		known = []string{"after", "limit"}
	}
	in.query, err = api.Query(in.Request, known...)
	return err
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
		return "", 0, invalid("limit", "%q is not a whole number from 1 to %d", api.Shorten(text),
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
	ctx, cancel := context.WithTimeoutCause(in.Context(), api.TurnTimeout, errLate)
	err := e.turns.Wait(ctx, in.client, in.realm)
	cancel()
	if err != nil {
		return err
	}
	defer e.turns.Leave(in.realm)
	ctx, cancel = context.WithTimeout(in.Context(), api.CallTimeout)
	defer cancel()
	return f(ctx)
}

var errLate = api.Busy(time.Second, wire.Limit,
	"other requests for leases took too long; nothing was done, so send the same again")

func (e *Endpoints) acquire(in *request) (answer, error) {
	var body wire.Acquire
	if err := in.decode(&body); err != nil {
		return answer{}, err
	}
	q, begin := body.Decode(), time.Now()
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
	a := answer{status: http.StatusCreated, body: wire.NewLease(g),
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
	var body wire.Renew
	if err := in.decode(&body); err != nil {
		return answer{}, err
	}
	var g lease.Grant
	err := e.turn(in, func(ctx context.Context) (err error) {
		g, err = e.lessor.Renew(ctx, in.realm, in.id, body.Decode())
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: wire.NewLease(g)}, nil
}

func (e *Endpoints) release(in *request) (answer, error) {
	var body wire.Release
	if err := in.decode(&body); err != nil {
		return answer{}, err
	}
	err := e.turn(in, func(ctx context.Context) error {
		return e.lessor.Release(ctx, in.realm, in.id, body.Decode())
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
	list := wire.Leases{Leases: []wire.Holding{}}
	err = e.turn(in, func(ctx context.Context) error {
		info, err := e.lessor.Realm(ctx, in.realm)
		if err != nil {
			return err
		}
		holdings, last, err := e.lessor.Holdings(ctx, in.realm, after, rows)
		for _, h := range holdings {
			list.Leases = append(list.Leases, wire.NewHolding(in.realm, info.Terms, h))
		}
		list.Next = wire.Next(last)
		return err
	})
	return answer{status: http.StatusOK, body: list}, err
}

func (e *Endpoints) listRealms(in *request) (answer, error) {
	after, rows, err := in.part()
	if err != nil {
		return answer{}, err
	}
	list := wire.Realms{Realms: []wire.Realm{}}
	err = e.turn(in, func(ctx context.Context) error {
		infos, last, err := e.lessor.Realms(ctx, func(name string) bool {
			return e.tokens.Permits(in.Context(), access.PermitLease(name))
		}, after, rows)
		for _, info := range infos {
			list.Realms = append(list.Realms, e.realm(info))
		}
		list.Next = wire.Next(last)
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
	var body wire.MakeRealm
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
	var body wire.ChangeRealm
	if err := in.decode(&body); err != nil {
		return answer{}, err
	}
	var info lease.RealmInfo
	err := e.turn(in, func(ctx context.Context) (err error) {
		info, err = e.lessor.SetRealm(ctx, in.realm, body.Decode())
		return err
	})
	return answer{status: http.StatusOK, body: e.realm(info)}, err
}

const guarantee = "no node ID is used twice for the same time"

func (e *Endpoints) realm(info lease.RealmInfo) wire.Realm {
	return wire.NewRealm(info, guarantee, e.conditions)
}
