package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/cmd/sortid/server"
	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/cmd/sortid/server/idapi"
	"github.com/sortid/sortid/cmd/sortid/web"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/store"
)

const (
	// drainPause gives load balancers time to see that the server is not ready.
	drainPause = time.Second
	// drainIdle is how long accepted connections can bring requests after the server no longer
	// accepts new ones. Balancers do not repeat POST requests.
	drainIdle = 5 * time.Second
	// drainPatience limits how long the last requests may take.
	drainPatience = 18 * time.Second
	// The server needs little memory. With Go's default of 100, it would collect garbage many times
	// a second.
	gcPercent = 200
)

// drain is a variable because tests replace it.
var drain = func() { time.Sleep(drainPause) }

type serving struct {
	changed               func(flag string) bool
	listen, store, tokens string
	cert, key, clientCA   string
	open, create          bool
	leasesOnly            bool
	hosts, origins        []string
	nodeBits              int
	logLevel              *flags.Choice
}

func serveCommand(c *console.Console) *cobra.Command {
	f := &serving{}
	cmd := &cobra.Command{
		Use:               "serve",
		Short:             "serve IDs, inspection and leases of node IDs over HTTP",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.logLevel = flags.Choose(cmd, "log-level", "", "the least important lines of the log", "info",
		"debug", "info", "warn", "error")
	flags := cmd.Flags()
	f.changed = flags.Changed
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8420",
		"the `ADDRESS` to listen on; :8420 means port 8420 of all addresses")
	flags.StringVar(&f.store, "store", "",
		"the `URL` of the store, such as bolt:PATH (see sortid lease --help)")
	flags.BoolVar(&f.create, "create", false,
		"make the realms scru64 and uid60, and the store's file or table, if they are missing")
	flags.BoolVar(&f.leasesOnly, "leases-only", false,
		"make no IDs, and only lease node IDs to clients; the store needs no realms for the server")
	flags.StringVar(&f.tokens, "tokens", "", "a `FILE` of tokens; it is read again when it changes")
	flags.StringVar(&f.cert, "tls-cert", "",
		"a `FILE` with the server's certificate, for HTTPS; it is read again when it changes")
	flags.StringVar(&f.key, "tls-key", "", "a `FILE` with the key of the certificate")
	flags.StringVar(&f.clientCA, "client-ca", "",
		"a `FILE` of CA certificates: "+
			"only clients with a certificate from one of these CAs are served; "+
			"the file is read again when it changes")
	flags.BoolVar(&f.open, "open", false, "serve anybody who can reach the address")
	flags.StringArrayVar(&f.hosts, "host", nil,
		"a host `NAME` by which clients reach the server, if it has no --tokens; may be repeated")
	flags.StringArrayVar(&f.origins, "cors", nil,
		"the `ORIGIN` of web pages that may call the server from a browser; may be repeated")
	flags.IntVar(&f.nodeBits, "node-bits", 8,
		fmt.Sprintf("the size of the server's own node IDs in `BITS`, 1 to %d; "+
			"a realm of only one size decides itself",
			server.MaxNodeBits()))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.check(); err != nil {
			return err
		}
		return f.run(c)
	}
	cmd.AddCommand(serveTokenCommand(c))
	return cmd
}

func (f *serving) check() error {
	_, _, err := net.SplitHostPort(f.listen)
	switch {
	case err != nil:
		return console.UsageErrorf(
			"--listen %q is not an address; want HOST:PORT, such as 127.0.0.1:8420",
			f.listen)
	case f.changed("store") && f.store == "":
		return console.UsageErrorf(
			"--store wants the URL of a store, but is empty; see sortid lease --help")
	case f.changed("node-bits") && f.store == "":
		return console.UsageErrorf("--node-bits needs --store URL")
	case f.create && f.store == "":
		return console.UsageErrorf("--create needs --store URL")
	case f.leasesOnly && f.store == "":
		return console.UsageErrorf("--leases-only needs --store URL")
	case f.leasesOnly && (f.create || f.changed("node-bits")):
		return console.UsageErrorf("--create and --node-bits are for the server's own node IDs, " +
			"and with --leases-only it has none")
	case (f.cert == "") != (f.key == ""):
		return console.UsageErrorf("--tls-cert and --tls-key need each other")
	case f.clientCA != "" && f.cert == "":
		return console.UsageErrorf("--client-ca needs --tls-cert and --tls-key")
	case f.nodeBits < 1 || f.nodeBits > server.MaxNodeBits():
		return console.UsageErrorf(
			"--node-bits %d: want 1 to %d, so that the node ID fits all formats",
			f.nodeBits, server.MaxNodeBits())
	}
	if !f.loopback() && f.tokens == "" && f.clientCA == "" && !f.open {
		return console.UsageErrorf("--listen %s can be reached from other machines: "+
			"add --tokens FILE or --client-ca FILE, or --open if anybody may use the server",
			f.listen)
	}
	if err := (server.Config{Hosts: f.names(), Origins: f.origins}).Check(); err != nil {
		return console.UsageError(err)
	}
	return nil
}

func (f *serving) names() []string {
	host, _, _ := net.SplitHostPort(f.listen)
	if host == "" {
		return f.hosts
	}
	return append([]string{host}, f.hosts...)
}

// loopback reports whether only this machine can reach the server.
func (f *serving) loopback() bool {
	host, _, _ := net.SplitHostPort(f.listen)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// run writes its error to the log, except an error of usage.
func (f *serving) run(c *console.Console) error {
	var level slog.Level
	level.UnmarshalText([]byte(f.logLevel.Value)) // the flag allows only names of levels
	log := slog.New(slog.NewJSONHandler(c.Err, &slog.HandlerOptions{Level: level}))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := serveUntil(ctx, c, stop, f, log); {
	case err == nil:
		log.Info("the server has ended")
		return nil
	case console.IsUsageError(err):
		return err
	default:
		log.Error("the server ends", slog.Any("error", err))
		return console.ExitCode(console.Failure)
	}
}

// serveUntil serves until the context ends. It listens before it opens the store. So if the port is
// in use, the store does not change.
func serveUntil(ctx context.Context, c *console.Console, stop func(), f *serving,
	log *slog.Logger) error {
	config, err := f.config(ctx, log)
	if err != nil {
		return err
	}
	var tlsConfig *tls.Config
	if f.cert != "" {
		if tlsConfig, err = access.TLS(ctx, f.cert, f.key, f.clientCA, log); err != nil {
			return err
		}
	}
	listener, err := api.Listen(f.listen)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	defer listener.Close()
	log.Info("starting", slog.String("version", config.Version),
		slog.String("listen", listener.Addr().String()),
		slog.String("store", (&nodeid.Options{URL: f.store}).Shown()))
	if f.store != "" {
		st, err := openOwnRealms(ctx, c, f, log)
		switch {
		case err != nil && ctx.Err() != nil: // a signal came before the store's answer
			log.Info("shutting down")
			return nil
		case err != nil:
			return err
		}
		defer st.Close()
		config.Store, config.MustExist, config.Conditions = st, true, st.Conditions()
		for _, condition := range config.Conditions {
			log.Warn(condition)
		}
	}
	s, err := server.New(config)
	if err != nil {
		return err
	}
	defer func() {
		patience, cancel := context.WithTimeout(context.Background(), nodeid.ReleasePatience)
		defer cancel()
		if err := s.Close(patience); err != nil {
			log.Warn("a node ID was not given back; it is free again when its lease ends",
				slog.Any("error", err))
		} else if f.store != "" && !f.leasesOnly {
			log.Info("the server has given its node IDs back")
		}
	}()
	hs := s.HTTPServer()
	hs.TLSConfig = tlsConfig
	return serveHTTP(ctx, stop, s, hs, listener, log)
}

func (f *serving) config(ctx context.Context, log *slog.Logger) (c server.Config, err error) {
	c = server.Config{
		Name: nodeid.MyName(), NodeBits: f.nodeBits, Hosts: f.names(), Origins: f.origins,
		Version: release(), Logger: log, LeasesOnly: f.leasesOnly,
	}
	c.Page, c.PagePolicy = web.Page()
	if f.tokens == "" {
		return c, nil
	}
	if !f.loopback() && f.cert == "" {
		log.Warn("tokens cross the network in plain text: add --tls-cert and --tls-key, " +
			"or put a proxy with TLS in front")
	}
	c.Tokens, err = access.OpenTokens(ctx, f.tokens, log)
	return c, err
}

func openOwnRealms(ctx context.Context, c *console.Console, f *serving,
	log *slog.Logger) (store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, nodeid.Patience)
	defer cancel()
	l := &nodeid.Options{URL: f.store, Create: f.create, Log: log}
	if f.leasesOnly {
		return nodeid.Open(ctx, c, l)
	}
	var realms []lease.Config
	for _, s := range idapi.Leased() {
		realms = append(realms, lease.Config{Realm: s.Name(), Format: nodefield.LeaseFormat(s),
			NodeBits: f.nodeBits})
	}
	st, err := nodeid.Open(ctx, c, l, realms...)
	if errors.Is(err, lease.ErrNoRealm) {
		err = fmt.Errorf("%w. \"sortid serve --create\" makes the realms of the server's own node IDs. "+
			"If the server only leases node IDs to clients, add --leases-only", err)
	}
	return st, err
}

func serveHTTP(ctx context.Context, stop func(), s *server.Server, hs *http.Server,
	listener net.Listener, log *slog.Logger) error {
	address, accepts := "http://"+listener.Addr().String(), api.NewListener(listener)
	serve := func() error { return hs.Serve(accepts) }
	if hs.TLSConfig != nil {
		address = "https://" + listener.Addr().String()
		serve = func() error { return hs.ServeTLS(access.TLSListener(accepts), "", "") }
	}
	failed := make(chan error, 1)
	go func() { failed <- serve() }()
	log.Info("serving", slog.String("address", address), slog.Bool("tokens", s.HasTokens()))
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		stop() // a second signal ends the program at once
	}
	log.Info("shutting down")
	s.Drain()
	drain()
	end := time.Now().Add(drainIdle)
	accepts.Stop(end)
	ended := <-failed // before Shutdown, which would close the listener again
	for accepts.Open() > 0 && time.Now().Before(end) {
		time.Sleep(50 * time.Millisecond)
	}
	patience, cancel := context.WithTimeout(context.Background(), drainPatience)
	defer cancel()
	if err := hs.Shutdown(patience); err != nil {
		hs.Close()
		return fmt.Errorf("some requests were cut off, because they did not end within %v: %w",
			drainPatience, err)
	}
	if !errors.Is(ended, net.ErrClosed) {
		return ended
	}
	return nil
}
