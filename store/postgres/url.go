package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sortid/sortid/store/internal/connect"
)

// errURL shows nothing of the URL, which may have the password anywhere.
var errURL = connect.BadURL(errors.New(
	"postgres: not a URL such as postgres://user:password@host:5432/database; " +
		"in user, password and parameters the characters : / ? # @ % must be written as %3A %2F " +
		"%3F %23 %40 %25"))

// The pool checks connections that were idle for longer than pingAfter. A server's restart takes
// longer, so the pool notices it.
const pingAfter = 50 * time.Millisecond

// With durable=storage in the URL, the user guarantees that the storage does what the settings fsync
// and full_page_writes do.
const (
	durable = "durable"
	storage = "storage"
)

// parse also reports whether the URL has durable=storage.
func parse(raw string) (config *pgxpool.Config, byStorage bool, err error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if scheme = strings.ToLower(scheme); !ok || scheme != "postgres" && scheme != "postgresql" {
		return nil, false, errURL
	}
	raw = scheme + "://" + rest // pgx accepts the scheme only in lower case
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	_, query, found := strings.Cut(tail, "?")
	values, err := url.ParseQuery(query)
	for part := range strings.SplitSeq(query, "&") {
		if found && !strings.Contains(part, "=") {
			return nil, false, errURL
		}
	}
	if err != nil || strings.Count(authority, "@") > 1 || strings.ContainsAny(tail, "@#") {
		return nil, false, errURL
	}
	if user, _, ok := strings.Cut(authority, "@"); ok {
		if _, err := url.PathUnescape(user); err != nil {
			return nil, false, errURL
		}
	}
	if config, err = pgxpool.ParseConfig(raw); err != nil {
		return nil, false, connect.BadURL(fmt.Errorf("postgres: the URL: %w", err))
	}
	params := config.ConnConfig.RuntimeParams
	if values.Has(durable) && params[durable] != storage {
		return nil, false, connect.BadURL(errors.New(
			"postgres: the URL: the parameter durable can have only the value storage"))
	}
	delete(params, durable) // otherwise pgx would send it to the server as a setting
	if !values.Has("pool_max_conns") {
		config.MaxConns = 2
	}
	if !values.Has("pool_max_conn_idle_time") {
		config.MaxConnIdleTime = connect.IdleTime
	}
	config.BeforeConnect = useDialer
	if !values.Has("connect_timeout") {
		limit := new(connect.Limit)
		config.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
			c.ConnectTimeout = limit.Next()
			return useDialer(ctx, c)
		}
		config.AfterConnect = func(context.Context, *pgx.Conn) error {
			limit.Connected()
			return nil
		}
	}
	config.PingTimeout = time.Second
	// Without this, the first call after a restart of the server could fail on a dead connection.
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool {
		return p.IdleDuration > pingAfter
	}
	if params["application_name"] == "" {
		params["application_name"] = "sortid"
	}
	return config, values.Has(durable), nil
}
