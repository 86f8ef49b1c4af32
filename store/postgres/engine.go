package postgres

import (
	"regexp"
	"strings"

	"github.com/sortid/sortid/store/internal/connect"
)

// postgreSQL matches the version() of PostgreSQL, also in the packages of distributions. Servers
// that are derived from PostgreSQL add something else.
const postgreSQL = `^PostgreSQL \d+(\.\d+)?( \((\w+ \d[^)]*|Homebrew|Postgres\.app)\))?(,| on) `

// engine returns the conditions that follow from the version() of a server, or [lease.ErrUnsafe].
func engine(version string) (conditions []string, err error) {
	const refusal = "the server is not PostgreSQL, it says that it is %q. %s: use PostgreSQL"
	switch {
	case strings.HasPrefix(version, "CockroachDB"):
		return nil, connect.Unsafe(refusal, version, "It does not show whether it syncs changes, "+
			"and it stores json as jsonb, so the table is not as this store needs it")
	case strings.Contains(version, "-YB-"):
		return nil, connect.Unsafe(refusal, version, "YugabyteDB refuses a change with the error "+
			"40001 if another one came first, where PostgreSQL changes 0 rows, and its fsync is "+
			"a setting without effect")
	case !regexp.MustCompile(postgreSQL).MatchString(version):
		return []string{connect.NotTested(version, "PostgreSQL")}, nil
	}
	return nil, nil
}
