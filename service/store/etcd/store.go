package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/service/internal/kv"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// DefaultPrefix is where all keys begin, unless the URL or the program says otherwise.
const DefaultPrefix = "sortid"

// A Store is a [lease.Store] in etcd. It is safe for concurrent use.
type Store struct {
	client *clientv3.Client
	prefix string // of all keys: "/sortid/"
	hosts  string // for errors

	conditions []string
}

// Open returns the store at a URL; see the package comment. It asks etcd whether the user
// may read and write there, and fails if not, or if there is no etcd; with
// [lease.ErrUnsafe] if that is of a version that can lose changes. The context bounds this
// call only.
func Open(ctx context.Context, url string) (*Store, error) {
	config, prefix, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("etcd: the URL: %w; want etcd://user:password@host:2379,host:2379/prefix", err)
	}
	return New(ctx, config, prefix)
}

func parse(url string) (config clientv3.Config, prefix string, err error) {
	u, err := kv.ParseURL(url, "2379", kv.TLS...)
	if err != nil {
		return config, "", err
	}
	if config.TLS, err = u.TLS("etcd"); err != nil {
		return config, "", err
	}
	scheme := "http://"
	if config.TLS != nil {
		scheme = "https://"
	}
	if (u.User == "") != (u.Password == "") {
		return config, "", errors.New("of user and password there is only one")
	}
	for _, host := range u.Hosts {
		config.Endpoints = append(config.Endpoints, scheme+host)
	}
	config.Username, config.Password = u.User, u.Password
	return config, u.Path, nil
}

// New is Open for what a URL cannot say. The prefix is [DefaultPrefix] if it is empty. New
// takes a configuration and not a client, for the client must not repeat requests, which
// cannot be told from one that exists already: MaxUnaryRetries is set to 1. Keep-alive
// times and the logger have defaults that suit leases.
func New(ctx context.Context, config clientv3.Config, prefix string) (*Store, error) {
	config.MaxUnaryRetries = 1 // attempts, in fact
	if config.Logger == nil && config.LogConfig == nil {
		config.Logger = zap.NewNop() // what fails is returned
	}
	if config.DialKeepAliveTime == 0 {
		config.DialKeepAliveTime, config.DialKeepAliveTimeout = 10*time.Second, 3*time.Second
	}
	config.DialOptions = append([]grpc.DialOption{
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: 5 * time.Second}),
		grpc.WithChainUnaryInterceptor(failFast),
	}, config.DialOptions...)

	// The client lives as long as its context, and while it is made, as long as ours.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	config.Context = life
	s := &Store{prefix: "/" + strings.Trim(prefix, "/") + "/", hosts: strings.Join(config.Endpoints, ", ")}
	if s.prefix == "//" {
		s.prefix = "/" + DefaultPrefix + "/"
	}
	client, err := clientv3.New(config)
	if err != nil {
		end()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, s.failed("connect", err)
	}
	s.client = client
	err = s.try(ctx)
	if err == nil {
		err = s.inspect(ctx)
	}
	if err != nil {
		client.Close()
		end()
		return nil, err
	}
	if !stop() {
		client.Close()
		return nil, s.failed("connect", context.Cause(ctx))
	}
	return s, nil
}

// A store that comes back is to be found within seconds, not the two minutes that gRPC's
// pauses grow to.
var reconnect = backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}

// failFast has a request fail at once if no member can be reached; etcd's client would
// have it wait until its context ends, and so for ever without a deadline.
func failFast(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(ctx, method, request, reply, conn, append(opts, grpc.WaitForReady(false))...)
}

// try asks for all that the store will ask for, and changes nothing: no revision is below
// 0. Permissions and the quota are checked all the same.
func (s *Store) try(ctx context.Context) error {
	key := s.key("", lease.Block{})
	_, err := again(func() (*clientv3.TxnResponse, error) {
		return s.client.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(key), "<", 0)).
			Then(clientv3.OpPut(key, "")).
			Else(clientv3.OpGet(s.prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())).
			Commit()
	})
	if err != nil {
		return s.failed("read and write", err)
	}
	return nil
}

// again calls f once more if etcd has refused it before it did anything, for a token that
// it does not know (any more): the client has got itself a new one.
func again[T any](f func() (T, error)) (T, error) {
	r, err := f()
	for _, e := range []error{rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision, rpctypes.ErrUserEmpty} {
		if errors.Is(err, e) {
			return f()
		}
	}
	return r, err
}

// Conditions says, in sentences for people, on what the guarantee of this cluster's version
// rests; nil if there is nothing beside what the package comment says of all.
func (s *Store) Conditions() []string { return s.conditions }

// Get returns the record of a block.
func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	r, _, err := s.get(ctx, realm, b)
	return r, err
}

// get also returns the revision of the record, or 0 if there is none.
func (s *Store) get(ctx context.Context, realm string, b lease.Block) (lease.Record, int64, error) {
	key := s.key(realm, b)
	resp, err := again(func() (*clientv3.GetResponse, error) { return s.client.Get(ctx, key) })
	if err != nil {
		return lease.Record{}, 0, s.failed("read", err)
	}
	if len(resp.Kvs) == 0 {
		return lease.Record{Realm: realm, Block: b}, 0, nil
	}
	r, err := kv.Decode(resp.Kvs[0].Value, realm, b)
	if err != nil {
		return lease.Record{}, 0, s.failed("read "+key, err)
	}
	return r, resp.Kvs[0].ModRevision, nil
}

// CompareAndSet stores next in the place of prev.
func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	value, err := kv.Encode(next)
	if err != nil {
		return false, s.failed("write", err)
	}
	now, revision, err := s.get(ctx, prev.Realm, prev.Block)
	if err != nil || !now.Matches(prev) {
		return false, err
	}
	key := s.key(prev.Realm, prev.Block)
	resp, err := again(func() (*clientv3.TxnResponse, error) {
		return s.client.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
			Then(clientv3.OpPut(key, string(value))).
			Commit()
	})
	if err != nil {
		return false, s.failed("write", err)
	}
	return resp.Succeeded, nil
}

// page is how many records List asks for at a time.
const page = 1000

// List returns the records of a realm.
func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	var records []lease.Record
	from := s.folder(realm)
	end := clientv3.GetPrefixRangeEnd(from)
	for {
		resp, err := again(func() (*clientv3.GetResponse, error) {
			return s.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(page))
		})
		if err != nil {
			return nil, s.failed("list", err)
		}
		for _, e := range resp.Kvs {
			b, err := lease.ParseBlock(string(e.Key[len(s.folder(realm)):]))
			if err != nil {
				return nil, s.failed("list", fmt.Errorf("the key %q is not that of a record: %w", e.Key, err))
			}
			r, err := kv.Decode(e.Value, realm, b)
			if err != nil {
				return nil, s.failed("read "+string(e.Key), err)
			}
			records = append(records, r)
		}
		if !resp.More {
			return records, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// folder returns the beginning of the keys of a realm, and of no other.
func (s *Store) folder(realm string) string { return s.prefix + escape.Replace(realm) + "/" }

func (s *Store) key(realm string, b lease.Block) string { return s.folder(realm) + b.String() }

var escape = strings.NewReplacer("%", "%25", "/", "%2F")

// Time fails with [lease.ErrNoTime].
func (s *Store) Time(context.Context) (time.Time, error) { return time.Time{}, lease.ErrNoTime }

// Close closes the connection; calls under way fail.
func (s *Store) Close() error { return s.client.Close() }

// failed words an error of etcd, and says what to do about those that last.
func (s *Store) failed(what string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		hint = "; compact and defragment it, then: etcdctl alarm disarm"
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		hint = "; grant it: etcdctl role grant-permission ROLE readwrite --prefix " + s.prefix
	case errors.Is(err, rpctypes.ErrUserEmpty):
		hint = "; name user and password in the URL"
	}
	return fmt.Errorf("etcd at %s: cannot %s: %w%s", s.hosts, what, err, hint)
}
