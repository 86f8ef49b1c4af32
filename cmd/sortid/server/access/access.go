// Package access decides who may do what: certificates, tokens, hosts, origins.
package access

import (
	"context"
	"net/http"
	"strings"

	"golang.org/x/time/rate"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/store/http/wire"
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

func (t *Tokens) Client(r *http.Request) string {
	if e := t.of(r.Context()); e != nil {
		return "token " + e.name
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
		return api.NewProblem(http.StatusUnauthorized, wire.NoToken,
			"a valid token is needed: send the header \"Authorization: Bearer TOKEN\"").
			With("WWW-Authenticate", `Bearer realm="sortid"`)
	}
	if !e.hasPermission(permission) {
		_, realm, _ := strings.Cut(permission, ":")
		if permission == PermitRealms {
			permission = PermitRealm("NAME")
		}
		p := api.NewProblem(http.StatusForbidden, wire.NotAllowed, "this token does not permit that; "+
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

// PermitLease returns the permission to lease from a realm.
func PermitLease(realm string) string { return permitLeases + ":" + realm }

// Permits reports whether the request's token has a permission.
func (t *Tokens) Permits(ctx context.Context, permission string) bool {
	e := t.of(ctx)
	return t == nil || e != nil && e.hasPermission(permission)
}

// Require returns a handler that answers only requests that have the permission.
func (t *Tokens) Require(permission string, h api.Handler) api.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := t.Allow(r.Context(), permission); err != nil {
			return err
		}
		return h(w, r)
	}
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
