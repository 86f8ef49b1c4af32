package server

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
)

// Each operation can answer with each status, type and schema that /openapi.json describes.
func TestOpenAPI(t *testing.T) {
	tokens, bearer := tokensOf(t, "admin admin", "ids ids", "orders realm:orders",
		"slow admin requests=1")
	store, away := newFlaky(), newFlaky()
	s, ts := start(t, Config{Store: store, Tokens: tokens})
	waitReady(t, s)
	away.down.Store(true)
	sAway, tsAway := start(t, Config{Store: away, Tokens: tokens})
	hardly(tokens, bearer["slow"])

	root := documentOf(t, ts.URL)
	if root["openapi"] != "3.1.0" {
		t.Errorf("OpenAPI %v", root["openapi"])
	}
	const address = "mem:///openapi.json"
	compiler := jsonschema.NewCompiler()
	check.OK(t, compiler.AddResource(address, root))
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "+", "%2B").Replace

	good := map[string]struct{ path, body string }{ // no path means the operation's path
		"/v1/ids/{format}":    {"/v1/ids/scru64", ""},
		"/v1/inspect/{id}":    {"/v1/inspect/xinaS8QBh", ""},
		"/v1/inspect":         {"", "xinaS8QBh\nnonsense"},
		"/v1/bounds/{format}": {"/v1/bounds/euid?from=-1h", ""},

		"/v1/realms/{realm}":                     {"/v1/realms/orders", `{"node_bits":8}`},
		"/v1/realms/{realm}/leases":              {"/v1/realms/orders/leases", acquisition},
		"/v1/realms/{realm}/leases/{id}/renew":   {"/v1/realms/orders/leases/x/renew", "{}"},
		"/v1/realms/{realm}/leases/{id}/release": {"/v1/realms/orders/leases/x/release", "{}"},
		"/v1/realms/{realm}/leases/{id}/evict":   {"/v1/realms/orders/leases/x/evict", ""},
	}
	admin := bearer["admin"]
	c := leaseClient{t, ts.URL + "/v1/realms/", tsAway.URL + "/v1/realms/", admin}
	c.make("orders", `{"node_bits":8}`)
	for path, item := range root["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			name := strings.ToUpper(method) + " " + path
			t.Run(name, func(t *testing.T) {
				method := strings.ToUpper(method)
				target := strings.NewReplacer("{format}", "euid", "{", "", "}", "").Replace(path)
				r := httptest.NewRequest(method, target, nil)
				if _, pattern := s.mux.Handler(r); pattern != name {
					t.Errorf("%s is for %q", name, pattern)
				}
				open := send(t, method, ts.URL+target, "").StatusCode != http.StatusUnauthorized
				if _, described := operation.(map[string]any)["security"]; described != open {
					t.Errorf("needs a token: %v, described: %v", !open, !described)
				}
				request, body := good[path].path, good[path].body
				if request == "" {
					request = path
				}
				if method == http.MethodGet {
					body = ""
				} else if method == http.MethodPatch {
					body = "{}"
				}
				responses := operation.(map[string]any)["responses"].(map[string]any)
				for status, response := range responses {
					var answers []answer
					add := func(path, body string, headers ...string) {
						answers = append(answers, send(t, method, ts.URL+path, body, headers...))
					}
					leasing := c.leads(name, status)
					switch {
					case leasing != nil:
						answers = leasing
					case status == "500", status == "default": // no request is known to get this status
						continue
					case status == "200":
						add(request, body, admin)
						if strings.HasPrefix(path, "/v1/ids/") {
							add(request, body, admin, "Accept: application/json")
						}
					case status == "400":
						conn, in := raw(t, ts.URL, method+" "+request+" HTTP/1.1\r\nHost: localhost\r\n"+
							"Content-Type: application/json\r\n"+admin+"\r\nContent-Length: 100\r\n\r\n{")
						check.OK(t, conn.(*net.TCPConn).CloseWrite())
						answers = append(answers, read(t)(http.ReadResponse(in, nil)))
					case status == "401":
						add(request, body)
						add(request, body, "Authorization: Bearer wrong")
					case status == "403":
						if api.IsLeases(path) {
							add(request, body, bearer["ids"])
							add(request, body, admin, "Origin: https://example.com")
						} else {
							add(request, body, bearer["orders"])
						}
					case status == "406":
						add(request, body, admin, "Accept: image/png")
					case status == "408":
						t.Run(status, func(t *testing.T) {
							inBubble(t, func(t *testing.T) {
								conn := serveVirtual(t, virtual(t, Config{})).Dial("127.0.0.1:1")
								defer conn.Close()
								answers = append(answers, sendBegin(t, conn, method, request, 1000))
							})
						})
					case status == "413":
						conn, _ := raw(t, ts.URL, "")
						answers = append(answers, sendBegin(t, conn, method, request, 1<<30, admin))
					case status == "415":
						add(request, body, admin, "Content-Type: text/plain")
						if body != "" {
							add(request, body, admin, "Content-Type: ")
						}
					case status == "422":
						separator := "?"
						if strings.Contains(request, "?") {
							separator = "&"
						}
						add(request+separator+"nonsense=1", body, admin)
					case status == "429":
						for range 3 {
							add(request, body, bearer["slow"])
						}
						answers = slices.DeleteFunc(answers, func(a answer) bool {
							return a.StatusCode != http.StatusTooManyRequests
						})
					case status == "503":
						if path == "/v1/inspect" {
							for sAway.gates.LineBodies.Enter("token admin") {
							}
						}
						answers = append(answers, send(t, method, tsAway.URL+request, body, admin))
					default:
						t.Errorf("%s is described, but no request of this test leads to it", status)
						continue
					}
					if len(answers) == 0 {
						t.Errorf("%s: no answer", status)
					}
					for _, a := range answers {
						if fmt.Sprint(a.StatusCode) != status {
							t.Errorf("%d, want %s: %.300s", a.StatusCode, status, a.body)
							continue
						}
						if status == "204" {
							continue
						}
						mediaType, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
						content := response.(map[string]any)["content"].(map[string]any)
						if content[mediaType] == nil {
							t.Errorf("%s: %s is not described", status, mediaType)
							continue
						}
						if !strings.HasSuffix(mediaType, "json") || mediaType == api.TypeNDJSON {
							continue
						}
						schema := check.Must(compiler.Compile(address + "#/paths/" + escape(path) + "/" +
							strings.ToLower(method) + "/responses/" + status + "/content/" +
							escape(mediaType) + "/schema"))(t)
						v := check.Must(jsonschema.UnmarshalJSON(strings.NewReader(a.body)))(t)
						if err := schema.Validate(v); err != nil {
							t.Errorf("%s: %v\n%.500s", status, err, a.body)
						}
					}
				}
			})
		}
	}
}

// documentOf returns /openapi.json, with parameters and responses instead of references to
// them.
func documentOf(t *testing.T, url string) map[string]any {
	t.Helper()
	document := send(t, http.MethodGet, url+"/openapi.json", "")
	root := check.Must(jsonschema.UnmarshalJSON(strings.NewReader(document.body)))(t).(map[string]any)
	var inline func(v any) any
	inline = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			name, _ := v["$ref"].(string)
			for _, kind := range []string{"parameters", "responses"} {
				if name, ok := strings.CutPrefix(name, "#/components/"+kind+"/"); ok {
					return root["components"].(map[string]any)[kind].(map[string]any)[name]
				}
			}
			for name, member := range v {
				v[name] = inline(member)
			}
		case []any:
			for i, element := range v {
				v[i] = inline(element)
			}
		}
		return v
	}
	inline(root["paths"])
	return root
}

// Each path is described with all its methods, and says what the server knows.
func TestOpenAPIIsComplete(t *testing.T) {
	s, ts := start(t, Config{Store: lease.NewMemory(), Version: "v1.2.3"})
	root := documentOf(t, ts.URL)
	text := check.Must(json.Marshal(root))(t)
	for path, item := range root["paths"].(map[string]any) {
		target := strings.NewReplacer("{", "", "}", "").Replace(path)
		for _, method := range methods {
			r := httptest.NewRequest(method, target, nil)
			_, pattern := s.mux.Handler(r)
			_, described := item.(map[string]any)[strings.ToLower(method)]
			if pattern == method+" "+path && !described {
				t.Errorf("%s is not described", pattern)
			}
		}
	}
	for _, want := range []string{`"version":"v1.2.3"`, `"enum":["scru64","scru128","scru160"`,
		`"enum":["text","hex","int","uuid"]`, `"url":"/"`,
		fmt.Sprintf(`"maximum":%d,"minimum"`, api.MaxIDs),
		fmt.Sprintf(`"maximum":%d,"minimum"`, api.MaxList)} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing", want)
		}
	}
	bounds := root["paths"].(map[string]any)["/v1/bounds/{format}"].(map[string]any)["get"]
	if text := bounds.(map[string]any)["description"].(string); !strings.Contains(text,
		words.AcceptedTimes) {
		t.Errorf("the times of bounds are not described: %s", text)
	}
	if _, bare := start(t, Config{}); strings.Contains(send(t, "GET",
		bare.URL+"/openapi.json", "").body, "/v1/realms") {
		t.Error("a server without a store describes leases")
	}
}

// The schemas of what the command prints are those in docs/schemas.
func TestOpenAPIHasSchemas(t *testing.T) {
	_, ts := start(t, Config{})
	schemas := documentOf(t, ts.URL)["components"].(map[string]any)["schemas"].(map[string]any)
	for name, file := range map[string]string{"ID": "id", "Inspected": "inspect",
		"Bounds": "bounds"} {
		path := filepath.FromSlash("../../../docs/schemas/" + file + ".json")
		text := strings.ReplaceAll(string(check.Must(os.ReadFile(path))(t)), `"id.json"`,
			`"#/components/schemas/ID"`)
		want := check.Must(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t).(map[string]any)
		delete(want, "$schema")
		if got := schemas[name]; !reflect.DeepEqual(got, any(want)) {
			t.Errorf("%s is not docs/schemas/%s.json:\n%v\n%v", name, file, got, want)
		}
	}
}

func sendBegin(t *testing.T, conn net.Conn, method, path string, length int,
	headers ...string) answer {
	t.Helper()
	request := method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" +
		"Content-Type: application/json\r\n" +
		fmt.Sprintf("Content-Length: %d\r\n", length)
	request += strings.Join(append(headers, "", ""), "\r\n") +
		strings.Repeat(" ", min(length-1, 2<<20))
	go io.WriteString(conn, request)
	return read(t)(http.ReadResponse(bufio.NewReader(conn), nil))
}

const acquisition = `{"request":"0123456789abcdef"}`

// A leaseClient sends requests for leases.
type leaseClient struct {
	*testing.T
	base   string // ends in /v1/realms/
	away   string // the same, of a server whose store does not answer; or ""
	bearer string // a header, or ""
}

func (c leaseClient) send(method, path, body string) answer {
	c.Helper()
	var headers []string
	if c.bearer != "" {
		headers = append(headers, c.bearer)
	}
	return send(c.T, method, c.base+path, body, headers...)
}

func (c leaseClient) make(realm, body string) answer {
	c.Helper()
	a := c.send(http.MethodPut, realm, body)
	if a.StatusCode != http.StatusCreated {
		c.Fatalf("%s: %d: %s", realm, a.StatusCode, a.body)
	}
	return a
}

// A gotLease has some fields of a lease.
type gotLease struct {
	c                         leaseClient
	ID, Secret, Realm, Holder string
	NodeSpec                  string `json:"node_spec"`
	NodeID                    int64  `json:"node_id"`
	FirstTick                 int64  `json:"first_tick"`
	EndTick                   int64  `json:"end_tick"`
	ValidFromMS               int64  `json:"valid_from_ms"`
	ValidUntilMS              int64  `json:"valid_until_ms"`
}

// acquire sends a body with a new request, which the test can repeat.
func (c leaseClient) acquire(realm, members string) (gotLease, string) {
	c.Helper()
	body := `{"request":"` + rand.Text() + `"` + members + `}`
	a := c.send(http.MethodPost, realm+"/leases", body)
	if a.StatusCode != http.StatusCreated {
		c.Fatalf("%s: %d: %s", body, a.StatusCode, a.body)
	}
	return c.parse(a), body
}

func (c leaseClient) parse(a answer) gotLease {
	c.Helper()
	l := gotLease{c: c}
	check.OK(c, json.Unmarshal([]byte(a.body), &l))
	return l
}

func (l gotLease) path(operation string) string {
	return url.PathEscape(l.Realm) + "/leases/" + l.ID + "/" + operation
}

func (l gotLease) renew(members string) answer {
	l.c.Helper()
	return l.c.send(http.MethodPost, l.path("renew"),
		fmt.Sprintf(`{"secret":%q,"end_tick":%d%s}`, l.Secret, l.EndTick, members))
}

func (l gotLease) release(members string) answer {
	l.c.Helper()
	return l.c.send(http.MethodPost, l.path("release"),
		fmt.Sprintf(`{"secret":%q,"end_tick":%d%s}`, l.Secret, l.EndTick, members))
}

// leads returns answers with a status that needs more than one request, or nil.
func (c leaseClient) leads(operation, status string) []answer {
	c.Helper()
	only := func(method, path, body string) []answer {
		return []answer{c.send(method, path, body)}
	}
	realm := rand.Text()
	switch operation + " " + status {
	case "PUT /v1/realms/{realm} 201":
		return []answer{c.make(realm, `{"format":"scru64"}`)}
	case "PUT /v1/realms/{realm} 409":
		return only("PUT", "orders", `{"node_bits":9}`)
	case "PATCH /v1/realms/{realm} 404":
		return only("PATCH", realm, "{}")
	case "PATCH /v1/realms/{realm} 409":
		c.acquire("orders", "")
		return only("PATCH", "orders", `{"lead_ms":1000}`)
	case "GET /v1/realms/{realm} 404":
		return only("GET", realm, "")
	case "GET /v1/realms/{realm}/leases 404":
		return only("GET", realm+"/leases", "")
	case "POST /v1/realms/{realm}/leases 404":
		return only("POST", realm+"/leases", acquisition)
	case "POST /v1/realms/{realm}/leases 201":
		return only("POST", "orders/leases", `{"request":"`+realm+`","node_bits":8}`)
	case "POST /v1/realms/{realm}/leases 200":
		_, again := c.acquire("orders", "")
		return only("POST", "orders/leases", again)
	case "POST /v1/realms/{realm}/leases 409":
		l, _ := c.acquire("orders", `,"holder":"a"`)
		return only("POST", "orders/leases", fmt.Sprintf(`{"request":%q,"node_id":%d}`, realm,
			l.NodeID))
	case "POST /v1/realms/{realm}/leases 410":
		l, again := c.acquire("orders", "")
		l.release("")
		return only("POST", "orders/leases", again)
	case "POST /v1/realms/{realm}/leases/{id}/renew 200":
		l, _ := c.acquire("orders", "")
		return []answer{l.renew("")}
	case "POST /v1/realms/{realm}/leases/{id}/renew 404":
		l, _ := c.acquire("orders", "")
		l.ID = realm
		return []answer{l.renew("")}
	case "POST /v1/realms/{realm}/leases/{id}/renew 409":
		l, _ := c.acquire("orders", "")
		l.EndTick += 50
		return []answer{l.renew("")}
	case "POST /v1/realms/{realm}/leases/{id}/renew 410":
		l, _ := c.acquire("orders", "")
		l.release("")
		return []answer{l.renew("")}
	case "POST /v1/realms/{realm}/leases/{id}/renew 503":
		l, _ := c.acquire("orders", "")
		l.c.base = c.away
		return []answer{l.renew("")}
	case "POST /v1/realms/{realm}/leases/{id}/release 503":
		l, _ := c.acquire("orders", "")
		l.c.base = c.away
		return []answer{l.release("")}
	case "POST /v1/realms/{realm}/leases/{id}/evict 503":
		l, _ := c.acquire("orders", "")
		l.c.base = c.away
		return []answer{l.c.send("POST", l.path("evict"), "")}
	case "POST /v1/realms/{realm}/leases/{id}/release 204":
		l, _ := c.acquire("orders", "")
		return []answer{l.release(""), l.release("")}
	case "POST /v1/realms/{realm}/leases/{id}/release 404":
		l, _ := c.acquire("orders", "")
		l.Realm = realm
		return []answer{l.release("")}
	case "POST /v1/realms/{realm}/leases/{id}/evict 204":
		l, _ := c.acquire("orders", "")
		return only("POST", l.path("evict"), "")
	case "POST /v1/realms/{realm}/leases/{id}/evict 404":
		return only("POST", "orders/leases/"+realm+"/evict", "")
	}
	return nil
}
