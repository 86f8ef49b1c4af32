package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sortid/sortid/lease"
	httpstore "github.com/sortid/sortid/store/http"
)

// rawBody is the input of the store's operations: JSON as [httpstore] has it.
type rawBody struct {
	RawBody []byte `contentType:"application/json"`
}

// registerStore registers the endpoints of the interface lease.Store.
func (s *Server) registerStore() {
	store := s.config.Store
	str := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	integer := func(doc string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Pattern: "^-?[0-9]+$", Description: doc}
	}
	object := func(required []string, properties map[string]*huma.Schema) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, Required: required, Properties: properties}
	}
	realm := str("The name of the realm, with \"@\" and the generation for the records of its node IDs")
	record := object([]string{"realm", "block", "revision", "hwm", "state"}, map[string]*huma.Schema{
		"realm":    realm,
		"block":    str("The node ID and its size, as in 42/8; 0/0 is the realm's own record"),
		"revision": integer("How often the record was changed; 0: there is none"),
		"hwm":      integer("The first tick never granted"),
		"state":    str("What the block is: retired, whole, split or merging"),
		"owner":    str("Who holds it"), "request": integer("The owner's number for the grant"),
		"deadline": integer("The tick from which on others may take it"), "name": str("The holder's name, for people"),
		"terms": {Type: huma.TypeObject, AdditionalProperties: true, Description: "What holds for all leases of the realm"}, "generation": str("The realm's generation"),
	})

	records := &huma.Schema{Type: huma.TypeArray, Items: record}
	block := str("as in 42/8")
	many := maxMany

	register(s, "get", "Read records of a realm",
		object([]string{"realm", "blocks"}, map[string]*huma.Schema{"realm": realm, "blocks": {Type: huma.TypeArray, Items: block, MaxItems: &many}}),
		object([]string{"records"}, map[string]*huma.Schema{"records": records}),
		func(ctx context.Context, in httpstore.GetRequest) (out httpstore.GetAnswer, err error) {
			if len(in.Blocks) > maxMany {
				return out, invalid(fmt.Sprintf("%d blocks, want at most %d", len(in.Blocks), maxMany), "body.blocks")
			}
			if err = s.permitRealm(ctx, baseRealm(in.Realm)); err != nil {
				return out, err
			}
			if len(in.Blocks) == 1 { // what Get returns outlives a crash of the store
				var r lease.Record
				r, err = store.Get(ctx, in.Realm, in.Blocks[0])
				out.Records = []lease.Record{r}
			} else {
				out.Records, err = store.GetMany(ctx, in.Realm, in.Blocks)
			}
			if out.Records == nil {
				out.Records = []lease.Record{}
			}
			return out, err
		})
	change := object([]string{"prev", "next"}, map[string]*huma.Schema{"prev": record, "next": record})
	register(s, "compare-and-set", "Replace records if they are still those that were read, in order, up to the first that is refused",
		object([]string{"changes"}, map[string]*huma.Schema{"changes": {Type: huma.TypeArray, Items: change, MaxItems: &many}}),
		object([]string{"stored"}, map[string]*huma.Schema{"stored": {Type: huma.TypeBoolean}}),
		func(ctx context.Context, in httpstore.CompareAndSetRequest) (out httpstore.CompareAndSetAnswer, err error) {
			if len(in.Changes) < 1 || len(in.Changes) > maxMany {
				return out, invalid(fmt.Sprintf("%d changes, want 1 to %d", len(in.Changes), maxMany), "body.changes")
			}
			changes := make([]lease.Change, len(in.Changes))
			for i, c := range in.Changes {
				at := fmt.Sprintf("body.changes[%d].next", i)
				switch {
				case c.Prev.Realm != c.Next.Realm || c.Prev.Block != c.Next.Block:
					return out, invalid("prev and next are records of different blocks", at)
				case c.Next.Realm != in.Changes[0].Next.Realm:
					return out, invalid("the changes are of several realms", at)
				case c.Next.Revision == 0:
					return out, invalid("the revision of a stored record is not 0", at+".revision")
				}
				changes[i] = lease.Change(c)
			}
			if err = s.permitRealm(ctx, baseRealm(changes[0].Next.Realm)); err == nil {
				out.Stored, err = store.CompareAndSetMany(ctx, changes)
			}
			return out, err
		})
	register(s, "realms", "Name the realms that the token permits", object(nil, nil),
		object([]string{"realms"}, map[string]*huma.Schema{"realms": {Type: huma.TypeArray, Items: str("a name")}}),
		func(ctx context.Context, _ struct{}) (out httpstore.RealmsAnswer, err error) {
			if err = s.permitStore(ctx); err != nil {
				return out, err
			}
			names, err := store.Realms(ctx)
			out.Realms = slices.DeleteFunc(names, func(name string) bool { return s.permitRealm(ctx, name) != nil })
			if out.Realms == nil {
				out.Realms = []string{}
			}
			return out, err
		})
	register(s, "list", "Read all records of a realm", object([]string{"realm"}, map[string]*huma.Schema{"realm": realm}),
		object([]string{"records"}, map[string]*huma.Schema{"records": records}),
		func(ctx context.Context, in httpstore.ListRequest) (out httpstore.ListAnswer, err error) {
			if err = s.permitRealm(ctx, baseRealm(in.Realm)); err == nil {
				out.Records, err = store.List(ctx, in.Realm)
			}
			if out.Records == nil {
				out.Records = []lease.Record{}
			}
			return out, err
		})
	register(s, "time", "Read the store's clock", object(nil, nil),
		object([]string{"time"}, map[string]*huma.Schema{"time": {Type: huma.TypeString, Format: "date-time"}}),
		func(ctx context.Context, _ struct{}) (out httpstore.TimeAnswer, err error) {
			if err = s.permitStore(ctx); err != nil {
				return out, err
			}
			out.Time, err = store.Time(ctx)
			return out, err
		})
	register(s, "conditions", "Say under which conditions the store never forgets", object(nil, nil),
		object([]string{"conditions"}, map[string]*huma.Schema{"conditions": {Type: huma.TypeArray, Items: str("a sentence")}}),
		func(ctx context.Context, _ struct{}) (out httpstore.ConditionsAnswer, err error) {
			if err = s.permitStore(ctx); err != nil {
				return out, err
			}
			out.Conditions = append([]string{}, s.config.Conditions...)
			return out, nil
		})
}

// register registers an operation of the store. It is the one place that decodes, and that
// maps errors to status codes.
func register[In, Out any](s *Server, name, summary string, in, out *huma.Schema, do func(context.Context, In) (Out, error)) {
	op := huma.Operation{
		OperationID: "store-" + name, Method: http.MethodPost, Path: "/v1/store/" + name, Tags: []string{"store"},
		Summary:      summary,
		MaxBodyBytes: maxBody, SkipValidateBody: true,
		Errors: []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
			http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusServiceUnavailable},
		RequestBody: &huma.RequestBody{Required: true},
		Responses:   jsonResponse(summary, out),
	}
	if name == "time" {
		op.Errors = append(op.Errors, http.StatusNotImplemented)
	}
	s.secure(&op, permitRealms)
	huma.Register(s.api, op, func(ctx context.Context, raw *rawBody) (*rawOutput, error) {
		var request In
		d := json.NewDecoder(bytes.NewReader(raw.RawBody))
		d.DisallowUnknownFields()
		if err := d.Decode(&request); err != nil {
			return nil, huma.Error400BadRequest("the body is not the JSON that /openapi.json describes: " + err.Error())
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, huma.Error400BadRequest("the body goes on after its JSON object")
		}
		answer, err := do(ctx, request)
		var status huma.StatusError
		switch {
		case errors.As(err, &status):
			return nil, err
		case errors.Is(err, lease.ErrNoTime):
			return nil, huma.Error501NotImplemented("the store has no clock")
		case err != nil: // what it says is about the store's network, which is not the client's
			s.log.Warn("the store failed", slog.String("operation", name), slog.Any("error", err))
			return nil, unavailable(fmt.Errorf("%w: the store did not answer, or refused; the server's log says more", errUnavailable))
		}
		b, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		return &rawOutput{ContentType: typeJSON, CacheControl: "no-store", Body: append(b, '\n')}, nil
	})
	// Register describes a RawBody as bytes.
	op.RequestBody.Content = map[string]*huma.MediaType{typeJSON: {Schema: in}}
}

// baseRealm returns the realm of a record's name, which may have a generation.
func baseRealm(name string) string {
	realm, _, _ := strings.Cut(name, "@")
	return realm
}

func invalid(message, location string) error {
	return huma.Error422UnprocessableEntity("invalid request", &huma.ErrorDetail{Message: message, Location: location})
}

// sorted returns the entries of a map in the order of their keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
