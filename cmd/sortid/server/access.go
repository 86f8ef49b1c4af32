package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"
)

const metadataPermission = "permission"

func (s *Server) secure(op *huma.Operation, permission string) {
	op.Metadata = map[string]any{metadataPermission: permission}
	if permission != permitNone {
		op.Security = []map[string][]string{{"token": {}}}
	}
}

func (s *Server) authorize(ctx huma.Context, next func(huma.Context)) {
	permission, _ := ctx.Operation().Metadata[metadataPermission].(string)
	if err := s.allow(ctx.Context(), permission); err != nil {
		_, w := humago.Unwrap(ctx)
		s.refuse(w, err)
		return
	}
	next(ctx)
}

// allow returns a problem if the token forbids the request or has reached its limit.
func (s *Server) allow(ctx context.Context, permission string) error {
	if s.config.Tokens == nil || permission == permitNone {
		return nil
	}
	e := s.tokenOf(ctx)
	if e == nil {
		problem := huma.Error401Unauthorized(
			"a valid token is needed: send the header \"Authorization: Bearer TOKEN\"")
		return huma.ErrorWithHeaders(problem,
			http.Header{"WWW-Authenticate": {`Bearer realm="sortid"`}})
	}
	permits := e.may(permission, "")
	if permission == permitRealms { // the body names the realm, which the operation checks
		permits = e.mayUseStore()
	}
	if !permits {
		return huma.Error403Forbidden(forbidden)
	}
	if wait := take(e.requests, 1); wait > 0 {
		return tooMany(wait, "the token's limit of requests a second is reached")
	}
	return nil
}

const forbidden = "this token does not permit that"

func (s *Server) permitRealm(ctx context.Context, realm string) error {
	if e := s.tokenOf(ctx); e != nil && !e.may(permitRealms, realm) {
		return huma.Error403Forbidden(forbidden)
	}
	return nil
}

// charge takes n IDs from the token's limit and the source. If one has fewer, it takes none.
func (s *Server) charge(r *http.Request, src *source, n int) error {
	var mine *rate.Limiter
	if e := s.tokenOf(r.Context()); e != nil {
		mine = e.ids
	}
	if src.queue != nil {
		return src.queue.take(r.Context(), s.client(r), n, mine)
	}
	if wait := take(mine, n); wait > 0 {
		return tooManyIDs(wait)
	}
	return nil
}

// take takes n from a limit and returns 0. If fewer are left, it takes none and returns how
// long to wait.
func take(l *rate.Limiter, n int) time.Duration {
	if l == nil {
		return 0
	}
	now := time.Now()
	if l.AllowN(now, n) {
		return 0
	}
	return max(time.Millisecond, lacks(l, n, now))
}

func lacks(l *rate.Limiter, n int, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	missing := float64(n) - l.TokensAt(now)
	return max(0, time.Duration(math.Ceil(missing/float64(l.Limit())*float64(time.Second))))
}

func tooManyIDs(wait time.Duration) error {
	return tooMany(wait, "the token's limit of IDs a second is reached")
}

func tooMany(wait time.Duration, detail string) error {
	return huma.ErrorWithHeaders(huma.Error429TooManyRequests(detail),
		http.Header{"Retry-After": {seconds(wait)}})
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.0f", max(1, math.Ceil(d.Seconds())))
}
