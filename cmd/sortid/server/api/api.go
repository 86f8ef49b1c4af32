// Package api has what all endpoints share: paths, answers, limits.
// A [Problem] is an error in the form of RFC 9457, for the client.
package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/store/http/wire"
)

// The paths of several endpoints begin with one of these.
const (
	IDsPath    = "/v1/ids/"
	RealmsPath = "/v1/realms"
)

// IsLeases reports whether a path is for leases or their realms.
func IsLeases(path string) bool {
	return path == RealmsPath || strings.HasPrefix(path, RealmsPath+"/")
}

// Fallback is the pattern for all paths that have no endpoint.
const Fallback = "/"

const (
	TypeText   = "text/plain; charset=utf-8"
	TypeJSON   = "application/json"
	TypeNDJSON = "application/x-ndjson"
)

// A Handler answers a request. It returns an error only before it writes; then the client gets the
// problem that [Refuse] makes of it.
type Handler func(w http.ResponseWriter, r *http.Request) error

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil {
		Refuse(w, err)
	}
}

// Query returns the parameters of a request's query. It refuses other parameters than the known
// ones, and parameters that are given twice.
func Query(r *http.Request, known ...string) (url.Values, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, Invalid("query", "malformed: %v", err)
	}
	var wrong []wire.Mistake
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !slices.Contains(known, name):
			wrong = append(wrong, wire.Mistake{Field: Shorten(name), Detail: "unknown query parameter"})
		case len(query[name]) > 1:
			wrong = append(wrong, wire.Mistake{Field: name, Detail: "given twice"})
		}
	}
	if len(wrong) > 0 {
		return nil, Mistaken(wrong...)
	}
	return query, nil
}

// Format returns one of our formats by its name.
func Format(name string) (*format.Format, error) {
	for _, f := range format.Ours() {
		if f.Name() == name {
			return f, nil
		}
	}
	return nil, UnknownFormat()
}

// UnknownFormat returns a problem: the request names a format that is not ours.
func UnknownFormat() error {
	return Invalid("format", "unknown, want one of %s",
		strings.Join(catalog.Names(format.Ours()), ", "))
}

// Answer sends a body with status 200.
func Answer(w http.ResponseWriter, mediaType string, body []byte) error {
	w.Header().Set("Content-Type", mediaType)
	w.Write(body)
	return nil
}

// Shorten returns the beginning of a text of a client, for an error.
func Shorten(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}
