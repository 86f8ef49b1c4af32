// Package store leases node IDs from a store or from a server, by its URL. Import it if your program
// learns only at run time which one it uses. Otherwise import only the store's package, or package
// [github.com/sortid/sortid/store/http] for a server.
//
//	source, err := store.OpenSource(ctx, os.Getenv("SORTID_LEASE"))
//	...
//	l, err := source.Acquire(ctx, lease.Config{
//		Realm: "orders", Format: lease.SCRU64(), NodeBits: 8, MustExist: true,
//	})
//
// A [Source] is a store or a server: [Direct] or [Remote]. All URLs of stores and servers have this
// in common:
//
//   - In user and password, write the characters : / ? # @ % as %3A %2F %3F %23 %40 %25.
//   - The values of the parameters ca, cert and key are names of files. They contain the
//     certificates to trust (by default the system's), this client's certificate, and its key.
//   - If the server cannot be reached or is busy, the functions that open try again until ctx ends
//     or, without a deadline, for 30 seconds.
//   - No error contains a password.
//   - The disk must keep the data that it reports as stored. Nobody may edit or delete records.
//   - If a failover has lost changes, or if you have restored a copy: stop all processes, call
//     [lease.Fence] (sortid lease fence URL), and start the processes again.
package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/bolt"
	"github.com/sortid/sortid/store/etcd"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/kubernetes"
	"github.com/sortid/sortid/store/mysql"
	"github.com/sortid/sortid/store/nats"
	"github.com/sortid/sortid/store/postgres"
	"github.com/sortid/sortid/store/redis"
)

// A Store is a [lease.Store] that guarantees, under conditions, that no ID is issued twice.
type Store interface {
	lease.Store
	// String returns the name of the store, without a password.
	String() string
	// Conditions lists, in sentences, the conditions that the store could not verify.
	Conditions() []string
}

// ErrURL: a URL is malformed, or no store has its scheme.
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
	server("PostgreSQL", "[USER[:PASSWORD]@]HOST[:PORT]/DATABASE", postgres.Open,
		postgres.OpenExisting, "postgres", "postgresql"),
	server("MariaDB or MySQL", "[USER[:PASSWORD]@]HOST[:PORT]/DATABASE", mysql.Open,
		mysql.OpenExisting, "mysql", "mariadb"),
	server("etcd", "[USER:PASSWORD@]HOST[:PORT][,HOST...][/PREFIX]", etcd.Open, etcd.Open,
		"etcd", "etcds"),
	server("NATS JetStream", "[USER:PASSWORD@]HOST[:PORT][,HOST...][/BUCKET]", nats.Open,
		nats.OpenExisting, "nats", "natss"),
	{[]string{"kubernetes"}, "kubernetes:[NAMESPACE][?context=CONTEXT]",
		"the API server of Kubernetes", opener(kubernetes.Open), opener(kubernetes.Open)},
	server("Redis or Valkey", "[[USER]:PASSWORD@]HOST[:PORT][/DB]", redis.Open, redis.Open,
		"redis", "rediss"),
	{[]string{"https", "http"}, "https://HOST[:PORT][/PATH][?token=env:NAME]", "a sortid server",
		notStore, notStore},
}

// notStore is how Open opens a server.
func notStore(context.Context, string) (Store, error) {
	return nil, connect.BadURL(errors.New("store: this is the URL of a sortid server, not of a store; " +
		"give the URL of the server's own store"))
}

func server[S Store](what, form string, open, existing func(context.Context, string) (S, error),
	names ...string) kind {
	return kind{names, names[0] + "://" + form, what, opener(open), opener(existing)}
}

func opener[S Store](open func(context.Context, string) (S, error)) func(context.Context,
	string) (Store, error) {
	return func(ctx context.Context, url string) (Store, error) {
		s, err := open(ctx, url)
		if err != nil {
			return nil, err // return a nil Store, not a Store with a nil pointer
		}
		return s, nil
	}
}

// Open opens the store at a URL, such as bolt:sortid.db or postgres://user@host/database. It
// creates what the store needs, such as a table. It fails with [ErrURL] if the URL is malformed,
// with [lease.ErrUnsafe] if the store's settings could lose data, or with another error of the
// store.
func Open(ctx context.Context, url string) (Store, error) {
	k, err := find(url)
	if err != nil {
		return nil, err
	}
	return k.open(ctx, url)
}

// OpenExisting is like Open, but creates nothing. If the file, the table or the bucket is missing,
// it fails with [lease.ErrNoRealm].
func OpenExisting(ctx context.Context, url string) (Store, error) {
	k, err := find(url)
	if err != nil {
		return nil, err
	}
	return k.existing(ctx, url)
}

// Names returns the schemes of the URLs.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.names...)
	}
	return names
}

// Forms returns the forms of the URLs, and a description for each kind.
func Forms() (forms, kind []string) {
	for _, k := range kinds {
		forms, kind = append(forms, k.form), append(kind, k.what)
	}
	return forms, kind
}

func find(url string) (kind, error) {
	name, _, ok := strings.Cut(url, ":")
	if !ok { // do not show the URL, because it may have a password
		return kind{}, connect.BadURL(fmt.Errorf("store: the URL begins with no scheme, such as %s",
			strings.Join(Names(), ", ")))
	}
	for _, k := range kinds {
		if slices.ContainsFunc(k.names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return k, nil
		}
	}
	return kind{}, connect.BadURL(fmt.Errorf("store: the URL: %w",
		&sortid.UnknownError{What: "scheme", Name: name, Known: Names()}))
}
