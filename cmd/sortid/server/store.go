package server

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
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sortid/sortid/lease"
	httpstore "github.com/sortid/sortid/store/http"
)

func (s *Server) registerStore() {
	s.change = newCheckedStore(s.config.Store).compareAndSet
	many := func(items *huma.Schema) *huma.Schema {
		most := maxMany
		return &huma.Schema{Type: huma.TypeArray, Items: items, MaxItems: &most}
	}
	none, records := object(nil), object(properties{"records": arrayOf(recordSchema)}, "records")
	register(s, "get", "Read records of a realm",
		object(properties{"realm": realmSchema, "blocks": many(text("as in 42/8"))}, "realm",
			"blocks"), records, s.storeGet)
	change := object(properties{"prev": recordSchema, "next": recordSchema}, "prev", "next")
	register(s, "compare-and-set",
		"Replace records in order, and stop at the first that has changed since it was read",
		object(properties{"changes": many(change)}, "changes"),
		object(properties{"stored": {Type: huma.TypeBoolean}}, "stored"), s.storeCompareAndSet)
	register(s, "realms", "Name the realms that the token permits", none,
		object(properties{"realms": arrayOf(text("a name"))}, "realms"), s.storeRealms)
	register(s, "list", "Read all records of a realm",
		object(properties{"realm": realmSchema}, "realm"), records, s.storeList)
	register(s, "time", "Read the store's clock", none,
		object(properties{"time": {Type: huma.TypeString, Format: "date-time"}}, "time"),
		s.storeTime)
	register(s, "conditions", "Name the conditions under which the store loses no change", none,
		object(properties{"conditions": arrayOf(text("a sentence"))}, "conditions"),
		s.storeConditions)
}

type properties map[string]*huma.Schema

func object(p properties, required ...string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Required: required, Properties: p}
}

func arrayOf(items *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: items}
}

func text(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }

// integer describes a 64-bit integer, which is a text in JSON.
func integer(doc string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^-?[0-9]+$", Description: doc}
}

var (
	realmSchema = text(
		"The name of the realm, with \"@\" and the generation for the records of its node IDs")
	recordSchema = object(properties{
		"realm":    realmSchema,
		"block":    text("The node ID and its size, as in 42/8; 0/0 is the realm's own record"),
		"revision": integer("How often the record was changed; 0 if there is no record"),
		"hwm":      integer("The first tick that was never granted"),
		"state":    text("The state of the block: retired, whole, split or merging"),
		"owner":    text("The identity of the holder"),
		"from":     integer("The first tick that the owner was granted"),
		"request":  integer("The grant's random number; in a retired half, the merge's revision"),
		"deadline": integer("The tick from which on others may take the block"),
		"name":     text("The holder's name, for people"),
		"key":      text("In a released block, proof that the owner released it"),
		"terms": {Type: huma.TypeObject, AdditionalProperties: true,
			Description: "The values that all leases of the realm share"},
		"generation": text("The realm's generation"),
	}, "realm", "block", "revision", "hwm", "state")
)

func (s *Server) storeGet(ctx context.Context,
	in httpstore.GetRequest) (out httpstore.GetAnswer, err error) {
	if len(in.Blocks) > maxMany {
		return out, invalid(fmt.Sprintf("%d blocks, want at most %d", len(in.Blocks), maxMany),
			"body.blocks")
	}
	if err := s.permitRecords(ctx, in.Realm); err != nil {
		return out, err
	}
	out.Records = []lease.Record{}
	switch store := s.config.Store; len(in.Blocks) {
	case 0:
		return out, nil
	case 1: // what Get returns survives a crash of the store
		r, err := store.Get(ctx, in.Realm, in.Blocks[0])
		out.Records = append(out.Records, r)
		return out, err
	default:
		out.Records, err = store.GetMany(ctx, in.Realm, in.Blocks)
		return out, err
	}
}

func (s *Server) storeCompareAndSet(ctx context.Context, in httpstore.CompareAndSetRequest) (
	out httpstore.CompareAndSetAnswer, err error) {
	if len(in.Changes) < 1 || len(in.Changes) > maxMany {
		return out, invalid(fmt.Sprintf("%d changes, want 1 to %d", len(in.Changes), maxMany),
			"body.changes")
	}
	changes := make([]lease.Change, len(in.Changes))
	for i, c := range in.Changes {
		changes[i] = lease.Change(c)
		if err := s.permitRealm(ctx, baseRealm(c.Next.Realm)); err != nil {
			return out, err
		}
	}
	out.Stored, err = s.change(ctx, changes)
	if wrong := (*lease.ChangeError)(nil); errors.As(err, &wrong) {
		return out, invalid(wrong.Reason, fmt.Sprintf("body.changes[%d].next", wrong.Index))
	}
	return out, err
}

func (s *Server) storeRealms(ctx context.Context,
	_ struct{}) (out httpstore.RealmsAnswer, err error) {
	names, err := s.config.Store.Realms(ctx)
	foreign := func(name string) bool { return s.permitRealm(ctx, name) != nil }
	names = slices.DeleteFunc(names, foreign)
	out.Realms = append([]string{}, names...)
	return out, err
}

func (s *Server) storeList(ctx context.Context,
	in httpstore.ListRequest) (out httpstore.ListAnswer, err error) {
	if err := s.permitRecords(ctx, in.Realm); err != nil {
		return out, err
	}
	records, err := s.config.Store.List(ctx, in.Realm)
	out.Records = append([]lease.Record{}, records...)
	return out, err
}

func (s *Server) storeTime(ctx context.Context, _ struct{}) (out httpstore.TimeAnswer, err error) {
	out.Time, err = s.config.Store.Time(ctx)
	return out, err
}

func (s *Server) storeConditions(context.Context, struct{}) (httpstore.ConditionsAnswer, error) {
	return httpstore.ConditionsAnswer{Conditions: append([]string{}, s.config.Conditions...)}, nil
}

func register[In, Out any](s *Server, name, summary string, in, out *huma.Schema,
	do func(context.Context, In) (Out, error)) {
	queue := s.storeQueue
	if name == "list" {
		queue = s.storeLists
	}
	op := s.operation("store", permitRealms, huma.Operation{
		OperationID: "store-" + name,
		Method:      http.MethodPost,
		Path:        storePath + name,
		Summary:     summary,
		// Slow bodies delay only other bodies.
		Middlewares: huma.Middlewares{s.within(s.storeBodies), s.readJSON, s.within(queue)},
		Errors: []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
			http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
			http.StatusTooManyRequests, http.StatusServiceUnavailable},
		Responses: answers(summary, typeJSON, out),
	})
	if name == "time" {
		op.Errors = append(op.Errors, http.StatusNotImplemented)
	}
	huma.Register(s.api, op, func(ctx context.Context, _ *struct{}) (*rawOutput, error) {
		request, err := decodeBody[In](ctx)
		if err != nil {
			return nil, err
		}
		answer, err := callStore(ctx, s, request, do)
		if err != nil {
			return nil, s.storeProblem(name, err)
		}
		b, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		return &rawOutput{ContentType: typeJSON, CacheControl: "no-store", Body: append(b, '\n')},
			nil
	})
	// readJSON reads the body, so huma does not describe it.
	s.api.OpenAPI().Paths[op.Path].Post.RequestBody = &huma.RequestBody{
		Required: true, Content: map[string]*huma.MediaType{typeJSON: {Schema: in}},
	}
}

func callStore[In, Out any](ctx context.Context, s *Server, request In,
	do func(context.Context, In) (Out, error)) (out Out, err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, storeTimeout,
		errors.New("other requests took too long"))
	defer cancel()
	select {
	case s.storeCalls <- struct{}{}:
		defer func() { <-s.storeCalls }()
	case <-waiting.Done():
		return out, context.Cause(waiting)
	}
	ctx, cancel = context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return do(ctx, request)
}

type bodyKey struct{}

const (
	storeTimeout = 15 * time.Second // how long a request waits for its turn
	callTimeout  = 5 * time.Second  // short, so that the server's leases are renewed in time
)

// bodyTimeout is how long a client may take to send a body.
const bodyTimeout = 5 * time.Second

// readJSON reads the body, which must have the type JSON: browsers let a foreign page send that
// only if the server permits it.
func (s *Server) readJSON(ctx huma.Context, next func(huma.Context)) {
	if kind, _, err := mime.ParseMediaType(ctx.Header("Content-Type")); err != nil ||
		kind != typeJSON {
		huma.WriteErr(s.api, ctx, http.StatusUnsupportedMediaType,
			"the body must be JSON: send the header \"Content-Type: "+typeJSON+"\"")
		return
	}
	ctx.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), maxBody+1))
	var timeout net.Error
	switch {
	case len(body) > maxBody:
		huma.WriteErr(s.api, ctx, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the body has more than %d bytes", maxBody))
	case errors.As(err, &timeout) && timeout.Timeout():
		huma.WriteErr(s.api, ctx, http.StatusRequestTimeout,
			fmt.Sprintf("the body did not arrive within %v", bodyTimeout))
	case err != nil:
		huma.WriteErr(s.api, ctx, http.StatusBadRequest, "the body ends too soon")
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

// storeProblem hides the store's own errors, which may describe its network.
func (s *Server) storeProblem(operation string, err error) error {
	var status huma.StatusError
	switch {
	case errors.As(err, &status):
		return err
	case errors.Is(err, lease.ErrNoTime):
		return huma.Error501NotImplemented("the store has no clock")
	}
	s.log.Warn("the store failed", slog.String("operation", operation), slog.Any("error", err))
	return busy("the store did not answer, or refused the request; the server's log says more")
}

// permitRecords checks that the client may read a realm's records. It limits the name's length,
// because each record repeats the name.
func (s *Server) permitRecords(ctx context.Context, realm string) error {
	if err := s.permitRealm(ctx, baseRealm(realm)); err != nil {
		return err
	}
	if len(realm) > lease.MaxRealmLen {
		return invalid(fmt.Sprintf("the realm has %d bytes, want at most %d", len(realm),
			lease.MaxRealmLen), "body.realm")
	}
	return nil
}

func baseRealm(name string) string {
	realm, _, _ := strings.Cut(name, "@")
	return realm
}

func invalid(message, location string) error {
	return huma.Error422UnprocessableEntity("invalid request", &huma.ErrorDetail{Message: message,
		Location: location})
}
