package api

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// ProblemType is the media type of problems.
const ProblemType = "application/problem+json"

// ProblemsPath and a [Code] are a problem's type.
const ProblemsPath = "/problems/"

// A Code says which problem it is. Programs compare codes.
type Code string

const (
	NoToken          Code = "no-token"
	NotAllowed       Code = "not-allowed"
	ForeignPage      Code = "foreign-page"
	WrongHost        Code = "wrong-host"
	NoPath           Code = "no-path"
	Method           Code = "method"
	NotAcceptable    Code = "not-acceptable"
	ContentType      Code = "content-type"
	TooLarge         Code = "too-large"
	Timeout          Code = "timeout"
	CutOff           Code = "cut-off"
	InvalidRequest   Code = "invalid"
	Limit            Code = "limit"
	Unavailable      Code = "unavailable"
	Failed           Code = "failed"
	Replaced         Code = "replaced"
	NoRealm          Code = "no-realm"
	NotFound         Code = "not-found"
	NodeHeld         Code = "node-held"
	RealmDiffers     Code = "realm-differs"
	RequestDiffers   Code = "request-differs"
	TooManyRealms    Code = "too-many-realms"
	Forgotten        Code = "forgotten"
	LeaseLost        Code = "lease-lost"
	ClockDiffers     Code = "clock-differs"
	NoneFree         Code = "none-free"
	StoreUnavailable Code = "store-unavailable"
)

// Titles has a sentence for each code.
var Titles = map[Code]string{
	NoToken:          "the request has no valid token",
	NotAllowed:       "the token does not permit the request",
	ForeignPage:      "a web page of another origin sent the request",
	WrongHost:        "the server does not answer for this host",
	NoPath:           "there is no such path",
	Method:           "the path does not accept this method",
	NotAcceptable:    "the client accepts no type of the answer",
	ContentType:      "the body must be JSON",
	TooLarge:         "the body is too large",
	Timeout:          "the body did not arrive in time",
	CutOff:           "the body ends too soon",
	InvalidRequest:   "a part of the request is wrong",
	Limit:            "a limit is reached",
	Unavailable:      "the server cannot do this now",
	Failed:           "the server failed",
	Replaced:         "another path replaces this one",
	NoRealm:          "there is no such realm",
	NotFound:         "no such lease is held",
	NodeHeld:         "another lease has this node ID",
	RealmDiffers:     "the realm differs from the request",
	RequestDiffers:   "an earlier copy of the request differs",
	TooManyRealms:    "the store has too many realms",
	Forgotten:        "the store has lost changes",
	LeaseLost:        "the lease has ended",
	ClockDiffers:     "the clocks differ too much",
	NoneFree:         "no node ID is free",
	StoreUnavailable: "the store does not answer",
}

// codes are the codes of problems for which only the status is known.
var codes = map[int]Code{
	http.StatusBadRequest: InvalidRequest, http.StatusUnauthorized: NoToken,
	http.StatusForbidden: NotAllowed, http.StatusNotFound: NoPath,
	http.StatusMethodNotAllowed: Method, http.StatusNotAcceptable: NotAcceptable,
	http.StatusRequestTimeout: Timeout, http.StatusRequestEntityTooLarge: TooLarge,
	http.StatusUnsupportedMediaType: ContentType, http.StatusUnprocessableEntity: InvalidRequest,
	http.StatusTooManyRequests: Limit, http.StatusServiceUnavailable: Unavailable,
}

// A Problem is an error for the client, in the form of RFC 9457.
type Problem struct {
	Type   string    `json:"type" format:"uri-reference" example:"/problems/none-free"`
	Title  string    `json:"title"`
	Status int       `json:"status" example:"503"`
	Detail string    `json:"detail"`
	Code   Code      `json:"code" example:"none-free"`
	Errors []Mistake `json:"errors,omitempty"`

	Realm string `json:"realm,omitempty"`
	Token string `json:"token,omitempty"`

	DifferenceMS *int64 `json:"difference_ms,omitempty"`

	Holder       string `json:"holder,omitempty"`
	State        string `json:"state,omitempty" enum:"held,waiting"`
	ValidUntilMS int64  `json:"valid_until_ms,omitempty"`
	ValidUntil   string `json:"valid_until,omitempty" format:"date-time"`
	FreeFromMS   int64  `json:"free_from_ms,omitempty"`
	FreeFrom     string `json:"free_from,omitempty" format:"date-time"`

	headers http.Header
}

// problemFields describes the fields to users.
var problemFields = map[string]string{
	"type":           "/problems/ and the code",
	"title":          "The same sentence for each problem with this code",
	"status":         "The HTTP status",
	"detail":         "What is wrong, and what to do about it, for people",
	"code":           "Which problem it is, for programs",
	"errors":         "With the code invalid: the parts of the request that are wrong",
	"realm":          "With not-allowed: the realm",
	"token":          "With not-allowed: the name of the token",
	"difference_ms":  "With clock-differs: the client's clock minus the store's",
	"holder":         "With node-held: the name of the holder, for people",
	"state":          "With node-held: held, or waiting after its use",
	"valid_until_ms": "With node-held: the end of the other lease, in Unix milliseconds",
	"valid_until":    "With node-held: the end of the other lease, in RFC 3339",
	"free_from_ms":   "With node-held and none-free: when an acquire can succeed, in milliseconds",
	"free_from":      "With node-held and none-free: when an acquire can succeed, in RFC 3339",
}

// TransformSchema is for huma.
func (*Problem) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for name, property := range s.Properties {
		property.Description = problemFields[name]
	}
	return s
}

// A Mistake is a wrong part of a request.
type Mistake struct {
	Field  string `json:"field" doc:"The name of the wrong part" example:"wait_ms"`
	Detail string `json:"detail" doc:"What is wrong with it, and what is expected"`
}

// NewProblem returns a problem. The format and its arguments give the detail.
func NewProblem(status int, code Code, format string, args ...any) *Problem {
	return &Problem{Type: ProblemsPath + string(code), Title: Titles[code], Status: status,
		Code: code, Detail: fmt.Sprintf(format, args...)}
}

// With adds a header to the answer.
func (p *Problem) With(name, value string) *Problem {
	if p.headers == nil {
		p.headers = http.Header{}
	}
	p.headers.Set(name, value)
	return p
}

// After tells the client not to ask again before d has passed.
func (p *Problem) After(d time.Duration) *Problem {
	return p.With("Retry-After", fmt.Sprintf("%.0f", max(1, math.Ceil(d.Seconds()))))
}

func (p *Problem) Error() string { return p.Detail }

// These methods are for huma.

func (p *Problem) GetStatus() int            { return p.Status }
func (p *Problem) GetHeaders() http.Header   { return p.headers }
func (p *Problem) ContentType(string) string { return ProblemType }

func init() {
	huma.NewError = func(status int, detail string, errs ...error) huma.StatusError {
		code, ok := codes[status]
		if !ok {
			code = Failed
		}
		p := NewProblem(status, code, "%s", detail)
		for _, err := range errs {
			var of huma.ErrorDetailer
			if errors.As(err, &of) {
				d := of.ErrorDetail()
				p.Errors = append(p.Errors, Mistake{Field: fieldOf(d.Location), Detail: d.Message})
			} else if err != nil {
				p.Errors = append(p.Errors, Mistake{Detail: err.Error()})
			}
		}
		return p
	}
}

// fieldOf returns the name of a field at a location, such as "query.n".
func fieldOf(location string) string {
	_, field, ok := strings.Cut(location, ".")
	if !ok {
		return location
	}
	return field
}

// Busy returns a problem with status 503. The client may ask again after d.
func Busy(d time.Duration, code Code, format string, args ...any) *Problem {
	return NewProblem(http.StatusServiceUnavailable, code, format, args...).After(d)
}

// TooMany returns a problem with status 429: a limit of the client's token is reached. The client
// may ask again after d.
func TooMany(d time.Duration, detail string) *Problem {
	return NewProblem(http.StatusTooManyRequests, Limit, "%s", detail).After(d)
}

// Invalid returns a problem with status 422 for one field of a request.
func Invalid(field, format string, args ...any) *Problem {
	detail := fmt.Sprintf(format, args...)
	return Mistaken(Mistake{Field: field, Detail: detail})
}

// Mistaken returns a problem with status 422 for fields of a request.
func Mistaken(mistakes ...Mistake) *Problem {
	var parts []string
	for _, m := range mistakes {
		parts = append(parts, m.Field+": "+m.Detail)
	}
	p := NewProblem(http.StatusUnprocessableEntity, InvalidRequest, "invalid request: %s",
		strings.Join(parts, "; "))
	p.Errors = mistakes
	return p
}

// Refuse answers with err if err is a problem. Any other error means that the server failed. Then
// the client gets status 500, and only the log contains the error.
func Refuse(w http.ResponseWriter, err error) {
	var problem *Problem
	if !errors.As(err, &problem) {
		fail(w, err)
		problem = NewProblem(http.StatusInternalServerError, Failed,
			"the server failed; its log says more")
	}
	maps.Copy(w.Header(), problem.headers)
	w.Header().Set("Content-Type", ProblemType)
	w.WriteHeader(problem.Status)
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
