package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sortid/sortid/cmd/sortid/internal/check"
	"github.com/sortid/sortid/cmd/sortid/server/httpapi"
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

	document := send(t, http.MethodGet, ts.URL+"/openapi.json", "")
	parsed := check.Must(jsonschema.UnmarshalJSON(strings.NewReader(document.body)))(t)
	root := parsed.(map[string]any)
	if root["openapi"] != "3.1.0" {
		t.Errorf("OpenAPI %v", root["openapi"])
	}
	const address = "mem:///openapi.json"
	compiler := jsonschema.NewCompiler()
	check.OK(t, compiler.AddResource(address, parsed))
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "+", "%2B").Replace

	good := map[string]struct{ path, body string }{ // no path means the operation's path
		"/v1/ids/{format}":          {"/v1/ids/scru64", ""},
		"/v1/inspect/{id}":          {"/v1/inspect/xinaS8QBh", ""},
		"/v1/inspect":               {"", "xinaS8QBh\nnonsense"},
		"/v1/bounds/{format}":       {"/v1/bounds/euid?from=-1h", ""},
		"/v1/store/get":             {"", `{"realm":"orders","blocks":["1/8"]}`},
		"/v1/store/list":            {"", `{"realm":"orders"}`},
		"/v1/store/compare-and-set": {"", realmChange("orders")},
		"/v1/store/time":            {"", `{}`},
		"/v1/store/realms":          {"", `{}`},
		"/v1/store/conditions":      {"", `{}`},
	}
	admin := bearer["admin"]
	for path, item := range root["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			name := strings.ToUpper(method) + " " + path
			t.Run(name, func(t *testing.T) {
				method := strings.ToUpper(method)
				request, body := good[path].path, good[path].body
				if request == "" {
					request = path
				}
				responses := operation.(map[string]any)["responses"].(map[string]any)
				for status, response := range responses {
					var answers []answer
					add := func(path, body string, headers ...string) {
						answers = append(answers, send(t, method, ts.URL+path, body, headers...))
					}
					switch status {
					case "500", "default": // no request is known to get this status
						continue
					case "200":
						add(request, body, admin)
						if strings.HasPrefix(path, "/v1/ids/") {
							add(request, body, admin, "Accept: application/json")
						}
					case "400":
						add(request, "{", admin)
						add(request, "", admin)
					case "401":
						add(request, body)
						add(request, body, "Authorization: Bearer wrong")
					case "403":
						if strings.HasPrefix(path, httpapi.StorePath) {
							add(request, body, bearer["ids"])
						} else {
							add(request, body, bearer["orders"])
						}
					case "406":
						add(request, body, admin, "Accept: image/png")
					case "408":
						t.Run(status, func(t *testing.T) {
							inBubble(t, func(t *testing.T) {
								conn := serveVirtual(t, virtual(t, Config{})).Dial("127.0.0.1:1")
								defer conn.Close()
								answers = append(answers, sendBegin(t, conn, request, 1000))
							})
						})
					case "413":
						conn, _ := raw(t, ts.URL, "")
						answers = append(answers, sendBegin(t, conn, request, 1<<30, admin))
					case "415":
						add(request, body, admin, "Content-Type: text/plain")
						add(request, body, admin, "Content-Type: ")
					case "422":
						separator := "?"
						if strings.Contains(request, "?") {
							separator = "&"
						}
						add(request+separator+"nonsense=1", body, admin)
					case "429":
						for range 3 {
							add(request, body, bearer["slow"])
						}
						answers = slices.DeleteFunc(answers, func(a answer) bool {
							return a.StatusCode != http.StatusTooManyRequests
						})
					case "501":
						store.noClock.Store(true)
						add(request, body, admin)
						store.noClock.Store(false)
					case "503":
						if path == "/v1/store/conditions" { // it does not call the store
							continue
						}
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
						mediaType, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
						content := response.(map[string]any)["content"].(map[string]any)
						if content[mediaType] == nil {
							t.Errorf("%s: %s is not described", status, mediaType)
							continue
						}
						if !strings.HasSuffix(mediaType, "json") || mediaType == httpapi.TypeNDJSON {
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

func sendBegin(t *testing.T, conn net.Conn, path string, length int, headers ...string) answer {
	t.Helper()
	request := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		fmt.Sprintf("Content-Length: %d\r\n", length)
	request += strings.Join(append(headers, "", ""), "\r\n") +
		strings.Repeat(" ", min(length-1, 2<<20))
	go io.WriteString(conn, request)
	return read(t)(http.ReadResponse(bufio.NewReader(conn), nil))
}
