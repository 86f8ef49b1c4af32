// Package access decides who may do what: certificates, tokens, hosts, origins.
package access

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"

	"github.com/sortid/sortid/cmd/sortid/server/api"
)

type tokenKey struct{}

// Identify puts the token of each request into the request's context, for the other methods
// of Tokens.
func (t *Tokens) Identify(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, text, ok := strings.Cut(r.Header.Get("Authorization"), " ")
		if ok && strings.EqualFold(scheme, "Bearer") {
			if e := t.Find(strings.TrimSpace(text)); e != nil {
				r = r.WithContext(context.WithValue(r.Context(), tokenKey{}, e))
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (t *Tokens) of(ctx context.Context) *Token {
	if t == nil {
		return nil
	}
	e, _ := ctx.Value(tokenKey{}).(*Token)
	return e
}

// IDs returns the limit that the request's token has for IDs; nil means no limit.
func (t *Tokens) IDs(ctx context.Context) *rate.Limiter {
	if e := t.of(ctx); e != nil {
		return e.IDs
	}
	return nil
}

func (t *Tokens) Client(r *http.Request) api.Client {
	if e := t.of(r.Context()); e != nil {
		return api.Client("token " + e.name)
	}
	return api.ClientAt(r.RemoteAddr)
}

// Allow returns a problem (an error for the client) if the request's token lacks the permission, or
// has reached its limit.
func (t *Tokens) Allow(ctx context.Context, permission string) error {
	if t == nil || permission == PermitNone {
		return nil
	}
	e := t.of(ctx)
	if e == nil {
		return api.NewProblem(http.StatusUnauthorized, api.NoToken,
			"a valid token is needed: send the header \"Authorization: Bearer TOKEN\"").
			With("WWW-Authenticate", `Bearer realm="sortid"`)
	}
	if !e.hasPermission(permission) {
		_, realm, _ := strings.Cut(permission, ":")
		if permission == PermitRealms {
			permission = PermitRealm("NAME")
		}
		p := api.NewProblem(http.StatusForbidden, api.NotAllowed, "this token does not permit that; "+
			"in the file of tokens, it needs the permission %.200q or %q", permission, PermitAdmin)
		p.Token, p.Realm = e.name, realm
		return p
	}
	if wait := api.Take(e.Requests, 1); wait > 0 {
		return api.TooMany(wait, "the token's limit of requests a second is reached")
	}
	return nil
}

// PermitRealm returns the permission to use a realm.
func PermitRealm(realm string) string { return PermitRealms + ":" + realm }

// Permits reports whether the request's token has a permission.
func (t *Tokens) Permits(ctx context.Context, permission string) bool {
	e := t.of(ctx)
	return t == nil || e != nil && e.hasPermission(permission)
}

const metadataPermission = "permission"

// Require returns op with the permission that clients need for it.
func Require(permission string, op huma.Operation) huma.Operation {
	op.Metadata = map[string]any{metadataPermission: permission}
	if permission != PermitNone {
		op.Security = []map[string][]string{{"token": {}}}
	}
	return op
}

// Authorize is [Tokens.Allow] as a middleware. An operation without [Require] needs [PermitAdmin].
func (t *Tokens) Authorize(ctx huma.Context, next func(huma.Context)) {
	permission, ok := ctx.Operation().Metadata[metadataPermission].(string)
	if !ok {
		permission = PermitAdmin
	}
	if err := t.Allow(ctx.Context(), permission); err != nil {
		_, w := humago.Unwrap(ctx)
		api.Refuse(w, err)
		return
	}
	next(ctx)
}

// Within takes a place in the gate for the client, and calls next. If the client gets no place,
// Within refuses the request.
func (t *Tokens) Within(g *api.Gate, w http.ResponseWriter, r *http.Request, next func()) {
	c := t.Client(r)
	if !g.Enter(c) {
		api.Refuse(w, g.Full())
		return
	}
	defer g.Leave(c)
	next()
}

// Through is [Tokens.Within] as a middleware.
func (t *Tokens) Through(g *api.Gate) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		t.Within(g, w, r, func() { next(ctx) })
	}
}
