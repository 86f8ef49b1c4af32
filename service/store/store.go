// Package store opens a store of leases by its URL, whichever it is: for programs that
// learn only at run time which one they use. A program that knows imports the package of
// that store instead, and nothing of the others.
package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/scheme"
	"github.com/sortid/sortid/service/store/bolt"
	"github.com/sortid/sortid/service/store/etcd"
	"github.com/sortid/sortid/service/store/mysql"
	"github.com/sortid/sortid/service/store/nats"
	"github.com/sortid/sortid/service/store/postgres"
	"github.com/sortid/sortid/service/store/redis"
)

// A Store is a [lease.Store] that tells what its guarantee rests on.
type Store interface {
	lease.Store
	// Conditions says, in sentences for people, under which conditions that could not be
	// verified no ID is issued twice; nil if there are none.
	Conditions() []string
}

// ErrURL: a URL names no known kind of store.
var ErrURL = errors.New("store: unknown URL")

// A kind of store has one name or several, the schemes of its URLs.
type kind struct {
	names    []string
	form     string // of its URLs
	what     string
	open     func(ctx context.Context, url string) (Store, error)
	existing func(ctx context.Context, url string) (Store, error)
}

var kinds = []kind{
	{[]string{"bolt"}, "bolt:PATH", "a file", opener(bolt.Open), opener(bolt.OpenExisting)},
	server("PostgreSQL", "[USER[:PASSWORD]@]HOST[:PORT]/DATABASE", postgres.Open, "postgres", "postgresql"),
	server("MariaDB or MySQL", "[USER[:PASSWORD]@]HOST[:PORT]/DATABASE", mysql.Open, "mysql", "mariadb"),
	server("etcd", "[USER:PASSWORD@]HOST[:PORT][,HOST...][/PREFIX]", etcd.Open, "etcd", "etcds"),
	server("NATS JetStream", "[USER:PASSWORD@]HOST[:PORT][,HOST...][/BUCKET]", nats.Open, "nats", "natss"),
	server("Redis or Valkey", "[[USER]:PASSWORD@]HOST[:PORT][/DB]", redis.Open, "redis", "rediss"),
}

// server describes a store on a server, which is there or not.
func server[S Store](what, form string, open func(context.Context, string) (S, error), names ...string) kind {
	return kind{names, names[0] + "://" + form, what, opener(open), opener(open)}
}

func opener[S Store](open func(context.Context, string) (S, error)) func(context.Context, string) (Store, error) {
	return func(ctx context.Context, url string) (Store, error) {
		s, err := open(ctx, url)
		if err != nil {
			return nil, err // and not a Store that holds a nil pointer
		}
		return s, nil
	}
}

// Open opens the store of a URL, such as bolt:sortid.db or postgres://user@host/database;
// the documentation of the packages below this one tells the parameters of each. It makes
// what the store needs, such as a file or a table, if that is not there yet.
//
// It fails with [ErrURL], with [lease.ErrUnsafe] if the store is set up so that it could
// forget, or with an error of the store. No error has a password in it.
func Open(ctx context.Context, url string) (Store, error) {
	k, err := find(url)
	if err != nil {
		return nil, err
	}
	return k.open(ctx, url)
}

// OpenExisting is Open for one who does not mean to begin anything: a file that is not
// there is an error that matches [io/fs.ErrNotExist]. On a server it is the same as Open.
func OpenExisting(ctx context.Context, url string) (Store, error) {
	k, err := find(url)
	if err != nil {
		return nil, err
	}
	return k.existing(ctx, url)
}

// Names returns the schemes of the URLs that Open takes.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.names...)
	}
	return names
}

// Forms returns how the URLs of each kind of store look, and what the kind is, for the
// help of a program.
func Forms() (forms, kind []string) {
	for _, k := range kinds {
		forms, kind = append(forms, k.form), append(kind, k.what)
	}
	return forms, kind
}

func find(url string) (kind, error) {
	name, _, ok := strings.Cut(url, ":")
	if !ok { // the rest is not shown: who knows what is in it
		return kind{}, fmt.Errorf("%w: it begins with no scheme, such as %s", ErrURL, strings.Join(Names(), ", "))
	}
	for _, k := range kinds {
		for _, known := range k.names {
			if strings.EqualFold(name, known) {
				return k, nil
			}
		}
	}
	return kind{}, fmt.Errorf("%w: %w", ErrURL, &scheme.UnknownError{What: "scheme", Name: name, Known: Names()})
}
