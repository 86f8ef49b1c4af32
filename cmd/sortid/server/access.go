package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
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
	e, err := s.allow(ctx.Header("Authorization"), permission)
	if err != nil {
		_, w := humago.Unwrap(ctx)
		s.refuse(w, err)
		return
	}
	next(huma.WithValue(ctx, tokenKey{}, e))
}

// allow returns the token of an Authorization header, nil if none is needed. It returns a
// problem if the token does not permit the request, or has reached its limit of requests.
func (s *Server) allow(header, permission string) (*token, error) {
	if s.config.Tokens == nil || permission == permitNone {
		return nil, nil
	}
	text, ok := bearer(header)
	e := s.config.Tokens.find(text)
	if !ok || e == nil {
		return nil, huma.ErrorWithHeaders(huma.Error401Unauthorized("a valid token is needed: send the header \"Authorization: Bearer TOKEN\""),
			http.Header{"WWW-Authenticate": {`Bearer realm="sortid"`}})
	}
	// The body of a request to the store names its realm; those operations check it.
	if permission == permitRealms && !e.mayUseStore() || permission != permitRealms && !e.may(permission, "") {
		return nil, huma.Error403Forbidden(forbidden)
	}
	if wait := take(e.requests, 1); wait > 0 {
		return nil, tooMany(wait, "the token's limit of requests a second is reached")
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

// charge takes n IDs from what a token may have, nil for no token, and from what the source
// yields: from both or from neither.
func (s *Server) charge(e *token, src *source, n int) error {
	var now time.Time
	var mine *rate.Reservation
	if e != nil && e.ids != nil {
		now = time.Now()
		mine = e.ids.ReserveN(now, n)
		if wait := mine.DelayFrom(now); wait > 0 {
			mine.CancelAt(now)
			return tooMany(wait, "the token's limit of IDs a second is reached")
		}
	}
	if wait := take(src.limit, n); wait > 0 {
		if mine != nil {
			mine.CancelAt(now)
		}
		return busyFor(wait, "one node ID of %s yields no %d IDs now; ask again later, or for fewer", src.format.Name, n)
	}
	return nil
}

// take takes n from a limiter, or takes nothing and returns when there will be so many.
func take(l *rate.Limiter, n int) time.Duration {
	if l == nil {
		return 0
	}
	now := time.Now()
	if l.AllowN(now, n) {
		return 0
	}
	missing := float64(n) - l.TokensAt(now)
	return max(time.Millisecond, time.Duration(missing/float64(l.Limit())*float64(time.Second)))
}

// tooMany returns the problem 429, which says when to ask again.
func tooMany(wait time.Duration, detail string) error {
	return huma.ErrorWithHeaders(huma.Error429TooManyRequests(detail), http.Header{"Retry-After": {seconds(wait)}})
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f", math.Max(1, math.Ceil(d.Seconds()))) }
