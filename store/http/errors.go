package http

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http/wire"
	"github.com/sortid/sortid/store/internal/connect"
)

// ErrAccess means that the server refuses the token, or that the token does not permit the realm.
var ErrAccess = errors.New("http: the server permits no access")

// An Error is a refusal of the server. It matches the errors of package lease, and [ErrAccess].
type Error struct {
	Status int
	Code   string // such as "none-free"; "" if the answer is not from a sortid server
	Detail string // a sentence of the server

	after time.Duration
	err   error
}

func (e *Error) Error() string { return e.Detail }
func (e *Error) Unwrap() error { return e.err }

// RetryAfter returns how long the client must wait before the next request, or 0.
func (e *Error) RetryAfter() time.Duration { return e.after }

// codes has the errors that need no further members of the problem.
var codes = map[wire.Code]error{
	wire.NoRealm:        lease.ErrNoRealm,
	wire.NotFound:       lease.ErrNotFound,
	wire.RealmDiffers:   lease.ErrRealm,
	wire.RequestDiffers: lease.ErrRequestDiffers,
	wire.TooManyRealms:  lease.ErrTooManyRealms,
	wire.Forgotten:      lease.ErrForgotten,
	wire.LeaseLost:      lease.ErrLost,
	wire.NoToken:        ErrAccess,
	wire.NotAllowed:     ErrAccess,
	wire.Limit:          connect.Temporary(lease.ErrBusy),
}

// problem returns the error of an answer. Only the code says what the server did, because a proxy
// can answer with any status.
func (c *Client) problem(request string, resp *http.Response, text []byte) error {
	var p wire.Problem
	json.Unmarshal(text, &p)
	e := &Error{Status: resp.StatusCode, Code: string(p.Code), after: retryAfter(resp.Header),
		Detail: printable(cmp.Or(p.Detail, p.Title, resp.Status)), err: codes[p.Code]}
	for _, field := range p.Errors {
		if !strings.Contains(p.Detail, field.Detail) {
			e.Detail += ": " + printable(field.Field) + ": " + printable(field.Detail)
		}
	}
	switch p.Code {
	case wire.NodeHeld:
		e.err = &lease.HeldError{Holding: p.Held()}
	case wire.InUse:
		e.err = p.InUse()
	case wire.NoneFree:
		e.err = &lease.FullError{From: p.Free()}
	case wire.InvalidRequest:
		if len(p.Errors) > 0 {
			e.err = &lease.RequestError{Field: p.Errors[0].Field, Detail: p.Errors[0].Detail}
		} else {
			e.err = lease.ErrConfig
		}
	case wire.ClockDiffers:
		e.err = &lease.ClockError{Difference: p.Difference()}
	case "":
		return c.foreign(request, e, text)
	}
	if e.err == nil {
		e.Detail = fmt.Sprintf("http: the server answered %s with %d: %s", request, e.Status,
			e.Detail)
		e.err = temporary(e.Status)
	} else if !errors.Is(e.err, ErrAccess) {
		e.Detail = "lease: " + e.Detail // as without a server
	} else {
		e.Detail = ErrAccess.Error() + ": " + e.Detail
	}
	return e
}

// foreign explains an answer without a code. It is probably not from a sortid server.
func (c *Client) foreign(request string, e *Error, text []byte) error {
	switch status := e.Status; {
	case status == http.StatusBadRequest && strings.HasPrefix(c.address, "http:") &&
		(strings.Contains(string(text), "HTTPS server") ||
			strings.Contains(string(text), "HTTPS port")):
		return c.usesTLS()
	case status >= 300 && status < 400:
		e.Detail += "; the URL must be the server's own, because redirects are not followed"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.err = ErrAccess
	case status == http.StatusNotFound:
		e.Detail = fmt.Sprintf("http: %s has no store for leases, or is no sortid server: %s",
			c.address, e.Detail)
		return e
	default:
		e.err = temporary(status)
	}
	e.Detail = fmt.Sprintf("http: the server answered %s with %d: %s", request, e.Status, e.Detail)
	return e
}

var errUnavailable = errors.New("http: the server is not available")

func temporary(status int) error {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return connect.Temporary(errUnavailable)
	}
	return nil
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds <= 0 {
		return 0
	}
	const most = 24 * 60 * 60
	return time.Duration(min(seconds, most)) * time.Second
}

// printable quotes a server's text if it has characters that could affect a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return strconv.Quote(s)
	}
	return s
}
