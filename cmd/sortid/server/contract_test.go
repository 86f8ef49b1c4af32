package server

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http/wire"
)

// The fields of leases that docs/service.md explains. A field ending in ~ is a time: it has a
// second form with _ms.
const (
	realmFields = "name format? node_bits? lease_window_ms lead_ms tick_ms tick_epoch~ guarantee " +
		"conditions held waiting free free_share"
	leaseFields = "id secret realm format? node_id node_bits node_spec holder valid_from~ renew_at~ " +
		"valid_until~ starts_in_ms valid_for_ms server_time~ first_tick end_tick tick_ms tick_epoch~"
	holdingFields = "id realm format? node_id node_bits node_spec holder state since~ valid_until~ " +
		"free_from~ first_tick end_tick tick_ms tick_epoch~"
	problemFields = "type title status detail code errors? realm? token? difference_ms? holders? holder? " +
		"state? valid_until~? free_from~?"
)

type contract struct{ operation, body, answers, query, codes string }

// always are the codes that each request for leases can get.
const always = "401 no-token, 403 not-allowed, 403 foreign-page, 422 invalid, 429 limit, " +
	"503 limit, 503 store-unavailable"

const ofBodies = ", 400 cut-off, 408 timeout, 413 too-large, 415 content-type"

var contracts = []contract{
	{"PUT /v1/realms/{realm}", "format? node_bits? lease_window_ms? lead_ms?",
		"200 " + realmFields + ", 201 " + realmFields, "",
		"409 realm-differs, 409 too-many-realms" + ofBodies},
	{"PATCH /v1/realms/{realm}", "lease_window_ms? lead_ms? force?", "200 " + realmFields, "",
		"404 no-realm, 409 in-use" + ofBodies},
	{"GET /v1/realms/{realm}", "", "200 " + realmFields, "", "404 no-realm"},
	{"GET /v1/realms", "", "200 realms next", "after limit", ""},
	{"GET /v1/realms/{realm}/leases", "", "200 leases next", "after limit", "404 no-realm"},
	{"POST /v1/realms/{realm}/leases",
		"request node_bits? node_id? holder? lease_window_ms? wait_ms? time_ms?",
		"200 " + leaseFields + ", 201 " + leaseFields, "",
		"404 no-realm, 409 node-held, 409 realm-differs, 409 request-differs, 409 forgotten, " +
			"410 lease-lost, 422 clock-differs, 503 none-free" + ofBodies},
	{"POST /v1/realms/{realm}/leases/{id}/renew", "secret end_tick renewal? time_ms?",
		"200 " + leaseFields, "",
		"404 not-found, 409 forgotten, 410 lease-lost, 422 clock-differs" + ofBodies},
	{"POST /v1/realms/{realm}/leases/{id}/release", "secret end_tick? last_time_ms?", "204 ", "",
		"404 no-realm" + ofBodies},
	{"POST /v1/realms/{realm}/leases/{id}/evict", "", "204 ", "",
		"404 no-realm, 404 not-found" + ofBodies},
}

// fieldList sorts the fields of a contract, and writes out times.
func fieldList(text string) []string {
	var all []string
	for _, f := range strings.Fields(text) {
		optional := ""
		if strings.HasSuffix(f, "?") {
			f, optional = f[:len(f)-1], "?"
		}
		if f, ok := strings.CutSuffix(f, "~"); ok {
			all = append(all, f+optional, f+"_ms"+optional)
			continue
		}
		all = append(all, f+optional)
	}
	slices.Sort(all)
	return all
}

type openAPI struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

type operation struct {
	Summary, Description string
	Parameters           []struct {
		Name, In, Description string
		Schema                schema
	}
	RequestBody struct{ Content map[string]media }
	Responses   map[string]struct {
		Description string
		Headers     map[string]struct{ Description string }
		Content     map[string]media
	}
	Security []map[string][]string
}

type media struct {
	Schema   schema
	Examples map[string]struct{ Value struct{ Code, Title string } }
}

type schema struct {
	Ref         string `json:"$ref"`
	Description string
	Required    []string
	Properties  map[string]schema
	Items       *schema
	Examples    []any
}

func (o openAPI) fields(t *testing.T, s schema) []string {
	s = o.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	var all []string
	for name, property := range s.Properties {
		if property.Description == "" && name != "$schema" {
			t.Errorf("the field %s has no description", name)
		}
		if !slices.Contains(s.Required, name) {
			name += "?"
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// /openapi.json describes what docs/service.md says about leases: each request, field and code.
func TestOpenAPIOfLeases(t *testing.T) {
	_, ts := start(t, Config{Store: lease.NewMemory()})
	var doc openAPI
	check.OK(t, json.Unmarshal(check.Must(json.Marshal(documentOf(t, ts.URL)))(t), &doc))
	equal := func(what string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", what, got, want)
		}
	}
	for _, c := range contracts {
		method, path, _ := strings.Cut(c.operation, " ")
		op := doc.Paths[path][strings.ToLower(method)]
		delete(doc.Paths[path], strings.ToLower(method))
		if op.Summary == "" || op.Security != nil {
			t.Errorf("%s: no summary, or no token is needed", c.operation)
		}
		equal(c.operation+": body", doc.fields(t, op.RequestBody.Content["application/json"].Schema),
			fieldList(c.body))
		var query, answers, codes []string
		for _, p := range op.Parameters {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", c.operation, p.Name)
			}
			if p.In == "query" {
				query = append(query, p.Name)
			} else if !strings.Contains(path, "{"+p.Name+"}") {
				t.Errorf("%s: the parameter %s", c.operation, p.Name)
			}
		}
		equal(c.operation+": query", query, strings.Fields(c.query))
		for status, r := range op.Responses {
			if status[0] == '2' {
				answers = append(answers, status)
				if strings.Contains(c.operation, "leases") && r.Headers["Cache-Control"].Description !=
					"no-store" {
					t.Errorf("%s: %s: the header Cache-Control is not described", c.operation, status)
				}
				continue
			}
			content := r.Content["application/problem+json"]
			equal(c.operation+": problem", doc.fields(t, content.Schema), fieldList(problemFields))
			for name, example := range content.Examples {
				codes = append(codes, status+" "+name)
				if title := api.Titles[wire.Code(name)]; example.Value.Code != name ||
					example.Value.Title != title || !strings.Contains(r.Description, name+": "+title) {
					t.Errorf("%s: %s: %+v: %s", c.operation, name, example, r.Description)
				}
				if (status == "429" || status == "503" || name == "node-held") !=
					(r.Headers["Retry-After"].Description != "") && status != "409" {
					t.Errorf("%s: %s: the header Retry-After", c.operation, name)
				}
			}
		}
		slices.Sort(codes)
		want := slices.Sorted(slices.Values(strings.Split(
			strings.TrimPrefix(always+", "+strings.TrimPrefix(c.codes, ", "), ", "), ", ")))
		want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
		equal(c.operation+": codes", codes, want)
		for answer := range strings.SplitSeq(c.answers, ", ") {
			status, fields, _ := strings.Cut(answer, " ")
			answers = slices.DeleteFunc(answers, func(s string) bool { return s == status })
			equal(c.operation+" "+status, doc.fields(t,
				op.Responses[status].Content["application/json"].Schema), fieldList(fields))
		}
		if len(answers) > 0 {
			t.Errorf("%s: more statuses: %q", c.operation, answers)
		}
		if strings.HasSuffix(c.operation, "/leases") && method == "POST" &&
			op.Responses["201"].Headers["Location"].Description == "" {
			t.Errorf("%s: the header Location is not described", c.operation)
		}
	}
	for path, rest := range doc.Paths {
		if strings.HasPrefix(path, "/v1/realms") && len(rest) > 0 {
			t.Errorf("%s: more methods: %q", path, slices.Collect(maps.Keys(rest)))
		}
	}
	row := schema{Ref: "HoldingAnswer"}
	equal("a row of a list", doc.fields(t, row), fieldList(holdingFields))
}

// The table of codes in docs/service.md has each code that requests for leases can get.
func TestDocumentedCodes(t *testing.T) {
	_, table, _ := strings.Cut(serviceDocument(t), "| Status | `code` | What to do |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, c := range contracts {
		for entry := range strings.SplitSeq(always+", "+strings.TrimPrefix(c.codes, ", "), ", ") {
			_, code, _ := strings.Cut(entry, " ")
			if code != "" && code != "foreign-page" && !strings.Contains(table, "`"+code+"`") {
				t.Errorf("the code %s is not documented", code)
			}
		}
	}
}
