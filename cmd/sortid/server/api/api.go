// Package api has what all endpoints share: paths, answers, limits.
// A [Problem] is an error in the form of RFC 9457, for the client.
package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/format"
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

// A Raw answer has a body that huma sends unchanged.
type Raw struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	Body         []byte
}

type FormatName string

func (FormatName) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, name := range catalog.Names(format.Ours()) {
		s.Enum = append(s.Enum, name)
	}
	return s
}

func Text() *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// Answers describes the answer with status 200 for OpenAPI.
func Answers(description, mediaType string, schema *huma.Schema) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {Description: description,
		Content: map[string]*huma.MediaType{mediaType: {Schema: schema}}}}
}
