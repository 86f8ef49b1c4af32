// Package httpapi has what all endpoints share: paths, the form of answers and problems, and the
// words that describe them in OpenAPI.
package httpapi

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/sortid/sortid/format"
)

// The paths of several endpoints begin with these.
const (
	IDsPath   = "/v1/ids/"
	StorePath = "/v1/store/"
)

// The types of answers.
const (
	TypeText   = "text/plain; charset=utf-8"
	TypeJSON   = "application/json"
	TypeNDJSON = "application/x-ndjson"
)

// A Raw answer is sent as it is.
type Raw struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	Body         []byte
}

// A FormatName is a parameter: the name of a format.
type FormatName string

// Schema lists the names.
func (FormatName) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, name := range format.Names() {
		s.Enum = append(s.Enum, name)
	}
	return s
}

// Answers describes the answer 200.
func Answers(description, mediaType string, schema *huma.Schema) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {Description: description,
		Content: map[string]*huma.MediaType{mediaType: {Schema: schema}}}}
}

// Properties are the members of an object by their names.
type Properties map[string]*huma.Schema

// Object describes an object with these members.
func Object(p Properties, required ...string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Required: required, Properties: p}
}

// ArrayOf describes an array.
func ArrayOf(items *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: items}
}

// Text describes a string.
func Text(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
