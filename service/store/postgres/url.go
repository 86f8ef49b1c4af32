package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// errURL says nothing of the URL that it is about: where that is malformed nobody can
// tell what in it is the password.
var errURL = errors.New("postgres: not a URL such as postgres://user:password@host:5432/database; " +
	"in user, password and parameters the characters : / ? # @ % must be written as %3A %2F %3F %23 %40 %25")

// parse returns the configuration of a URL, with the store's own defaults.
func parse(raw string) (*pgxpool.Config, error) {
	scheme, rest, _ := strings.Cut(raw, "://")
	if scheme != "postgres" && scheme != "postgresql" {
		return nil, errURL
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	_, query, found := strings.Cut(tail, "?")
	values, err := url.ParseQuery(query)
	for part := range strings.SplitSeq(query, "&") {
		if found && !strings.Contains(part, "=") {
			return nil, errURL
		}
	}
	if err != nil || strings.Count(authority, "@") > 1 || strings.ContainsAny(tail, "@#") {
		return nil, errURL
	}
	if user, _, ok := strings.Cut(authority, "@"); ok {
		if _, err := url.PathUnescape(user); err != nil {
			return nil, errURL
		}
	}
	config, err := pgxpool.ParseConfig(raw)
	if err != nil {
		return nil, fmt.Errorf("postgres: the URL: %w", err)
	}
	if !values.Has("pool_max_conns") {
		config.MaxConns = 2
	}
	// An idle connection costs the server a process, and making one some milliseconds.
	if !values.Has("pool_max_conn_idle_time") {
		config.MaxConnIdleTime = 500 * time.Millisecond
	}
	if !values.Has("pool_health_check_period") {
		config.HealthCheckPeriod = min(config.MaxConnIdleTime, time.Minute)
	}
	// After a restart of the server no call shall fail for a connection that is dead.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true }
	if name := config.ConnConfig.RuntimeParams["application_name"]; name == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "sortid"
	}
	return config, nil
}
