package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/sortid/sortid/store/internal/connect"
)

// errURL shows nothing of the URL, which may have the password anywhere.
var errURL = connect.BadURL(errors.New(
	"postgres: not a URL such as postgres://user:password@host:5432/database; " +
		"in user, password and parameters the characters : / ? # @ % must be written as %3A %2F " +
		"%3F %23 %40 %25"))

type config struct {
	*pgconn.Config
	maxConns           int32
	idleTime, lifetime time.Duration // of connections
}

// unused lists the parameters of pgx that have no effect here. Programs share URLs with them.
var unused = []string{
	"pool_min_conns", "pool_min_idle_conns", "pool_max_conn_lifetime_jitter",
	"pool_health_check_period", "pool_ping_timeout",
	"statement_cache_capacity", "description_cache_capacity", "default_query_exec_mode",
}

func parse(raw string) (*config, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if scheme = strings.ToLower(scheme); !ok || scheme != "postgres" && scheme != "postgresql" {
		return nil, errURL
	}
	raw = scheme + "://" + rest // pgx accepts the scheme only in lower case
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	_, query, found := strings.Cut(tail, "?")
	_, err := url.ParseQuery(query)
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
	parsed, err := pgconn.ParseConfig(raw)
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf("postgres: the URL: %w", err))
	}
	c := &config{Config: parsed, maxConns: 2, idleTime: connect.IdleTime, lifetime: time.Hour}
	if err := c.poolParameters(); err != nil {
		return nil, connect.BadURL(fmt.Errorf("postgres: the URL: %w", err))
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "sortid"
	}
	return c, nil
}

// poolParameters takes the parameters for the pool from the parameters for the server.
func (c *config) poolParameters() error {
	take := func(name string) string {
		value := c.RuntimeParams[name]
		delete(c.RuntimeParams, name)
		return value
	}
	if s := take("pool_max_conns"); s != "" {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 1 {
			return fmt.Errorf("pool_max_conns is %q, want a number, 1 or larger", s)
		}
		c.maxConns = int32(n)
	}
	for name, d := range map[string]*time.Duration{
		"pool_max_conn_idle_time": &c.idleTime, "pool_max_conn_lifetime": &c.lifetime,
	} {
		if s := take(name); s != "" {
			var err error
			if *d, err = time.ParseDuration(s); err != nil {
				return fmt.Errorf("%s is %q, want a duration such as 5m", name, s)
			}
		}
	}
	for _, name := range unused {
		take(name)
	}
	return nil
}
