// Package store serves a store of leases over HTTP.
package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/httpapi"
	"github.com/sortid/sortid/cmd/sortid/server/limit"
	"github.com/sortid/sortid/lease"
	httpstore "github.com/sortid/sortid/store/http"
)

type Endpoints struct {
	Store      lease.Store // from [Checked]
	Conditions []string    // the conditions under which the store loses no change
	Tokens     *access.Tokens
	Gates      *limit.Gates
	Log        *slog.Logger

	calls chan struct{} // full while [limit.MaxStoreCalls] requests call the store
}

func (e *Endpoints) Register(api huma.API) {
	e.calls = make(chan struct{}, limit.MaxStoreCalls)
	many := func(items *huma.Schema) *huma.Schema {
		return &huma.Schema{Type: huma.TypeArray, Items: items, MaxItems: new(limit.MaxMany)}
	}
	none, records := object(nil), object(properties{"records": arrayOf(recordSchema)}, "records")
	register(e, api, "get", "Read records of a realm",
		object(properties{"realm": realmSchema, "blocks": many(text(block))}, "realm", "blocks"),
		records, e.get)
	change := object(properties{"prev": recordSchema, "next": recordSchema}, "prev", "next")
	register(e, api, "compare-and-set",
		"Replace records in order, and stop at the first record that has changed since it was read",
		object(properties{"changes": many(change)}, "changes"),
		object(properties{"stored": {Type: huma.TypeBoolean}}, "stored"), e.compareAndSet)
	register(e, api, "realms", "List the realms that the token permits", none,
		object(properties{"realms": arrayOf(text("a name"))}, "realms"), e.realms)
	register(e, api, "list", "Read all records of a realm",
		object(properties{"realm": realmSchema}, "realm"), records, e.list)
	register(e, api, "time", "Read the store's clock", none,
		object(properties{"time": {Type: huma.TypeString, Format: "date-time"}}, "time"), e.time)
	register(e, api, "conditions", "List the conditions under which the store loses no change",
		none, object(properties{"conditions": arrayOf(text("a sentence"))}, "conditions"),
		e.conditions)
}

type properties map[string]*huma.Schema

func object(p properties, required ...string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Required: required, Properties: p}
}

func arrayOf(items *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: items}
}

func text(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }

// A 64-bit integer is a string in JSON.
func integer(doc string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^-?[0-9]+$", Description: doc}
}

const block = "A node ID and its size in bits, as in 42/8"

var (
	realmSchema = text("The name of the realm, such as \"orders\"; for records of its node IDs, " +
		"the name and the generation, such as \"orders@0123456789abcdef\"")
	recordSchema = object(properties{
		"realm":    realmSchema,
		"block":    text(block + "; 0/0 is the realm's own record"),
		"revision": integer("How often the record was changed; 0 if there is no record"),
		"hwm":      integer("The first tick that can still be granted"),
		"state":    text("The state of the block: retired, whole, split or merging"),
		"owner":    text("The identity of the holder"),
		"from":     integer("The first tick that the owner was granted"),
		"request": integer("A random number for each grant. In a retired half of a merging block, " +
			"the revision of the merging block"),
		"deadline": integer("From this tick on, other holders may take the block"),
		"name":     text("The name of the holder, for people"),
		"key":      text("In a released block, proof that the owner released it"),
		"terms": {Type: huma.TypeObject, AdditionalProperties: true,
			Description: "The values that all leases of the realm share"},
		"generation": text("The current generation of the realm"),
	}, "realm", "block", "revision", "hwm", "state")
)

func (e *Endpoints) get(ctx context.Context,
	in httpstore.GetRequest) (out httpstore.GetAnswer, err error) {
	if n := len(in.Blocks); n > limit.MaxMany {
		return out, httpapi.Invalid(fmt.Sprintf("%d blocks, want at most %d", n, limit.MaxMany),
			"body.blocks")
	}
	if err := e.allowRecords(ctx, in.Realm); err != nil {
		return out, err
	}
	out.Records = []lease.Record{}
	switch len(in.Blocks) {
	case 0:
	case 1: // Unlike GetMany, Get returns only what survives a crash of the store.
		out.Records = make([]lease.Record, 1)
		out.Records[0], err = e.Store.Get(ctx, in.Realm, in.Blocks[0])
	default:
		out.Records, err = e.Store.GetMany(ctx, in.Realm, in.Blocks)
	}
	return out, err
}

func (e *Endpoints) compareAndSet(ctx context.Context, in httpstore.CompareAndSetRequest) (
	out httpstore.CompareAndSetAnswer, err error) {
	if n := len(in.Changes); n < 1 || n > limit.MaxMany {
		return out, httpapi.Invalid(fmt.Sprintf("%d changes, want 1 to %d", n, limit.MaxMany),
			"body.changes")
	}
	changes := make([]lease.Change, len(in.Changes))
	for i, c := range in.Changes {
		changes[i] = lease.Change(c)
		if err := e.Tokens.AllowRealm(ctx, baseRealm(c.Next.Realm)); err != nil {
			return out, err
		}
	}
	out.Stored, err = e.Store.CompareAndSetMany(ctx, changes)
	if wrong := (*lease.ChangeError)(nil); errors.As(err, &wrong) {
		return out, httpapi.Invalid(wrong.Reason, fmt.Sprintf("body.changes[%d].next", wrong.Index))
	}
	return out, err
}

func (e *Endpoints) realms(ctx context.Context,
	_ struct{}) (out httpstore.RealmsAnswer, err error) {
	names, err := e.Store.Realms(ctx)
	foreign := func(name string) bool { return e.Tokens.AllowRealm(ctx, name) != nil }
	names = slices.DeleteFunc(names, foreign)
	out.Realms = append([]string{}, names...)
	return out, err
}

func (e *Endpoints) list(ctx context.Context,
	in httpstore.ListRequest) (out httpstore.ListAnswer, err error) {
	if err := e.allowRecords(ctx, in.Realm); err != nil {
		return out, err
	}
	records, err := e.Store.List(ctx, in.Realm)
	out.Records = append([]lease.Record{}, records...)
	return out, err
}

func (e *Endpoints) time(ctx context.Context, _ struct{}) (out httpstore.TimeAnswer, err error) {
	out.Time, err = e.Store.Time(ctx)
	return out, err
}

func (e *Endpoints) conditions(context.Context, struct{}) (httpstore.ConditionsAnswer, error) {
	return httpstore.ConditionsAnswer{Conditions: append([]string{}, e.Conditions...)}, nil
}

func register[In, Out any](e *Endpoints, api huma.API, name, summary string, in, out *huma.Schema,
	do func(context.Context, In) (Out, error)) {
	queue := e.Gates.StoreQueue
	if name == "list" {
		queue = e.Gates.StoreLists
	}
	op := access.Require(access.PermitRealms, huma.Operation{
		OperationID: "store-" + name,
		Method:      http.MethodPost,
		Path:        httpapi.StorePath + name,
		Summary:     summary,
		Tags:        []string{"store"},
		// A request enters the queue when its body has arrived, so slow bodies do not fill the queue.
		Middlewares: huma.Middlewares{e.Tokens.Through(e.Gates.StoreBodies), readJSON,
			e.Tokens.Through(queue)},
		Errors: []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
			http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
			http.StatusTooManyRequests, http.StatusServiceUnavailable},
		Responses: httpapi.Answers(summary, httpapi.TypeJSON, out),
	})
	if name == "time" {
		op.Errors = append(op.Errors, http.StatusNotImplemented)
	}
	huma.Register(api, op, func(ctx context.Context, _ *struct{}) (*httpapi.Raw, error) {
		request, err := decodeBody[In](ctx)
		if err != nil {
			return nil, err
		}
		answer, err := call(ctx, e, request, do)
		if err != nil {
			return nil, e.problem(name, err)
		}
		b, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		return &httpapi.Raw{ContentType: httpapi.TypeJSON, CacheControl: "no-store",
			Body: append(b, '\n')}, nil
	})
	// huma does not describe the body, because readJSON reads it.
	api.OpenAPI().Paths[op.Path].Post.RequestBody = &huma.RequestBody{
		Required: true, Content: map[string]*huma.MediaType{httpapi.TypeJSON: {Schema: in}},
	}
}

// call handles a request when its turn comes.
func call[In, Out any](ctx context.Context, e *Endpoints, request In,
	do func(context.Context, In) (Out, error)) (out Out, err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, limit.StoreTimeout,
		errors.New("other requests took too long"))
	defer cancel()
	select {
	case e.calls <- struct{}{}:
		defer func() { <-e.calls }()
	case <-waiting.Done():
		return out, context.Cause(waiting)
	}
	ctx, cancel = context.WithTimeout(ctx, limit.CallTimeout)
	defer cancel()
	return do(ctx, request)
}

type bodyKey struct{}

// readJSON reads the body, which must have the type JSON. A browser lets a page of another origin
// send this type only if the server permits it.
func readJSON(ctx huma.Context, next func(huma.Context)) {
	refuse := func(status int, format string, args ...any) {
		_, w := humago.Unwrap(ctx)
		httpapi.Refuse(w, huma.NewError(status, fmt.Sprintf(format, args...)))
	}
	if kind, _, err := mime.ParseMediaType(ctx.Header("Content-Type")); err != nil ||
		kind != httpapi.TypeJSON {
		refuse(http.StatusUnsupportedMediaType,
			"the body must be JSON: send the header \"Content-Type: %s\"", httpapi.TypeJSON)
		return
	}
	ctx.SetReadDeadline(time.Now().Add(limit.BodyTimeout))
	body, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), limit.MaxBody+1))
	var timeout net.Error
	switch {
	case len(body) > limit.MaxBody:
		refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", limit.MaxBody)
	case errors.As(err, &timeout) && timeout.Timeout():
		refuse(http.StatusRequestTimeout, "the body did not arrive within %v", limit.BodyTimeout)
	case err != nil:
		refuse(http.StatusBadRequest, "the body ends too soon")
	default:
		next(huma.WithValue(ctx, bodyKey{}, body))
	}
}

func decodeBody[In any](ctx context.Context) (request In, err error) {
	body, _ := ctx.Value(bodyKey{}).([]byte)
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return request, huma.Error400BadRequest(
			"the body is not the JSON that /openapi.json describes: " + err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return request, huma.Error400BadRequest("the body goes on after its JSON object")
	}
	return request, nil
}

// problem hides the store's own errors, because they can describe its network.
func (e *Endpoints) problem(operation string, err error) error {
	var status huma.StatusError
	switch {
	case errors.As(err, &status):
		return err
	case errors.Is(err, lease.ErrNoTime):
		return huma.Error501NotImplemented("the store has no clock")
	}
	e.Log.Warn("the store failed", slog.String("operation", operation), slog.Any("error", err))
	return httpapi.Busy("the store did not answer, or refused the request; the server's log says more")
}

// allowRecords checks that the token permits the realm. It also limits the length of the realm's
// name, because each record repeats the name.
func (e *Endpoints) allowRecords(ctx context.Context, realm string) error {
	if err := e.Tokens.AllowRealm(ctx, baseRealm(realm)); err != nil {
		return err
	}
	if len(realm) > lease.MaxRealmLen {
		return httpapi.Invalid(fmt.Sprintf("the realm has %d bytes, want at most %d", len(realm),
			lease.MaxRealmLen), "body.realm")
	}
	return nil
}
