package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/rs/cors"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
)

// A Config says what to serve. Its zero value serves IDs and inspection to everybody.
type Config struct {
	// Store gives the server leases of its own node IDs, and the server offers it to other
	// processes. Without it there are no scru64 and uid60 IDs and no store endpoints. The caller
	// closes it.
	Store lease.Store
	// MustExist makes it an error if the realms scru64 and uid60 do not exist.
	MustExist bool
	// Conditions are the conditions under which the store loses no change; see module store.
	Conditions []string
	// Name tells people who holds the leases.
	Name string
	// NodeBits is the size of the server's own node IDs; 0 means 8.
	NodeBits int

	// Tokens says who may do what. If it is nil, everybody may do everything.
	Tokens *Tokens
	// Hosts are further names of the server. It always has loopback names, and the address at which
	// a request arrives. Without Tokens, the server refuses other names. Otherwise a web page could
	// reach it through a name that the owner of the page controls.
	Hosts []string
	// Origins are the origins of web pages that may call the server.
	Origins []string

	// Version is what the server reports.
	Version string
	// Page is the HTML at /. If it is nil, / names the endpoints.
	Page []byte
	// PagePolicy is the content security policy of Page.
	PagePolicy string
	// Logger receives requests and failures. If it is nil, nothing is logged.
	Logger *slog.Logger

	clock func() time.Time // for tests; nil means the system's clock
}

// A Server is an [http.Handler], safe for concurrent use. Make one with [New].
type Server struct {
	config     Config
	log        *slog.Logger
	mux        *http.ServeMux
	handler    http.Handler
	api        huma.API
	generators *generators
	metrics    *metrics
	draining   atomic.Bool
	// change changes the store if the protocol allows it.
	change func(context.Context, []lease.Change) (bool, error)

	requests     *gate
	largeAnswers *gate // answers of more than one piece
	lineBodies   *gate // bodies of lines to inspect
	storeBodies  *gate // requests of the store
	storeQueue   *gate // requests of the store received completely, except lists
	storeLists   *gate
	storeCalls   chan struct{} // full while clients' calls use both connections
}

// MaxNodeBits is the largest node ID size for which all formats have room.
func MaxNodeBits() int {
	most := lease.MaxBits
	for _, f := range format.Leased() {
		most = min(most, f.Lease.Bits)
	}
	return most
}

// New returns a server, which leases the node IDs that it needs in the background.
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
	s := &Server{config: c, log: c.Logger, mux: http.NewServeMux(),
		requests:     newGate(maxRequests, "requests"),
		largeAnswers: newGate(maxLargeAnswers, "large answers"),
		lineBodies:   newGate(maxLineBodies, "bodies of lines"),
		storeBodies:  newGate(maxStoreBodies, "requests of the store"),
		storeQueue:   newGate(maxStoreQueue, "requests of the store"),
		storeLists:   newGate(maxStoreLists, "lists of the store"),
		storeCalls:   make(chan struct{}, maxStoreCalls)}
	guard, err := newGuard(c)
	if err != nil {
		return nil, err
	}
	// Stateless compression keeps no memory between writes.
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024),
		gzhttp.CompressionLevel(gzip.StatelessCompression))
	if err != nil {
		return nil, err
	}
	if s.generators, err = newGenerators(c); err != nil {
		return nil, err
	}
	s.metrics = newMetrics(s)

	config := huma.DefaultConfig("sortid", c.Version)
	config.Info.Description = "Makes and inspects time-sortable IDs, and stores leases of node IDs."
	config.DocsPath, config.SchemasPath = "", ""
	config.CreateHooks = nil // no $schema in answers
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http",
		Scheme: "bearer"}}
	s.api = humago.New(s.mux, config)
	s.api.UseMiddleware(s.authorize)
	s.registerIDs()
	s.registerInspect()
	s.registerStatus()
	if c.Store != nil {
		s.registerStore()
	}

	s.mux.HandleFunc(fallbackPattern, s.fallback)
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
	s.handler = s.observe(s.admit(guard.protect(s, handler)))
	return s, nil
}

// compressIfAsked avoids the cost of compression for clients that do not accept it.
func compressIfAsked(compressed, plain http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Accept-Encoding"]) > 0 {
			compressed.ServeHTTP(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	})
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// HasTokens reports whether requests need a token.
func (s *Server) HasTokens() bool { return s.config.Tokens != nil }

// OpenAPI returns the description of the endpoints, as JSON.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI().MarshalJSON() }

// Drain makes /readyz fail, so that load balancers send no more requests. The server still
// answers, and asks clients to close connections.
func (s *Server) Drain() { s.draining.Store(true) }

// Close stops the generators and releases the leases. No request may be under way.
func (s *Server) Close(ctx context.Context) error { return s.generators.close(ctx) }

// HTTPServer returns an [http.Server] with limits and timeouts. The caller sets the address and any
// TLS configuration.
func (s *Server) HTTPServer() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           s,
		Protocols:         protocols,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       lineTimeout,  // for each part of lines to inspect
		WriteTimeout:      writeTimeout, // for each piece of an answer
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerLimit,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerConnection: 256 << 10,
			MaxReceiveBufferPerStream:     64 << 10,
			SendPingTimeout:               idleTimeout,
			WriteByteTimeout:              takeTimeout,
		},
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
