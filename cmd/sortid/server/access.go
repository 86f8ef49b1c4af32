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
	if s.config.Tokens == nil || permission == permitNone {
		next(ctx)
		return
	}
	text, ok := bearer(ctx.Header("Authorization"))
	e := s.config.Tokens.find(text)
	if !ok || e == nil {
		ctx.SetHeader("WWW-Authenticate", `Bearer realm="sortid"`)
		huma.WriteErr(s.api, ctx, http.StatusUnauthorized, "a valid token is needed: send the header \"Authorization: Bearer TOKEN\"")
		return
	}
	// What realm a request is about stands in its body; those operations check it.
	if permission != permitRealms && !e.may(permission, "") {
		huma.WriteErr(s.api, ctx, http.StatusForbidden, forbidden)
		return
	}
	if wait := delay(e.requests, 1); wait > 0 {
		ctx.SetHeader("Retry-After", seconds(wait))
		huma.WriteErr(s.api, ctx, http.StatusTooManyRequests, "the token's limit of requests a second is reached")
		return
	}
	next(huma.WithValue(ctx, tokenKey{}, e))
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

// spend takes n IDs from what the request's token may have.
func (s *Server) spend(ctx context.Context, n int) error {
	e := tokenOf(ctx)
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
