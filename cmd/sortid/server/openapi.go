package server

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/format"
)

// openapi.json describes all endpoints. Tests compare it with them.
//
//go:embed openapi.json
var description []byte

// openAPI returns the description of the server's endpoints.
func (c Config) openAPI() []byte {
	b, err := json.Marshal(c.describe())
	if err != nil {
		panic(err) // impossible: it was read from JSON
	}
	return append(b, '\n')
}

// describe reads openapi.json. It leaves out what the server does not serve, and adds what only the
// server knows.
func (c Config) describe() map[string]any {
	var doc map[string]any
	if err := json.Unmarshal(description, &doc); err != nil {
		panic(err) // impossible: a test reads it
	}
	doc["info"].(map[string]any)["version"] = c.Version
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	schemas["FormatName"].(map[string]any)["enum"] = catalog.Names(format.Ours())
	schemas["Encoding"].(map[string]any)["enum"] = encodings()
	maps.DeleteFunc(doc["paths"].(map[string]any), func(path string, _ any) bool {
		return c.LeasesOnly && strings.HasPrefix(path, api.IDsPath) ||
			c.Store == nil && api.IsLeases(path)
	})
	return doc
}

func encodings() (all []format.Encoding) {
	for _, f := range format.Ours() {
		for _, e := range f.Encodings() {
			if !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	return all
}

// endpoints lists the endpoints for people.
func (c Config) endpoints() []byte {
	b := []byte("sortid " + c.Version + "\n\n")
	paths := c.describe()["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut,
			http.MethodPatch} {
			if op, ok := paths[path].(map[string]any)[strings.ToLower(method)].(map[string]any); ok {
				b = fmt.Appendf(b, "%s %s\n    %s\n", method, path, op["summary"])
			}
		}
	}
	return append(b, "GET /openapi.json\n    Describe these endpoints for programs\n"...)
}
