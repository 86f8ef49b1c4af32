package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server"
	"github.com/sortid/sortid/cmd/sortid/web"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
	"github.com/spf13/cobra"
)

const (
	// Load balancers get this long to see that the server is not ready any more.
	drainPause = time.Second
	// Requests under way get this long to finish.
	drainPatience = 20 * time.Second
)

// drain is a variable for tests.
var drain = func() { time.Sleep(drainPause) }

// serving holds the flags of serve.
type serving struct {
	listen, store, tokens     string
	cert, key, clientCA       string
	open, create              bool
	origins                   []string
	nodeBits                  int
	storeGiven, nodeBitsGiven bool
}

func (a *app) serveCommand() *cobra.Command {
	f := &serving{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "serve IDs, inspection and a store of leases over HTTP",
		Long: `serve makes and inspects IDs for programs in any language, over HTTP. It keeps no
state of its own. Without flags it listens on the loopback address, has no store and
asks for no tokens. http://127.0.0.1:8420/ is the page that "sortid page" writes, and
/openapi.json describes what else it answers.

With --store it leases a node ID for itself, so that it can make scru64 and uid60 IDs,
and lets other programs lease theirs through it: their store is the address of this
server. Any number of servers can stand behind a load balancer on one store.

With --tokens each request needs a token from that file, which "sortid serve token"
writes. Beyond the loopback address the server starts only with --tokens, or with
--client-ca, or when --open says that anybody may use it.

SIGTERM and Ctrl-C end it: requests under way are finished, and leases given back.
Each request is logged to standard error as a line of JSON.`,
		Example: `  sortid serve
  sortid serve --store bolt:sortid.db
  sortid serve --listen :8420 --store env:STORE_URL --tokens tokens.txt --tls-cert cert.pem --tls-key key.pem
  curl 'http://127.0.0.1:8420/v1/ids/scru128?n=3'`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8420", "the `ADDRESS` to listen on; :8420 is that port of all addresses")
	flags.StringVar(&f.store, "store", "", "the `URL` of the store, such as bolt:PATH (see sortid lease --help)")
	flags.BoolVar(&f.create, "create", false, "make the realms scru64 and uid60 if the store has none; without --create only a file that is new gets them")
	flags.StringVar(&f.tokens, "tokens", "", "a `FILE` of tokens; it is read again when it changes")
	flags.StringVar(&f.cert, "tls-cert", "", "a `FILE` with the server's certificate, for HTTPS; it is read again when it changes")
	flags.StringVar(&f.key, "tls-key", "", "a `FILE` with the key of the certificate")
	flags.StringVar(&f.clientCA, "client-ca", "", "a `FILE` of certificates: only clients with one that these have signed are served")
	flags.BoolVar(&f.open, "open", false, "serve anybody who can reach the address")
	flags.StringArrayVar(&f.origins, "cors", nil, "the `ORIGIN` of web pages that may call the server from a browser; repeat it for several")
	flags.IntVar(&f.nodeBits, "node-bits", 8, "the size of the server's own node IDs in bits, 1 to 9")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f.storeGiven, f.nodeBitsGiven = flags.Changed("store"), flags.Changed("node-bits")
		if err := f.check(); err != nil {
			return err
		}
		return a.serve(f)
	}
	cmd.AddCommand(a.serveTokenCommand())
	return cmd
}

// check finds mistakes before anything is opened.
func (f *serving) check() error {
	host, _, err := net.SplitHostPort(f.listen)
	switch {
	case err != nil:
		return usagef("--listen %q is no address; want HOST:PORT, such as 127.0.0.1:8420", f.listen)
	case f.storeGiven && f.store == "":
		return usagef("--store wants the URL of a store, and has an empty text; see sortid lease --help")
	case f.nodeBitsGiven && f.store == "":
		return usagef("--node-bits goes with --store URL")
	case f.create && f.store == "":
		return usagef("--create goes with --store URL")
	case (f.cert == "") != (f.key == ""):
		return usagef("--tls-cert and --tls-key go together")
	case f.clientCA != "" && f.cert == "":
		return usagef("--client-ca goes with --tls-cert and --tls-key")
	case f.nodeBits < 1 || f.nodeBits > 9:
		return usagef("--node-bits %d: want 1 to 9, so that uid60 has room for them", f.nodeBits)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	if f.tokens == "" && f.clientCA == "" && !f.open {
		return usagef("--listen %s can be reached from other machines: add --tokens FILE or --client-ca FILE, or --open if anybody may use it", f.listen)
	}
	return nil
}

func (a *app) serve(f *serving) error {
	late := &lateWriter{w: a.err}
	defer late.flush()
	log := slog.New(slog.NewJSONHandler(late, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	page, err := web.Page()
	if err != nil {
		return err
	}
	schemes, err := schemesJSON()
	if err != nil {
		return err
	}
	config := server.Config{
		Name: myName(), NodeIDSize: f.nodeBits, Origins: f.origins, Version: version(), Logger: log, Page: page, Schemes: schemes,
		Inspect: func(b []byte, s *format.Format, text string) ([]byte, error) {
			in := reader{format: s}
			r, err := in.read(text)
			if err != nil {
				return b, err
			}
			return r.appendJSON(b)
		},
	}
	if f.tokens != "" {
		tokens, err := server.OpenTokens(f.tokens, log)
		if err != nil {
			return err
		}
		config.Tokens = tokens
	}
	if f.store != "" {
		limited, cancel := context.WithTimeout(ctx, storePatience)
		l := &leasing{url: f.store, create: f.create, log: log}
		st, err := a.openRealms(limited, l, lease.Config{Realm: format.SCRU64.Name, Format: lease.SCRU64},
			lease.Config{Realm: format.UID60.Name, Format: lease.UID60})
		cancel()
		if err != nil {
			return interrupted(ctx, err)
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
	hs := s.HTTPServer()
	if f.cert != "" {
		if hs.TLSConfig, err = server.TLSConfig(f.cert, f.key, f.clientCA, log); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	shutdown := hs.Shutdown
	failed := make(chan error, 1)
	if f.cert != "" {
		address = "https://" + address
		go func() { failed <- hs.ServeTLS(listener, "", "") }()
	} else {
		address = "http://" + address
		l := s.Listener(listener)
		shutdown = func(ctx context.Context) error { // both at once
			plain := make(chan error, 1)
			hs.RegisterOnShutdown(func() { plain <- l.Shutdown(ctx) })
			return errors.Join(hs.Shutdown(ctx), <-plain)
		}
		go func() { failed <- hs.Serve(l) }()
	}
	log.Info("serving", slog.String("address", address), slog.Bool("tokens", config.Tokens != nil))

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		stop() // a second signal ends the program at once
	}
	log.Info("going down")
	s.Drain()
	drain()
	patience, cancel := context.WithTimeout(context.Background(), drainPatience)
	defer cancel()
	err = shutdown(patience)
	if err == nil {
		if err = <-failed; errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
	}
	patience, cancel = context.WithTimeout(context.Background(), releasePatience)
	defer cancel()
	if closing := s.Close(patience); closing != nil {
		log.Warn("a node ID was not given back; it is free again when its lease ends", slog.Any("error", closing))
	}
	return err
}

func (a *app) serveTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "make a token for the server",
		Long: `token makes a new token and prints it to standard output: give it to the program
that is to use the server. With --tokens it appends the line for the server to that
file; without, it prints the line to standard error. The file holds only the SHA-256
of a token.

--allow names what the token may do: "ids" (make IDs), "realm:NAME" (lease node IDs of
that realm), "admin" (everything, and the metrics). Any token may inspect IDs.`,
		Example: `  sortid serve token shop --tokens tokens.txt --allow ids
  sortid serve token orders --tokens tokens.txt --allow ids,realm:orders --requests 100 --ids 100000`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("token wants one name, for whom the token is; there are %d arguments", len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	file := cmd.Flags().String("tokens", "", "the `FILE` to append the line to; it is made if it is not there")
	allow := cmd.Flags().StringSlice("allow", []string{"ids"}, "what the token may do, with commas between: `PERMISSION`")
	requests := cmd.Flags().Int("requests", 0, "at most `N` requests a second (0: no limit)")
	ids := cmd.Flags().Int("ids", 0, "at most `N` IDs a second (0: no limit)")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *requests < 0 || *ids < 0 {
			return usagef("--requests and --ids want 0 or more")
		}
		text, line, err := server.NewToken(args[0], *allow, *requests, *ids)
		if err != nil {
			return usageError{err}
		}
		// A token that could not be printed is of no use in the file.
		if _, err := fmt.Fprintln(a.out, text); err != nil {
			return err
		}
		if *file != "" {
			return server.AppendToken(*file, line)
		}
		_, err = fmt.Fprint(a.err, line)
		return err
	}
	return cmd
}

// noArguments checks the arguments of a command that takes flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes flags only; unexpected argument %q", cmd.Name(), args[0])
	}
	return nil
}
