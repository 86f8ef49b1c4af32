package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/kv"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// DefaultPrefix begins the keys if the URL has no prefix.
const DefaultPrefix = "sortid"

// A Store is a [lease.Store] in etcd. It is safe for concurrent use.
type Store struct {
	*records
	client     *clientv3.Client
	clock      *clock
	prefix     string // the beginning of all keys, such as "/sortid/"
	hosts      string
	conditions []string
}

// The version of a record is its revision in etcd, or 0 if there is no record.
type records = kv.Records[int64]

// Open opens the store at a URL; see the package comment. It fails if the user may not read and
// write there, and with [lease.ErrUnsafe] if etcd can lose changes.
func Open(ctx context.Context, url string) (*Store, error) {
	config, prefix, err := parse(url)
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf(
			"etcd: the URL: %w; want etcd://user:password@host:2379,host:2379/prefix", err))
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
		return config, "", errors.New("only one of user and password is given; want both or none")
	}
	for _, host := range u.Hosts {
		config.Endpoints = append(config.Endpoints, scheme+host)
	}
	config.Username, config.Password = u.User, u.Password
	return config, u.Path, nil
}

// New is like Open, for settings that a URL cannot express. An empty prefix means [DefaultPrefix].
// New takes no client, because a client may repeat requests. New sets MaxUnaryRetries to 1, so that
// each request is sent only once. If config has no keep-alive times, or no logger, New chooses them
// for leases.
func New(ctx context.Context, config clientv3.Config, prefix string) (*Store, error) {
	config.MaxUnaryRetries = 1
	if config.Logger == nil && config.LogConfig == nil {
		config.Logger = zap.NewNop() // the store returns all errors
	}
	if config.DialKeepAliveTime == 0 {
		config.DialKeepAliveTime = 10 * time.Second
		config.DialKeepAliveTimeout = 1500 * time.Millisecond
	}
	config.DialOptions = append([]grpc.DialOption{
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: reconnect, MinConnectTimeout: 1500 * time.Millisecond,
		}),
		grpc.WithChainUnaryInterceptor(failFast),
	}, config.DialOptions...)

	s := &Store{prefix: "/" + cmp.Or(strings.Trim(prefix, "/"), DefaultPrefix) + "/",
		hosts: strings.Join(config.Endpoints, ", "), clock: newClock(config)}
	s.records = kv.NewRecords(kv.Server[int64]{Read: s.read, Write: s.write, Failed: s.failed,
		Key: s.key})
	if _, err := connect.Retry(ctx, strings.Join(s.clock.hosts, ", "), connect.NoResult(
		func(ctx context.Context) error { return temporary(s.connect(ctx, config)) })); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context, config clientv3.Config) error {
	// The client works until its context, clientCtx, ends. Until connect returns, clientCtx also
	// ends when ctx ends.
	clientCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	config.Context = clientCtx
	client, err := clientv3.New(config)
	if err != nil {
		end()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return s.failed("connect", err)
	}
	s.client, s.conditions = client, nil
	err = s.try(ctx)
	if err == nil {
		err = s.inspect(ctx)
	}
	if err == nil && !stop() {
		err = s.failed("connect", context.Cause(ctx))
	}
	if err != nil {
		client.Close()
		end()
	}
	return err
}

func temporary(err error) error {
	answer := rpctypes.EtcdError{}
	unavailable := errors.As(err, &answer) && answer.Code() == codes.Unavailable ||
		status.Code(err) == codes.Unavailable
	if unavailable && !strings.Contains(err.Error(), "authentication handshake failed: tls: ") {
		return connect.Temporary(err)
	}
	return err
}

// reconnect makes the client find a restarted server within a second. By default, gRPC's pauses
// grow to two minutes.
var reconnect = backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2,
	MaxDelay: 500 * time.Millisecond}

// failFast makes a request fail at once if no member can be reached. By default, etcd's client
// waits.
func failFast(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(ctx, method, request, reply, conn, append(opts, grpc.WaitForReady(false))...)
}

// try sends the kinds of requests that the store needs, so that etcd checks the permissions and the
// quota. The transaction changes nothing, because no revision is below 0.
func (s *Store) try(ctx context.Context) error {
	key := s.key("", lease.Block{})
	_, err := ask(ctx, func(ctx context.Context) (*clientv3.TxnResponse, error) {
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

// ask repeats a request once if etcd did not accept the token from the client's login. In this case
// etcd has done nothing, and the client has a new token.
func ask[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	r, err := connect.Ask(ctx, f)
	for _, e := range []error{rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision,
		rpctypes.ErrUserEmpty} {
		if errors.Is(err, e) {
			return connect.Ask(ctx, f)
		}
	}
	return r, err
}

func read[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	return connect.Read(ctx, func(ctx context.Context) (T, error) { return ask(ctx, f) })
}

func (s *Store) Conditions() []string { return s.conditions }

func (s *Store) read(ctx context.Context, realm string,
	blocks []lease.Block) (values [][]byte, revisions []int64, err error) {
	gets := make([]clientv3.Op, len(blocks))
	for i, b := range blocks {
		gets[i] = clientv3.OpGet(s.key(realm, b))
	}
	resp, err := read(ctx, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return s.client.Txn(ctx).Then(gets...).Commit()
	})
	if err != nil {
		return nil, nil, s.failed("read", err)
	}
	values, revisions = make([][]byte, len(blocks)), make([]int64, len(blocks))
	for i := range blocks {
		for _, found := range resp.Responses[i].GetResponseRange().Kvs {
			// An empty value must not be nil.
			values[i], revisions[i] = append([]byte{}, found.Value...), found.ModRevision
		}
	}
	return values, revisions, nil
}

func (s *Store) write(ctx context.Context, changes []lease.Change, values []string,
	was []int64) ([]int64, error) {
	var compares []clientv3.Cmp
	var puts []clientv3.Op
	for i, c := range changes {
		key := s.key(c.Prev.Realm, c.Prev.Block)
		compares = append(compares, clientv3.Compare(clientv3.ModRevision(key), "=", was[i]))
		puts = append(puts, clientv3.OpPut(key, values[i]))
	}
	resp, err := ask(ctx, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return s.client.Txn(ctx).If(compares...).Then(puts...).Commit()
	})
	if err != nil {
		return nil, s.failed("write", err)
	}
	if !resp.Succeeded {
		return nil, nil
	}
	return slices.Repeat([]int64{resp.Header.Revision}, len(changes)), nil
}

func (s *Store) Realms(ctx context.Context) (names []string, err error) {
	for from, end := s.prefix, clientv3.GetPrefixRangeEnd(s.prefix); ; {
		resp, err := read(ctx, func(ctx context.Context) (*clientv3.GetResponse, error) {
			return s.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(1),
				clientv3.WithKeysOnly())
		})
		if err != nil {
			return nil, s.failed("list the realms", err)
		}
		if len(resp.Kvs) == 0 {
			return names, nil
		}
		folder, _, _ := strings.Cut(strings.TrimPrefix(string(resp.Kvs[0].Key), s.prefix), "/")
		name := unescape.Replace(folder)
		r, err := s.Get(ctx, name, lease.Block{})
		if err != nil {
			return nil, err
		}
		if r.Revision != 0 {
			names = append(names, name)
		}
		from = clientv3.GetPrefixRangeEnd(s.prefix + folder + "/")
	}
}

const page = 1000

func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	var records []lease.Record
	from := s.folder(realm)
	end := clientv3.GetPrefixRangeEnd(from)
	for {
		resp, err := read(ctx, func(ctx context.Context) (*clientv3.GetResponse, error) {
			return s.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(page))
		})
		if err != nil {
			return nil, s.failed("list", err)
		}
		for _, e := range resp.Kvs {
			r, err := kv.DecodeListed(string(e.Key[len(s.folder(realm)):]), e.Value, realm)
			if err != nil {
				return nil, s.failed("list "+string(e.Key), err)
			}
			records = append(records, r)
		}
		if !resp.More {
			return records, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

func (s *Store) folder(realm string) string { return s.prefix + escape.Replace(realm) + "/" }

func (s *Store) key(realm string, b lease.Block) string { return s.folder(realm) + b.String() }

var (
	escape   = strings.NewReplacer("%", "%25", "/", "%2F")
	unescape = strings.NewReplacer("%25", "%", "%2F", "/")
)

// Time is exact to a second. It fails with [lease.ErrNoTime] if etcd's port for clients does not
// speak HTTP.
func (s *Store) Time(ctx context.Context) (time.Time, error) {
	t, err := connect.Read(ctx, s.clock.now)
	if err != nil && !errors.Is(err, lease.ErrNoTime) {
		err = s.failed("read the time", err)
	}
	return t, err
}

// TimePrecision returns the precision of an HTTP answer's Date.
func (s *Store) TimePrecision() time.Duration { return time.Second }

func (s *Store) String() string { return "etcd at " + s.hosts }

// Close closes the connection. Calls in progress fail.
func (s *Store) Close() error { return s.client.Close() }

func (s *Store) failed(what string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		hint = "; compact and defragment it, then: etcdctl alarm disarm"
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		hint = "; grant it: etcdctl role grant-permission ROLE readwrite --prefix " + s.prefix
	case errors.Is(err, rpctypes.ErrUserEmpty):
		hint = "; put the user and the password in the URL"
	}
	return fmt.Errorf("%v: cannot %s: %w%s", s, what, err, hint)
}
