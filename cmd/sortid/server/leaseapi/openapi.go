package leaseapi

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
)

// A description is what users must know about a route.
type description struct {
	id, summary, text string
	body              any         // a struct, or nil
	answers           map[int]any // structs, or nil for no body
	codes             map[int][]api.Code
}

// A codeList has the codes of problems by their status.
type codeList = map[int][]api.Code

var descriptions = map[string]description{
	"GET " + realmsPath: {"list-realms", "List the realms that the token permits",
		"The realms are in the order of their names.", nil,
		map[int]any{200: realmsAnswer{}}, nil},
	"PUT " + realmPath: {"make-realm", "Make a realm, or check that it agrees",
		"Send format, node_bits, or both. node_bits alone makes a realm for any generator: node IDs " +
			"of this size, and ticks of 1 ms since 1970. format alone takes the width of the " +
			"format's node ID; then scru64 grants several sizes. A program must not make the realm " +
			"from which it leases: if the store has lost the realm, a new one would grant node IDs " +
			"that others hold.", realmBody{},
		map[int]any{200: realmAnswer{}, 201: realmAnswer{}},
		codeList{409: {api.RealmDiffers, api.TooManyRealms}}},
	"PATCH " + realmPath: {"change-realm", "Change the window or the lead of a realm",
		"A lease uses the new values from a later renewal on.", spansBody{},
		map[int]any{200: realmAnswer{}}, codeList{404: {api.NoRealm}}},
	"GET " + realmPath: {"show-realm", "Show a realm", "", nil,
		map[int]any{200: realmAnswer{}}, codeList{404: {api.NoRealm}}},
	"GET " + leasesPath: {"list-leases", "List the leases of a realm",
		"The leases are in the order of their node IDs. The list also has node IDs that wait after " +
			"their use.", nil,
		map[int]any{200: leasesAnswer{}}, codeList{404: {api.NoRealm}}},
	"POST " + leasesPath: {"acquire-lease", "Acquire a lease of a node ID",
		"Until the lease has ended, the same request again gives the same lease, with its newest " +
			"times. So after a lost answer or status 429 or 503, send the same again.\n\n" +
			"The client makes IDs that carry times from valid_from up to, not including, " +
			"valid_until, by the clock that stamps its IDs. Then no ID is made twice, whatever any " +
			"clock shows. If the node ID may have only one user at one moment, the client also waits " +
			"for starts_in_ms after the first answer with this id and valid_from came. It stops " +
			"valid_for_ms after it sent the request of the answer with the largest valid_until. " +
			"It measures both with a monotonic clock that runs while the machine is suspended.",
		acquireBody{}, map[int]any{200: leaseAnswer{}, 201: leaseAnswer{}},
		codeList{404: {api.NoRealm}, 410: {api.LeaseLost},
			409: {api.NodeHeld, api.RealmDiffers, api.RequestDiffers,
				api.Forgotten},
			422: {api.ClockDiffers}, 503: {api.NoneFree}}},
	"POST " + leasePath + "/renew": {"renew-lease", "Renew a lease",
		"The answer never has an earlier end. The client renews at renew_at, and again after each " +
			"failure, with jitter. It takes the answer with the largest valid_until whole, in " +
			"whatever order answers arrive. After 410, it stops at once.", renewBody{},
		map[int]any{200: leaseAnswer{}},
		codeList{404: {api.NotFound}, 409: {api.Forgotten}, 410: {api.LeaseLost},
			422: {api.ClockDiffers}}},
	"POST " + leasePath + "/release": {"release-lease", "Give a lease back",
		"With last_time_ms, the node ID is free from the next tick on; without it, from " +
			"valid_until on. After the client has sent this request, it makes no more IDs, " +
			"whatever the answer is. The answer is 204 even if the lease has ended.", releaseBody{},
		map[int]any{204: nil}, codeList{404: {api.NoRealm}}},
	"POST " + leasePath + "/evict": {"evict-lease", "Take a lease from its holder",
		"The holder may use the node ID up to valid_until. Its next renewal gets 410.", nil,
		map[int]any{204: nil}, codeList{404: {api.NoRealm, api.NotFound}}},
}

// fields describes the fields of all bodies, by their names.
var fields = map[string]string{
	"after":           "The next of the previous part of the list; left out at the beginning",
	"conditions":      "Sentences: the store keeps the guarantee under these conditions",
	"end_tick":        "The first tick that is not in the lease. In requests: of the newest answer",
	"first_tick":      "The first tick of the lease",
	"format":          "The name of the ID format; absent if the realm is for any generator",
	"free":            "Free node IDs (of several sizes: free blocks of 8 bits); up to 15 s old",
	"free_from":       "From when an acquire of the node ID can succeed, in RFC 3339",
	"free_from_ms":    "From when an acquire of the node ID can succeed, in Unix milliseconds",
	"free_share":      "The free share of all node IDs",
	"guarantee":       "What the server guarantees",
	"held":            "Node IDs with a holder; up to 15 s old",
	"holder":          "The name of the holder, for people; up to 100 bytes",
	"id":              "The ID of the lease; not secret",
	"last_time_ms":    "The time of the last ID that was made, in Unix milliseconds",
	"lead_ms":         "How far in the future a lease can start, and how much clocks may differ",
	"lease_window_ms": "How long a lease is; the lease's own may be shorter than the realm's",
	"leases":          "The leases",
	"limit":           "How many rows the answer has at most",
	"name":            "The name of the realm",
	"next":            "Where the list continues; null at its end",
	"node_bits":       "The size of node IDs in bits; in realms: absent if there are several sizes",
	"node_id":         "The node ID, below 2 to the power of node_bits; in requests: left out for any",
	"node_spec":       "node_id and node_bits with a slash",
	"realm":           "The realm's name: 1 to 100 bytes of UTF-8, without @ and control characters",
	"realms":          "The realms",
	"renew_at":        "When to renew, in RFC 3339",
	"renew_at_ms":     "When to renew, in Unix milliseconds",
	"renewal":         "Random for each renewal, the same in its repetitions; finds clones",
	"request":         "Printable ASCII, random for each lease, the same in its repetitions; secret",
	"secret":          "Proves who holds the lease; the same for the lease's whole life",
	"server_time":     "The store's clock, in RFC 3339",
	"server_time_ms":  "The store's clock, in Unix milliseconds",
	"since":           "The time of first_tick, in RFC 3339",
	"since_ms":        "The time of first_tick, in Unix milliseconds",
	"starts_in_ms":    "The node ID has one user at a moment from so long after the answer came",
	"state":           "held, or waiting: after its use, the node ID cannot be granted yet",
	"tick_epoch":      "When tick 0 starts, in RFC 3339",
	"tick_epoch_ms":   "When tick 0 starts, in Unix milliseconds",
	"tick_ms":         "How long a tick is",
	"time_ms":         "The client's clock, in Unix milliseconds; it is compared with the store's",
	"valid_for_ms":    "The node ID has one user at a moment until so long after the request was sent",
	"valid_from":      "The first time that IDs may carry, in RFC 3339",
	"valid_from_ms":   "The first time that IDs may carry, in Unix milliseconds",
	"valid_until":     "The end: IDs carry earlier times; in RFC 3339",
	"valid_until_ms":  "The end: IDs carry earlier times; in Unix milliseconds",
	"wait_ms":         "How long to wait for a node ID if none is free",
	"waiting":         "Node IDs that were used and are not yet free; up to 15 s old",
}

// examples has values of fields.
var examples = map[string]any{
	"end_tick": int64(1795440060000), "first_tick": int64(1795440000000), "format": "scru64",
	"free":      251,
	"free_from": "2026-11-23T12:01:30.000Z", "free_from_ms": int64(1795435290000), "free_share": 0.98,
	"guarantee": guarantee, "held": 4, "holder": "orders-7f9c",
	"id": "1000006wpwcp7j3fk114fk7vtskt3cryab14bqr", "last_time_ms": int64(1795435230000),
	"lead_ms":         10000,
	"lease_window_ms": 60000, "name": "orders", "next": nil, "node_bits": 8, "node_id": 42,
	"node_spec": "42/8", "realm": "orders", "renewal": "TndmmfCUBBqyXuFa",
	"request": "0wZ2oM3c8VhTnYq4xRk1Bg", "secret": "7zfekr2y0gm29ytb78mr5r6sn0",
	"starts_in_ms": 0, "state": "held", "tick_epoch": "1970-01-01T00:00:00.000Z",
	"tick_epoch_ms": 0, "tick_ms": 1, "time_ms": int64(1795435200000), "valid_for_ms": 60000,
	"wait_ms": 30000, "waiting": 1,
}

// describe adds the routes to the OpenAPI document.
func describe(h huma.API) {
	doc := h.OpenAPI()
	for _, rt := range routes {
		d := descriptions[rt.method+" "+rt.path]
		op := access.Require(access.PermitRealms, huma.Operation{
			OperationID: d.id, Method: rt.method, Path: rt.path, Summary: d.summary,
			Description: d.text, Tags: []string{"leases"}, Parameters: parameters(rt),
			Responses: map[string]*huma.Response{},
		})
		if d.body != nil {
			op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
				api.TypeJSON: {Schema: schemaOf(doc, d.body)}}}
		}
		for status, body := range d.answers {
			op.Responses[strconv.Itoa(status)] = success(doc, rt, status, body)
		}
		for status, codes := range problems(d) {
			op.Responses[strconv.Itoa(status)] = failure(doc, status, codes)
		}
		doc.AddOperation(&op)
	}
}

func parameters(rt route) (all []*huma.Param) {
	text := func(name, in string, schema huma.Schema) {
		schema.Type = huma.TypeString
		all = append(all, &huma.Param{Name: name, In: in, Required: in == "path", Schema: &schema,
			Description: fields[name], Example: examples[name]})
	}
	if strings.Contains(rt.path, "{realm}") {
		text("realm", "path", huma.Schema{MinLength: new(1), MaxLength: new(100)})
	}
	if strings.Contains(rt.path, "{id}") {
		text("id", "path", huma.Schema{MinLength: new(1)})
	}
	if rt.list {
		text("after", "query", huma.Schema{})
		all = append(all, &huma.Param{Name: "limit", In: "query", Description: fields["limit"],
			Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0), Default: 100,
				Maximum: new(float64(api.MaxList))}})
	}
	return all
}

// schemaOf returns a reference to the schema of a struct.
func schemaOf(doc *huma.OpenAPI, body any) *huma.Schema {
	t := reflect.TypeOf(body)
	ref := doc.Components.Schemas.Schema(t, true, t.Name())
	schema := doc.Components.Schemas.SchemaFromRef(ref.Ref)
	request := strings.HasSuffix(t.Name(), "Body")
	for name, property := range schema.Properties {
		property.Description = fields[name]
		if example, ok := examples[name]; ok {
			property.Examples = []any{example}
		}
		property.Nullable = name == "next" || request && !slices.Contains(schema.Required, name)
	}
	if !request {
		schema.AdditionalProperties = true // later releases may add some
	}
	for i := range t.NumField() {
		if f := t.Field(i).Type; f.Kind() == reflect.Slice && f.Elem().Kind() == reflect.Struct {
			schemaOf(doc, reflect.Zero(f.Elem()).Interface())
		}
	}
	return ref
}

func success(doc *huma.OpenAPI, rt route, status int, body any) *huma.Response {
	r := &huma.Response{Description: http.StatusText(status), Headers: map[string]*huma.Param{
		"Cache-Control": {Description: "no-store", Schema: api.Text()}}}
	switch status {
	case http.StatusOK:
		r.Description = "The newest state"
		if rt.counted == acquiring {
			r.Description = "The lease that an earlier copy of the request got, with its newest times"
		} else if rt.method == http.MethodPut {
			r.Description = "The realm exists, and agrees with the request"
		}
	case http.StatusCreated:
		r.Description = "It is new"
	case http.StatusNoContent:
		r.Description = "Done"
	}
	if rt.counted == acquiring {
		r.Headers["Location"] = &huma.Param{Description: "The path of the lease",
			Schema: api.Text(), Example: "/v1/realms/orders/leases/" + examples["id"].(string)}
	}
	if body != nil {
		r.Content = map[string]*huma.MediaType{api.TypeJSON: {Schema: schemaOf(doc, body)}}
	}
	return r
}

// problems returns the codes of all problems that a request can get, by their status.
func problems(d description) codeList {
	all := codeList{401: {api.NoToken}, 403: {api.NotAllowed, api.ForeignPage},
		422: {api.InvalidRequest}, 429: {api.Limit},
		503: {api.Limit, api.StoreUnavailable}}
	if d.body != nil || d.id == "evict-lease" {
		all[400], all[408] = []api.Code{api.CutOff}, []api.Code{api.Timeout}
		all[413] = []api.Code{api.TooLarge}
		all[415] = []api.Code{api.ContentType}
	}
	for status, codes := range d.codes {
		all[status] = append(all[status], codes...)
	}
	return all
}

func failure(doc *huma.OpenAPI, status int, codes []api.Code) *huma.Response {
	var lines []string
	r := &huma.Response{Content: map[string]*huma.MediaType{api.ProblemType: {
		Schema:   doc.Components.Schemas.Schema(reflect.TypeFor[api.Problem](), true, "Problem"),
		Examples: map[string]*huma.Example{}}}}
	for _, code := range codes {
		lines = append(lines, fmt.Sprintf("%s: %s", code, api.Titles[code]))
		r.Content[api.ProblemType].Examples[string(code)] = &huma.Example{
			Value: api.NewProblem(status, code, "what is wrong, and what to do about it")}
		switch code {
		case api.NodeHeld, api.Limit, api.NoneFree, api.StoreUnavailable:
			r.Headers = map[string]*huma.Param{"Retry-After": {
				Description: "Whole seconds. Ask again after them, with jitter",
				Schema:      &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0)}}}
		}
	}
	r.Description = strings.Join(lines, "; ")
	return r
}
