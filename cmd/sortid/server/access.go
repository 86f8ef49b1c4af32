package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/time/rate"
)

const metadataPermission = "permission"

// secure states what a client of the operation must be permitted.
func (s *Server) secure(op *huma.Operation, permission string) {
	op.Metadata = map[string]any{metadataPermission: permission}
	if permission != permitNone {
		op.Security = []map[string][]string{{"token": {}}}
	}
}

// authorize answers requests of clients that may not do what they ask for.
func (s *Server) authorize(ctx huma.Context, next func(huma.Context)) {
	permission, _ := ctx.Operation().Metadata[metadataPermission].(string)
	if s.config.Tokens == nil || permission == permitNone || tokenOf(ctx.Context()) != nil {
		next(ctx)
		return
	}
	e, no := s.admit(ctx.Header("Authorization"), permission)
	if no != nil {
		if no.header != "" {
			ctx.SetHeader(no.header, no.value)
		}
		huma.WriteErr(s.api, ctx, no.status, no.detail)
		return
	}
	next(huma.WithValue(ctx, tokenKey{}, e))
}

// A refusal is the answer to a client that may not do what it asks for.
type refusal struct {
	status        int
	detail        string
	header, value string
}

// admit returns the token in the header Authorization of a request that may be answered.
func (s *Server) admit(authorization, permission string) (*token, *refusal) {
	text, ok := bearer(authorization)
	e := s.config.Tokens.find(text)
	if !ok || e == nil {
		return nil, &refusal{http.StatusUnauthorized, "a valid token is needed: send the header \"Authorization: Bearer TOKEN\"",
			"WWW-Authenticate", `Bearer realm="sortid"`}
	}
	// What realm a request is about stands in its body; those operations check it.
	if permission != permitRealms && !e.may(permission, "") {
		return nil, &refusal{status: http.StatusForbidden, detail: forbidden}
	}
	if wait := delay(e.requests, 1); wait > 0 {
		return nil, &refusal{http.StatusTooManyRequests, "the token's limit of requests a second is reached", "Retry-After", seconds(wait)}
	}
	return e, nil
}

const forbidden = "this token does not permit that"

// bearer returns the token of an Authorization header.
func bearer(header string) (text string, ok bool) {
	scheme, text, ok := strings.Cut(header, " ")
	return strings.TrimSpace(text), ok && strings.EqualFold(scheme, "Bearer")
}

// permitRealm returns a problem unless the request may use the realm.
func (s *Server) permitRealm(ctx context.Context, realm string) error {
	if e := tokenOf(ctx); e != nil && !e.may(permitRealms, realm) {
		return huma.Error403Forbidden(forbidden)
	}
	return nil
}

// permitStore returns a problem unless the request may use any realm.
func (s *Server) permitStore(ctx context.Context) error {
	if e := tokenOf(ctx); e != nil && !e.mayUseStore() {
		return huma.Error403Forbidden(forbidden)
	}
	return nil
}

// spend takes n IDs from what a token may have; e may be nil.
func spend(e *token, n int) error {
	if e == nil {
		return nil
	}
	if wait := delay(e.ids, n); wait > 0 {
		return huma.ErrorWithHeaders(huma.Error429TooManyRequests("the token's limit of IDs a second is reached"),
			http.Header{"Retry-After": {seconds(wait)}})
	}
	return nil
}

// delay takes n from a limiter, or takes nothing and returns when there will be so many.
func delay(l *rate.Limiter, n int) time.Duration {
	if l == nil {
		return 0
	}
	r := l.ReserveN(time.Now(), n)
	wait := r.Delay()
	if wait > 0 {
		r.Cancel()
	}
	return wait
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f", math.Max(1, math.Ceil(d.Seconds()))) }
