package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/klauspost/compress/gzhttp"
	"github.com/rs/cors"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
)

// A Config says what to serve. Its zero value serves IDs and inspection, to anybody who
// can reach the server.
type Config struct {
	// Store is where the server leases its node IDs, and what it hands to other processes.
	// Without one there are no scru64 and uid60 IDs and no endpoints of the store. Close of
	// the Server does not close it.
	Store lease.Store
	// MustExist says that the realms scru64 and uid60, in which the server leases, are there
	// and must not be made.
	MustExist bool
	// Conditions says under which conditions the store never forgets; see the packages
	// of module store.
	Conditions []string
	// Name tells people who holds the server's leases.
	Name string
	// NodeIDSize is the size of the server's own node IDs in bits; 8 if it is 0.
	NodeIDSize int

	// Tokens says who may do what; nil: anybody may do everything.
	Tokens *Tokens
	// Origins are the origins of web pages that may call the server from a browser.
	Origins []string

	// Inspect appends what `sortid inspect -o json` prints of a text to b, without the
	// line's end. The scheme is nil if it is not known. It is needed.
	Inspect func(b []byte, s *format.Format, text string) ([]byte, error)

	// Schemes is what `sortid schemes -o json` prints.
	Schemes []byte

	// Version is the version that the server tells.
	Version string
	// Page is the HTML that is served at /; a text that names the endpoints if it is nil.
	Page []byte
	// Logger hears of each request and of what goes wrong; nil: nobody does.
	Logger *slog.Logger
}

// A Server is an [http.Handler]. It is safe for concurrent use. Make one with [New].
type Server struct {
	config     Config
	log        *slog.Logger
	mux        *http.ServeMux
	handler    http.Handler
	api        huma.API
	generators *generators
	metrics    *metrics
	ready      readiness
	draining   atomic.Bool
}

// Limits of requests.
const (
	maxIDs      = 100_000  // in one answer
	maxLines    = 64 << 20 // bytes of lines to inspect
	maxBody     = 1 << 20  // bytes of other bodies
	maxMany     = 1000     // records in one request
	retryAfter  = 1        // seconds, told with 503 and 429
	headerLimit = 16 << 10 // bytes of a request's headers

	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
)

// New returns a server. It starts to lease the node IDs that it needs, in the background.
func New(c Config) (*Server, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Inspect == nil {
		return nil, errors.New("server: Config.Inspect is nil")
	}
	if c.NodeIDSize == 0 {
		c.NodeIDSize = 8
	}
	if c.NodeIDSize < 1 || c.NodeIDSize > lease.UID60.Bits {
		return nil, fmt.Errorf("server: a node ID of %d bits, want 1 to %d", c.NodeIDSize, lease.UID60.Bits)
	}
	if c.Version == "" {
		c.Version = "unknown"
	}
	s := &Server{config: c, log: c.Logger, mux: http.NewServeMux()}
	var err error
	if s.generators, err = newGenerators(c); err != nil {
		return nil, err
	}
	s.metrics = newMetrics(s)
	s.ready.check = s.checkReady

	config := huma.DefaultConfig("sortid", c.Version)
	config.Info.Description = "Time-sortable IDs of five formats, their inspection, and a store of leases of node IDs."
	config.DocsPath, config.SchemasPath = "", ""
	config.CreateHooks = nil // no $schema member in answers
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	s.api = humago.New(s.mux, config)
	s.api.UseMiddleware(s.authorize)
	s.registerIDs()
	s.registerInspect()
	s.registerStatus()
	if c.Store != nil {
		s.registerStore()
	}

	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024))
	if err != nil {
		return nil, err
	}
	s.mux.HandleFunc(fallbackPattern, s.fallback)
	handler := http.Handler(compress(s.mux))
	if len(c.Origins) > 0 {
		handler = cors.New(cors.Options{
			AllowedOrigins: c.Origins,
			AllowedMethods: []string{http.MethodGet, http.MethodPost, http.MethodHead},
			AllowedHeaders: []string{"Authorization", "Content-Type", "Accept"},
			ExposedHeaders: []string{"X-Request-Id", "Retry-After"},
			MaxAge:         600,
		}).Handler(handler)
	}
	s.handler = s.observe(handler)
	return s, nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// OpenAPI returns the description of the endpoints, as JSON.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI().MarshalJSON() }

// Drain makes /readyz say that the server goes down, so that load balancers send no more
// requests. It goes on answering those that come.
func (s *Server) Drain() { s.draining.Store(true) }

// Close stops the generators and gives the server's leases back. No request may be under
// way.
func (s *Server) Close(ctx context.Context) error { return s.generators.close(ctx) }

// HTTPServer returns an [http.Server] with limits and timeouts for this server. The
// caller sets the address and, for HTTPS, the TLS configuration.
func (s *Server) HTTPServer() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           s,
		Protocols:         protocols,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       lineTimeout, // of lines to inspect: for each part
		WriteTimeout:      time.Minute,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerLimit,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

// errUnavailable becomes status 503.
var errUnavailable = errors.New("unavailable")

// A readiness remembers for a moment whether the server can serve, so that probes cost
// the store little.
type readiness struct {
	check func(context.Context) error
	last  atomic.Pointer[verdict]
}

type verdict struct {
	at  time.Time
	err error
}

func (r *readiness) err(ctx context.Context) error {
	if v := r.last.Load(); v != nil && time.Since(v.at) < time.Second {
		return v.err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	v := &verdict{err: r.check(ctx), at: time.Now()}
	r.last.Store(v)
	return v.err
}

// checkReady returns nil if the store answers and the server has its leases.
func (s *Server) checkReady(ctx context.Context) error {
	if s.config.Store == nil {
		return nil
	}
	if _, err := s.config.Store.Time(ctx); err != nil && !errors.Is(err, lease.ErrNoTime) {
		return fmt.Errorf("the store does not answer: %w", err)
	}
	return s.generators.err()
}
