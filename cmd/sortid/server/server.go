// Package server serves IDs, their inspection and a store of leases over HTTP.
//
// A [Server] keeps no state. It leases its own node IDs from a [lease.Store], and lets clients use
// the store. Any number of servers can share a store.
//
//	s, err := server.New(server.Config{Store: store, Logger: logger})
//	if err != nil {
//		...
//	}
//	defer s.Close(context.Background())
//	s.HTTPServer().Serve(listener)
//
// The server describes its endpoints at /openapi.json.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/rs/cors"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/httpapi"
	"github.com/sortid/sortid/cmd/sortid/server/ids"
	"github.com/sortid/sortid/cmd/sortid/server/inspection"
	"github.com/sortid/sortid/cmd/sortid/server/limit"
	"github.com/sortid/sortid/cmd/sortid/server/monitor"
	"github.com/sortid/sortid/cmd/sortid/server/store"
	"github.com/sortid/sortid/cmd/sortid/server/watch"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
)

// A Config says what to serve. By default, everybody can make and inspect IDs.
type Config struct {
	// Store has the leases of the server's own node IDs, and clients can use it. The caller closes
	// Store. Without Store there are no scru64 and uid60 IDs, and no endpoints of the store.
	Store lease.Store
	// A realm is a set of node IDs. If MustExist is true, the server does not create the realms
	// scru64 and uid60.
	MustExist bool
	// Conditions are the conditions under which Store loses no change. Clients can list them.
	Conditions []string
	// Name is the server's name in its leases, for people.
	Name string
	// NodeBits is the size of the server's own node IDs in bits; 0 means 8.
	NodeBits int

	// Tokens says who may do what. If it is nil, everybody may do everything.
	Tokens *access.Tokens
	// Hosts are names of the server. Without Tokens, the server refuses a request to any other
	// name, except localhost, loopback addresses and the address at which the request arrives. So
	// no web page can reach the server through a name that the page's owner controls.
	Hosts []string
	// Origins are the origins of web pages that may call the server.
	Origins []string

	Version string
	// Page is the HTML at /. If it is nil, / lists the endpoints.
	Page []byte
	// PagePolicy is the content security policy of Page.
	PagePolicy string
	// Logger receives requests and failures. If it is nil, nothing is logged.
	Logger *slog.Logger

	clock func() time.Time // for tests; nil means the system's clock
}

func (c Config) Check() error {
	_, err := access.NewGuard(c.Tokens, c.Hosts, c.Origins)
	return err
}

// A Server is an [http.Handler], safe for concurrent use. Make one with [New].
type Server struct {
	config  Config
	mux     *http.ServeMux
	handler http.Handler
	api     huma.API
	gates   *limit.Gates
	sources *ids.Sources
	store   *store.Endpoints // nil without a store
	monitor *monitor.Monitor
}

// MaxNodeBits returns the largest size of a node ID, in bits, that all formats permit.
func MaxNodeBits() int {
	most := lease.MaxBits
	for _, f := range format.Leased() {
		most = min(most, f.Lease.Bits)
	}
	return most
}

// New returns a server. In the background, the server leases the node IDs that it needs.
func New(c Config) (*Server, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.NodeBits == 0 {
		c.NodeBits = 8
	}
	if most := MaxNodeBits(); c.NodeBits < 1 || c.NodeBits > most {
		return nil, fmt.Errorf("server: a node ID of %d bits, want 1 to %d", c.NodeBits, most)
	}
	if c.Version == "" {
		c.Version = "unknown"
	}
	guard, err := access.NewGuard(c.Tokens, c.Hosts, c.Origins)
	if err != nil {
		return nil, err
	}
	// Stateless compression keeps no memory between writes.
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024),
		gzhttp.CompressionLevel(gzip.StatelessCompression))
	if err != nil {
		return nil, err
	}
	sources, err := ids.NewSources(c.Store, lease.Config{NodeBits: c.NodeBits, Name: c.Name,
		MustExist: c.MustExist, Logger: c.Logger, Now: c.clock})
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, mux: http.NewServeMux(), gates: limit.NewGates(), sources: sources,
		monitor: monitor.New(c.Version, sources, c.Logger)}
	s.monitor.Metrics.MustRegister(append(sources.Metrics(), watch.Refused)...)

	config := huma.DefaultConfig("sortid", c.Version)
	config.Info.Description = "Makes and inspects time-sortable IDs, and stores leases of node IDs."
	config.DocsPath, config.SchemasPath = "", ""
	config.CreateHooks = nil // no $schema in answers
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http",
		Scheme: "bearer"}}
	s.api = humago.New(s.mux, config)
	s.api.UseMiddleware(c.Tokens.Authorize)
	(&ids.Endpoint{Sources: sources, Tokens: c.Tokens, Large: s.gates.LargeAnswers,
		Log: c.Logger}).Register(s.api, s.mux)
	(&inspection.Endpoints{Tokens: c.Tokens, Bodies: s.gates.LineBodies}).Register(s.api)
	s.monitor.Register(s.api)
	if c.Store != nil {
		s.store = &store.Endpoints{Store: store.Checked(c.Store), Conditions: c.Conditions,
			Tokens: c.Tokens, Gates: s.gates, Log: c.Logger}
		s.store.Register(s.api)
	}
	s.registerPage()

	handler := compressIfAsked(compress(s.mux), s.mux)
	if len(c.Origins) > 0 {
		handler = cors.New(cors.Options{
			AllowedOrigins: c.Origins,
			AllowedMethods: []string{http.MethodGet, http.MethodPost, http.MethodHead},
			AllowedHeaders: []string{"Authorization", "Content-Type", "Accept"},
			ExposedHeaders: []string{"X-Request-Id", "Retry-After"},
			MaxAge:         600,
		}).Handler(handler)
	}
	s.handler = c.Tokens.Identify(s.monitor.Observe(s.admit(guard.Protect(handler))))
	return s, nil
}

// admit limits how many requests are under way. It does not limit requests that monitor the server.
func (s *Server) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
			next.ServeHTTP(w, r)
		default:
			s.config.Tokens.Within(s.gates.Requests, w, r, func() { next.ServeHTTP(w, r) })
		}
	})
}

// compressIfAsked skips gzhttp if a client sends no Accept-Encoding. Even without compression,
// gzhttp allocates memory.
func compressIfAsked(compressed, plain http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := plain
		if len(r.Header["Accept-Encoding"]) > 0 {
			h = compressed
		}
		h.ServeHTTP(w, r)
	})
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Server) HasTokens() bool { return s.config.Tokens != nil }

func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI().MarshalJSON() }

// Drain makes /readyz fail, so that load balancers send no more requests. The server still
// answers, and asks clients to close their connections.
func (s *Server) Drain() { s.monitor.Drain() }

// Close stops the generators and releases the leases. Call it after all requests have ended.
func (s *Server) Close(ctx context.Context) error { return s.sources.Close(ctx) }

// HTTPServer returns an [http.Server] with limits and timeouts, but no address and no TLS.
func (s *Server) HTTPServer() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           s,
		Protocols:         protocols,
		ReadHeaderTimeout: limit.HeaderTimeout,
		ReadTimeout:       limit.LineTimeout,  // starts again with each part of a body of lines
		WriteTimeout:      limit.WriteTimeout, // starts again with each piece of a large answer
		IdleTimeout:       limit.IdleTimeout,
		MaxHeaderBytes:    limit.MaxHeader,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          limit.MaxStreams,
			MaxReceiveBufferPerConnection: 256 << 10,
			MaxReceiveBufferPerStream:     64 << 10,
			SendPingTimeout:               limit.IdleTimeout,
			WriteByteTimeout:              limit.TakeTimeout,
		},
		ErrorLog: slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug),
	}
}

func (s *Server) registerPage() {
	page := access.Require(access.PermitNone, huma.Operation{OperationID: "page",
		Method: http.MethodGet, Path: "/{$}", Summary: "A page for people", Hidden: true,
		Tags: []string{"status"}})
	huma.Register(s.api, page, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			if s.config.Page != nil {
				ctx.SetHeader("Content-Type", "text/html; charset=utf-8")
				ctx.SetHeader("Content-Security-Policy", s.config.PagePolicy)
				ctx.BodyWriter().Write(s.config.Page)
				return
			}
			ctx.SetHeader("Content-Type", httpapi.TypeText)
			ctx.BodyWriter().Write([]byte(s.endpoints()))
		}}, nil
	})
	s.mux.HandleFunc(httpapi.Fallback, s.fallback)
}

func (s *Server) endpoints() string {
	var b strings.Builder
	b.WriteString("sortid " + s.config.Version + "\n\n")
	paths := s.api.OpenAPI().Paths
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, op := range []*huma.Operation{paths[path].Get, paths[path].Post} {
			if op != nil {
				b.WriteString(op.Method + " " + path + "\n    " + op.Summary + "\n")
			}
		}
	}
	b.WriteString("GET /openapi.json\n    Describe these endpoints for programs\n")
	return b.String()
}

func (s *Server) fallback(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		other := *r
		other.Method = method
		if _, pattern := s.mux.Handler(&other); pattern != httpapi.Fallback {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		httpapi.Refuse(w, huma.Error404NotFound("no such path; /openapi.json lists all paths"))
		return
	}
	w.Header().Set("Allow", strings.Join(append(allowed, http.MethodOptions), ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	httpapi.Refuse(w, huma.NewError(http.StatusMethodNotAllowed,
		"this path accepts only "+strings.Join(allowed, ", ")))
}
