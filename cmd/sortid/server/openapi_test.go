package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sortid/sortid/lease"
)

// Each described operation gives each of its statuses, with a body by its type and schema.
func TestOpenAPI(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	texts := map[string]string{}
	for name, permissions := range map[string][]string{"admin": {"admin"}, "ids": {"ids"},
		"orders": {"realm:orders"}} {
		text, line, err := NewToken(name, permissions, 0, 0)
		if err == nil {
			err = AppendToken(path, line)
		}
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = text
	}
	slow, line, _ := NewToken("slow", []string{"admin"}, 1, 0)
	if err := AppendToken(path, line); err != nil {
		t.Fatal(err)
	}
	tokens, err := OpenTokens(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	store, away := &flaky{Store: lease.NewMemory()}, &flaky{Store: lease.NewMemory()}
	s, ts := start(t, Config{Store: store, Tokens: tokens})
	waitReady(t, s)
	away.down.Store(true)
	sAway, tsAway := start(t, Config{Store: away, Tokens: tokens})
	hardly(t, tokens, "slow")

	document := send(t, http.MethodGet, ts.URL+"/openapi.json", "")
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(document.body))
	if err != nil {
		t.Fatal(err)
	}
	root := parsed.(map[string]any)
	if root["openapi"] != "3.1.0" {
		t.Errorf("OpenAPI %v", root["openapi"])
	}
	const address = "mem:///openapi.json"
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(address, parsed); err != nil {
		t.Fatal(err)
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "+", "%2B").Replace

	record := `{"realm":"orders","block":"0/0","revision":"%s","hwm":"0","state":"split",` +
		`"terms":{"bits":23,"tick":256,"epoch":0,"window":234,"lead":39},"generation":"0123456789abcdef"}`
	good := map[string]struct{ path, body string }{ // if not the operation's path
		"/v1/ids/{format}":    {"/v1/ids/scru64", ""},
		"/v1/inspect/{id}":    {"/v1/inspect/xinaS8QBh", ""},
		"/v1/inspect":         {"", "xinaS8QBh\nnonsense"},
		"/v1/bounds/{format}": {"/v1/bounds/euid?from=-1h", ""},
		"/v1/store/get":       {"", `{"realm":"orders","blocks":["1/8"]}`},
		"/v1/store/list":      {"", `{"realm":"orders"}`},
		"/v1/store/compare-and-set": {"", `{"changes":[{"prev":` + fmt.Sprintf(record, "0") +
			`,"next":` + fmt.Sprintf(record, "1") + `}]}`},
		"/v1/store/time":       {"", `{}`},
		"/v1/store/realms":     {"", `{}`},
		"/v1/store/conditions": {"", `{}`},
	}
	admin := "Authorization: Bearer " + texts["admin"]
	for path, item := range root["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			name := strings.ToUpper(method) + " " + path
			t.Run(name, func(t *testing.T) {
				method := strings.ToUpper(method)
				request, body := good[path].path, good[path].body
				if request == "" {
					request = path
				}
				with := func(parameter string) string {
					if strings.Contains(request, "?") {
						return request + "&" + parameter
					}
					return request + "?" + parameter
				}
				storeOf := strings.HasPrefix(path, "/v1/store/")
				responses := operation.(map[string]any)["responses"].(map[string]any)
				for status, response := range responses {
					var answers []answer
					switch status {
					case "500", "default": // no known way to fail so
						continue
					case "200":
						answers = append(answers, send(t, method, ts.URL+request, body, admin))
						if strings.HasPrefix(path, "/v1/ids/") {
							answers = append(answers, send(t, method, ts.URL+request, body, admin,
								"Accept: application/json"))
						}
					case "400":
						answers = append(answers, send(t, method, ts.URL+request, "{", admin),
							send(t, method, ts.URL+request, "", admin))
					case "401":
						answers = append(answers, send(t, method, ts.URL+request, body),
							send(t, method, ts.URL+request, body, "Authorization: Bearer wrong"))
					case "403":
						other := texts["orders"]
						if storeOf {
							other = texts["ids"]
						}
						answers = append(answers, send(t, method, ts.URL+request, body,
							"Authorization: Bearer "+other))
					case "406":
						answers = append(answers, send(t, method, ts.URL+request, body, admin,
							"Accept: image/png"))
					case "408":
						t.Run(status, func(t *testing.T) {
							inBubble(t, func(t *testing.T) {
								conn := serveVirtual(t, virtual(t, Config{})).dial()
								defer conn.Close()
								answers = append(answers, sendBegin(t, conn, request, 1000))
							})
						})
					case "413":
						conn, _ := raw(t, ts.URL, "")
						answers = append(answers, sendBegin(t, conn, request, 1<<30, admin))
					case "415":
						answers = append(answers, send(t, method, ts.URL+request, body, admin,
							"Content-Type: text/plain"), send(t, method, ts.URL+request, body,
							admin, "Content-Type: "))
					case "422":
						answers = append(answers, send(t, method, ts.URL+with("nonsense=1"), body,
							admin))
					case "429":
						for range 3 {
							a := send(t, method, ts.URL+request, body, "Authorization: Bearer "+
								slow)
							if a.StatusCode == http.StatusTooManyRequests {
								answers = append(answers, a)
							}
						}
					case "501":
						store.noClock.Store(true)
						answers = append(answers, send(t, method, ts.URL+request, body, admin))
						store.noClock.Store(false)
					case "503":
						if path == "/v1/store/conditions" { // needs no store
							continue
						}
						if path == "/v1/inspect" {
							for sAway.lineBodies.enter(client("token admin")) {
							}
						}
						answers = append(answers, send(t, method, tsAway.URL+request, body, admin))
					default:
						t.Errorf("%s is described, and no request of this test leads to it", status)
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
						if !strings.HasSuffix(mediaType, "json") || mediaType == typeNDJSON {
							continue
						}
						schema, err := compiler.Compile(address + "#/paths/" + escape(path) + "/" +
							strings.ToLower(method) + "/responses/" + status + "/content/" +
							escape(mediaType) + "/schema")
						if err != nil {
							t.Fatal(err)
						}
						v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(a.body)))
						if err == nil {
							err = schema.Validate(v)
						}
						if err != nil {
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
	for _, h := range headers {
		request += h + "\r\n"
	}
	request += "\r\n" + strings.Repeat(" ", min(length-1, 2<<20))
	go io.WriteString(conn, request) // the answer may come first
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp, string(b)}
}
