package access

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/store/http/wire"
)

// A Guard protects a server from web pages of other origins. A server without tokens trusts every
// client. But any web page can send requests from its visitor's browser.
type Guard struct {
	anyHost   bool     // Requests can name any host, because tokens protect the server.
	hosts     []string // The server's names in lower case, without a port.
	anyOrigin bool     // Pages of all origins may call the server, but lease nothing.
	origins   *http.CrossOriginProtection
}

// NewGuard returns the guard of a server with these host names. Web pages of these origins may call
// the server.
func NewGuard(t *Tokens, hosts, origins []string) (*Guard, error) {
	g := &Guard{anyHost: t != nil, origins: http.NewCrossOriginProtection()}
	for _, host := range hosts {
		name := hostName(host)
		if name == "" || strings.Contains(name, "*") {
			return nil, fmt.Errorf("%q is not a host, want a name or an address without a scheme, "+
				"such as ids.example.com", host)
		}
		g.hosts = append(g.hosts, name)
	}
	for _, origin := range origins {
		if origin == "*" {
			g.anyOrigin = true
			continue
		}
		if err := g.origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("%q is not an origin, want an origin such as "+
				"https://example.com: %w", origin, err)
		}
	}
	return g, nil
}

// If a page of another origin sends a request that changes something, Protect refuses the request.
// Without tokens, it also refuses requests that do not name a host of this server.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.anyHost && !g.allows(r):
			api.Refuse(w, api.NewProblem(http.StatusMisdirectedRequest, wire.WrongHost,
				"this server has no tokens, so it does not answer requests to the host %.100q; "+
					"use the server's address, or name the host with --host", r.Host))
		case g.foreign(r):
			api.Refuse(w, api.NewProblem(http.StatusForbidden, wire.ForeignPage,
				"a web page of another origin may not do this; --cors permits an origin"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// foreign reports whether a page of another origin sent a request that changes something. Making
// IDs is a change, even with GET. Leases have the same protection, because no page needs them.
func (g *Guard) foreign(r *http.Request) bool {
	if r.Header["Origin"] == nil && r.Header["Sec-Fetch-Site"] == nil {
		return false // not from a browser, or from a browser that sends no origin
	}
	leases := api.IsLeases(r.URL.Path)
	if g.anyOrigin && !leases {
		return false
	}
	if (leases || makesIDs(r.URL.Path)) && r.Method != http.MethodOptions {
		post := *r
		post.Method = http.MethodPost
		r = &post
	}
	return g.origins.Check(r) != nil
}

// makesIDs reports whether requests for the path make IDs. /readyz and /metrics make IDs as a test.
func makesIDs(path string) bool {
	return strings.HasPrefix(path, api.IDsPath) || path == "/readyz" || path == "/metrics"
}

// allows reports whether a request names a host of this server. It allows an HTTP/1.0 request
// without a host. Load balancers send such requests, browsers never do.
func (g *Guard) allows(r *http.Request) bool {
	if r.Host == "" && !r.ProtoAtLeast(1, 1) {
		return true
	}
	if at, err := netip.ParseAddrPort(r.Host); err == nil && at.Addr().Unmap().IsLoopback() {
		return true // the code below returns the same, but is slower
	}
	name := hostName(r.Host)
	if name == "localhost" || slices.Contains(g.hosts, name) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if ip = ip.Unmap(); ip.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap().WithZone("") == ip.WithZone("")
}

// hostName returns a Host header without the port, in lower case, or "" if it is malformed.
func hostName(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.String() // an address from --host or --listen, without brackets
	}
	u, err := url.Parse("http://" + host)
	if err != nil || u.Host != host {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}
