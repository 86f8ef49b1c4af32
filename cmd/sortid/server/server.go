// Package server serves IDs, their inspection and leases of node IDs over HTTP.
//
// A [Server] keeps no state. It leases its own node IDs from a [lease.Store], and leases node IDs
// from it to clients. Any number of servers can share a store, and each of them can answer any
// request.
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
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/rs/cors"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/cmd/sortid/server/idapi"
	"github.com/sortid/sortid/cmd/sortid/server/inspectapi"
	"github.com/sortid/sortid/cmd/sortid/server/leaseapi"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/store/http/wire"
)

// A Config says what to serve. By default, everybody can make and inspect IDs.
type Config struct {
	// Store has the leases of the server's own node IDs, and of clients. The caller closes Store.
	// Without Store there are no scru64 and uid60 IDs, and no leases.
	Store lease.Store
	// LeasesOnly makes the server serve no IDs. It then leases no node IDs for itself.
	LeasesOnly bool
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
	gates   *api.Gates
	sources *idapi.Sources
	leases  *leaseapi.Endpoints // nil without a store
	monitor *monitor

	// With LeasesOnly:
	probing sync.Mutex
	probed  time.Time // when the store was last read for /readyz
	unready error     // why that failed; nil if it did not
}

// MaxNodeBits returns the largest size of a node ID, in bits, that all formats permit.
func MaxNodeBits() int {
	most := lease.MaxBits
	for _, f := range idapi.Leased() {
		most = min(most, nodefield.LeaseFormat(f).Bits)
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
	if c.LeasesOnly && c.Store == nil {
		return nil, errors.New("server: a server that only leases node IDs needs a store")
	}
	own := c.Store
	if c.LeasesOnly {
		own = nil
	}
	sources, err := idapi.NewSources(own, lease.Config{NodeBits: c.NodeBits, Name: c.Name,
		MustExist: c.MustExist, Logger: c.Logger, Now: c.clock})
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, mux: http.NewServeMux(), gates: api.NewGates(), sources: sources}
	s.monitor = newMonitor(c.Version, s.ready, c.Logger)
	s.monitor.metrics.MustRegister(append(sources.Metrics(), access.RefusedFiles)...)

	if c.LeasesOnly {
		s.mux.HandleFunc(api.IDsPath, refuseIDs)
	} else {
		(&idapi.Endpoint{Sources: sources, Tokens: c.Tokens, Large: s.gates.LargeAnswers,
			Log: c.Logger}).Register(s.mux)
	}
	(&inspectapi.Endpoints{Tokens: c.Tokens, Bodies: s.gates.LineBodies}).Register(s.mux)
	s.monitor.register(s.mux, c.Tokens)
	if c.Store != nil {
		lessor := lease.NewLessor(c.Store, lease.LessorOptions{MaxRealms: api.MaxRealms,
			Now: c.clock})
		s.leases = leaseapi.New(lessor, c.Conditions, c.Tokens, s.gates, c.Logger)
		s.leases.Register(s.mux)
		s.monitor.metrics.MustRegister(s.leases.Metrics()...)
	} else {
		s.mux.HandleFunc(api.RealmsPath, refuseLeases)
		s.mux.HandleFunc(api.RealmsPath+"/", refuseLeases)
	}
	s.registerPage()

	handler := allowOrigins(compressIfAsked(compress(s.mux), s.mux), c.Origins)
	s.handler = c.Tokens.Identify(s.monitor.observe(s.admit(guard.Protect(handler))))
	return s, nil
}

// allowOrigins lets web pages of these origins call a handler.
func allowOrigins(handler http.Handler, origins []string) http.Handler {
	if len(origins) == 0 {
		return handler
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: methods,
		AllowedHeaders: []string{"Authorization", "Content-Type", "Accept"},
		ExposedHeaders: []string{"X-Request-Id", "Retry-After", "Location"},
		MaxAge:         600,
	}).Handler(handler)
}

// methods are all methods that endpoints accept.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
	http.MethodPatch}

func refuseIDs(w http.ResponseWriter, _ *http.Request) {
	api.Refuse(w, api.NewProblem(http.StatusNotFound, wire.NoPath,
		"this server makes no IDs, because it was started with --leases-only; "+
			"ask a server that was started without it"))
}

func refuseLeases(w http.ResponseWriter, _ *http.Request) {
	api.Refuse(w, api.NewProblem(http.StatusNotFound, wire.NoPath,
		"this server has no store, so it leases no node IDs; "+
			"ask a server that was started with --store"))
}

// ready returns an error if the server cannot do what it is for.
func (s *Server) ready() error {
	if !s.config.LeasesOnly {
		return s.sources.Ready()
	}
	s.probing.Lock()
	defer s.probing.Unlock()
	if time.Since(s.probed) >= api.ReadyFor {
		ctx, cancel := context.WithTimeout(context.Background(), api.ReadyTimeout)
		defer cancel()
		_, s.unready = s.config.Store.Realms(ctx)
		s.probed = time.Now()
	}
	return s.unready
}

// admit limits how many requests are under way. It does not limit requests that monitor the server.
// Requests for leases have limits of their own, because many of them can wait.
func (s *Server) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/healthz", path == "/readyz", path == "/metrics", api.IsLeases(path):
			next.ServeHTTP(w, r)
		default:
			s.config.Tokens.Within(s.gates.Requests, w, r, func() { next.ServeHTTP(w, r) })
		}
	})
}

// compressIfAsked skips gzhttp if a client sends no Accept-Encoding, or asks for only one ID. Even
// without compression, gzhttp costs as much time as to make the ID. Answers with the secret of a
// lease are never compressed, because the size of such an answer could tell the secret.
func compressIfAsked(compressed, plain http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := plain
		switch path := r.URL.Path; {
		case len(r.Header["Accept-Encoding"]) == 0, r.Method == http.MethodPost && api.IsLeases(path):
		case r.URL.RawQuery == "" && strings.HasPrefix(path, api.IDsPath):
			w.Header().Add("Vary", "Accept-Encoding") // as gzhttp does
		default:
			h = compressed
		}
		h.ServeHTTP(w, r)
	})
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Server) HasTokens() bool { return s.config.Tokens != nil }

// Drain makes /readyz fail, so that load balancers send no more requests. The server still
// answers, and asks clients to close their connections. Requests no longer wait for a node ID.
func (s *Server) Drain() {
	s.monitor.drain()
	if s.leases != nil {
		s.leases.Drain()
	}
}

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
		ReadHeaderTimeout: api.HeaderTimeout,
		ReadTimeout:       api.LineTimeout,  // starts again with each part of a body of lines
		WriteTimeout:      api.WriteTimeout, // starts again with each piece of a large answer
		IdleTimeout:       api.IdleTimeout,
		MaxHeaderBytes:    api.MaxHeader,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          api.MaxStreams,
			MaxReceiveBufferPerConnection: 256 << 10,
			MaxReceiveBufferPerStream:     64 << 10,
			SendPingTimeout:               api.IdleTimeout,
			WriteByteTimeout:              api.TakeTimeout,
		},
		ErrorLog: slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug),
	}
}

func (s *Server) registerPage() {
	s.mux.Handle("GET /{$}", api.Handler(func(w http.ResponseWriter, r *http.Request) error {
		switch _, err := api.Query(r); {
		case err != nil:
			return err
		case s.config.Page == nil:
			return api.Answer(w, api.TypeText, s.config.endpoints())
		}
		w.Header().Set("Content-Security-Policy", s.config.PagePolicy)
		return api.Answer(w, "text/html; charset=utf-8", s.config.Page)
	}))
	document := sync.OnceValue(s.config.openAPI)
	s.mux.Handle("GET /openapi.json", api.Handler(func(w http.ResponseWriter, _ *http.Request) error {
		return api.Answer(w, "application/openapi+json", document())
	}))
	s.mux.HandleFunc("GET "+api.ProblemsPath+"{code}", explain)
	s.mux.HandleFunc(api.Fallback, s.fallback)
}

// explain answers requests for the type of a problem.
func explain(w http.ResponseWriter, r *http.Request) {
	code := wire.Code(r.PathValue("code"))
	title, ok := api.Titles[code]
	if !ok {
		refusePath(w)
		return
	}
	w.Header().Set("Content-Type", api.TypeText)
	fmt.Fprintf(w, "%s: %s.\nThe detail of the problem says what to do about it.\n", code, title)
}

func (s *Server) fallback(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range methods {
		other := *r
		other.Method = method
		if _, pattern := s.mux.Handler(&other); pattern != api.Fallback {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		refusePath(w)
		return
	}
	w.Header().Set("Allow", strings.Join(append(allowed, http.MethodOptions), ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	api.Refuse(w, api.NewProblem(http.StatusMethodNotAllowed, wire.Method,
		"this path accepts only %s", strings.Join(allowed, ", ")))
}

func refusePath(w http.ResponseWriter) {
	api.Refuse(w, api.NewProblem(http.StatusNotFound, wire.NoPath,
		"no such path; /openapi.json lists all paths"))
}
