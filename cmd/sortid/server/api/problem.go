package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/sortid/sortid/store/http/wire"
)

// ProblemType is the media type of problems.
const ProblemType = "application/problem+json"

// ProblemsPath and a [wire.Code] are a problem's type.
const ProblemsPath = "/problems/"

// Titles has a sentence for each code.
var Titles = map[wire.Code]string{
	wire.NoToken:          "the request has no valid token",
	wire.NotAllowed:       "the token does not permit the request",
	wire.ForeignPage:      "a web page of another origin sent the request",
	wire.WrongHost:        "the server does not answer for this host",
	wire.NoPath:           "there is no such path",
	wire.Method:           "the path does not accept this method",
	wire.NotAcceptable:    "the client accepts no type of the answer",
	wire.ContentType:      "the body must be JSON",
	wire.TooLarge:         "the body is too large",
	wire.Timeout:          "the body did not arrive in time",
	wire.CutOff:           "the body ends too soon",
	wire.InvalidRequest:   "a part of the request is wrong",
	wire.Limit:            "a limit is reached",
	wire.Unavailable:      "the server cannot do this now",
	wire.Failed:           "the server failed",
	wire.NoRealm:          "there is no such realm",
	wire.NotFound:         "no such lease is held",
	wire.NodeHeld:         "another lease has this node ID",
	wire.RealmDiffers:     "the realm differs from the request",
	wire.RequestDiffers:   "an earlier copy of the request differs",
	wire.InUse:            "holders need the present window or lead",
	wire.TooManyRealms:    "the store has too many realms",
	wire.Forgotten:        "the store has lost changes",
	wire.LeaseLost:        "the lease has ended",
	wire.ClockDiffers:     "the clocks differ too much",
	wire.NoneFree:         "no node ID is free",
	wire.StoreUnavailable: "the store does not answer",
}

// A Problem is an error for the client.
type Problem struct {
	wire.Problem
	headers http.Header
}

// NewProblem returns a problem. The format and its arguments give the detail.
func NewProblem(status int, code wire.Code, format string, args ...any) *Problem {
	return &Problem{Problem: wire.Problem{Type: ProblemsPath + string(code), Title: Titles[code],
		Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}}
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

// Busy returns a problem with status 503. The client may ask again after d.
func Busy(d time.Duration, code wire.Code, format string, args ...any) *Problem {
	return NewProblem(http.StatusServiceUnavailable, code, format, args...).After(d)
}

// TooMany returns a problem with status 429: a limit of the client's token is reached. The client
// may ask again after d.
func TooMany(d time.Duration, detail string) *Problem {
	return NewProblem(http.StatusTooManyRequests, wire.Limit, "%s", detail).After(d)
}

// Invalid returns a problem with status 422 for one field of a request.
func Invalid(field, format string, args ...any) *Problem {
	detail := fmt.Sprintf(format, args...)
	return Mistaken(wire.Mistake{Field: field, Detail: detail})
}

// Mistaken returns a problem with status 422 for fields of a request.
func Mistaken(mistakes ...wire.Mistake) *Problem {
	var parts []string
	for _, m := range mistakes {
		parts = append(parts, m.Field+": "+m.Detail)
	}
	p := NewProblem(http.StatusUnprocessableEntity, wire.InvalidRequest, "invalid request: %s",
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
		problem = NewProblem(http.StatusInternalServerError, wire.Failed,
			"the server failed; its log says more")
	}
	maps.Copy(w.Header(), problem.headers)
	w.Header().Set("Content-Type", ProblemType)
	w.WriteHeader(problem.Status)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.Encode(problem)
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
