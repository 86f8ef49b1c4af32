// Package store opens a store of leases by its URL. Import it in programs that learn only at run
// time which store they use; the package of one store brings in no other.
//
// All stores have this in common:
//
//   - In user and password, the characters : / ? # @ % are written %3A %2F %3F %23 %40 %25.
//   - The parameters ca, cert and key are files: the trusted certificates, by default the
//     system's, and this client's certificate and key.
//   - Open waits for a server that is away or busy until ctx ends, or for 30 seconds without a
//     deadline. No error contains a password.
//   - After a failover that lost changes, or a restored copy: stop all processes, call
//     [lease.Fence] (sortid lease fence URL), start them again.
package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/bolt"
	"github.com/sortid/sortid/store/etcd"
	"github.com/sortid/sortid/store/http"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/mysql"
	"github.com/sortid/sortid/store/nats"
	"github.com/sortid/sortid/store/postgres"
	"github.com/sortid/sortid/store/redis"
)

// A Store is a [lease.Store] that tells what its guarantee depends on.
type Store interface {
	lease.Store
	// String names the store, without a password.
	String() string
	// Conditions lists, in sentences for people, what must hold so that no ID is issued twice, and
	// could not be verified; nil if there is nothing.
	Conditions() []string
}

// ErrURL: a URL is malformed.
var ErrURL = connect.ErrURL

type kind struct {
	names    []string
	form     string
	what     string
	open     func(ctx context.Context, url string) (Store, error)
	existing func(ctx context.Context, url string) (Store, error)
}

var kinds = []kind{
	{[]string{"bolt"}, "bolt:PATH", "a file", opener(bolt.Open), opener(bolt.OpenExisting)},
	server("PostgreSQL", "[USER[:PASSWORD]@]HOST[:PORT]/DATABASE", postgres.Open, "postgres",
		"postgresql"),
	server("MariaDB or MySQL", "[USER[:PASSWORD]@]HOST[:PORT]/DATABASE", mysql.Open, "mysql",
		"mariadb"),
	server("etcd", "[USER:PASSWORD@]HOST[:PORT][,HOST...][/PREFIX]", etcd.Open, "etcd", "etcds"),
	server("NATS JetStream", "[USER:PASSWORD@]HOST[:PORT][,HOST...][/BUCKET]", nats.Open, "nats",
		"natss"),
	server("Redis or Valkey", "[[USER]:PASSWORD@]HOST[:PORT][/DB]", redis.Open, "redis", "rediss"),
	server("a sortid server", "HOST[:PORT][/PATH][?token=env:NAME]", http.Open, "https", "http"),
}

func server[S Store](what, form string, open func(context.Context, string) (S, error),
	names ...string) kind {
	return kind{names, names[0] + "://" + form, what, opener(open), opener(open)}
}

func opener[S Store](open func(context.Context, string) (S, error)) func(context.Context,
	string) (Store, error) {
	return func(ctx context.Context, url string) (Store, error) {
		s, err := open(ctx, url)
		if err != nil {
			return nil, err // not a Store that holds a nil pointer
		}
		return s, nil
	}
}

// Open opens the store of a URL, such as bolt:sortid.db or postgres://user@host/database, and
// creates what it needs, such as a file or a table. It fails with [ErrURL], with [lease.ErrUnsafe]
// if the store's settings could lose data, or with an error of the store.
func Open(ctx context.Context, url string) (Store, error) {
	k, err := find(url)
	if err != nil {
		return nil, err
	}
	return k.open(ctx, url)
}

// OpenExisting is Open, but a missing file is an error that matches [io/fs.ErrNotExist].
func OpenExisting(ctx context.Context, url string) (Store, error) {
	k, err := find(url)
	if err != nil {
		return nil, err
	}
	return k.existing(ctx, url)
}

func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.names...)
	}
	return names
}

// Forms returns the form of the URLs of each kind of store, and what the kind is.
func Forms() (forms, kind []string) {
	for _, k := range kinds {
		forms, kind = append(forms, k.form), append(kind, k.what)
	}
	return forms, kind
}

func find(url string) (kind, error) {
	name, _, ok := strings.Cut(url, ":")
	if !ok { // the URL is not shown, as it may hold a password
		return kind{}, connect.BadURL(fmt.Errorf("store: the URL begins with no scheme, such as %s",
			strings.Join(Names(), ", ")))
	}
	for _, k := range kinds {
		if slices.ContainsFunc(k.names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return k, nil
		}
	}
	return kind{}, connect.BadURL(fmt.Errorf("store: the URL: %w",
		&format.UnknownError{What: "scheme", Name: name, Known: Names()}))
}
