// Package httpapi has what all endpoints share: paths, answers, and their descriptions in OpenAPI.
// A problem is an error in the form of RFC 9457, for the client.
package httpapi

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sortid/sortid/format"
)

// The paths of several endpoints begin with one of these.
const (
	IDsPath   = "/v1/ids/"
	StorePath = "/v1/store/"
)

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
	for _, name := range format.Names() {
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

// Busy returns a problem with status 503. The client may ask again after a second.
func Busy(format string, args ...any) error { return BusyFor(time.Second, format, args...) }

// BusyFor is like [Busy], but the client may ask again after d.
func BusyFor(d time.Duration, format string, args ...any) error {
	return retryAfter(d, huma.Error503ServiceUnavailable(fmt.Sprintf(format, args...)))
}

// TooMany returns a problem with status 429: a limit of the client's token is reached. The client
// may ask again after d.
func TooMany(d time.Duration, detail string) error {
	return retryAfter(d, huma.Error429TooManyRequests(detail))
}

func retryAfter(d time.Duration, problem error) error {
	seconds := fmt.Sprintf("%.0f", max(1, math.Ceil(d.Seconds())))
	return huma.ErrorWithHeaders(problem, http.Header{"Retry-After": {seconds}})
}

// Invalid returns a problem with status 422 for one part of a request, such as "query.n".
func Invalid(message, location string) error {
	return huma.Error422UnprocessableEntity("invalid request", &huma.ErrorDetail{Message: message,
		Location: location})
}

// Refuse answers with err if err is a problem. Any other error means that the server failed. Then
// the client gets status 500, and only the log contains the error.
func Refuse(w http.ResponseWriter, err error) {
	var problem huma.StatusError
	if !errors.As(err, &problem) {
		fail(w, err)
		problem = huma.Error500InternalServerError("the server failed; its log says more")
	}
	var headers huma.HeadersError
	if errors.As(err, &headers) {
		maps.Copy(w.Header(), headers.GetHeaders())
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(problem.GetStatus())
	huma.DefaultJSONFormat.Marshal(w, problem)
}

func fail(w http.ResponseWriter, err error) {
	for {
		switch v := w.(type) {
		case interface{ Fail(error) }:
			v.Fail(err)
			return
		case interface{ Unwrap() http.ResponseWriter }:
			w = v.Unwrap()
		default:
			return
		}
	}
}
