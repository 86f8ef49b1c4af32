package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/service/internal/kv"
)

// DefaultPrefix is where all keys begin, unless the URL or the program says otherwise.
const DefaultPrefix = "sortid:"

// A Store is a [lease.Store] in Redis. It is safe for concurrent use.
type Store struct {
	client     *redis.Client
	own        bool // Close closes the client
	prefix     string
	conditions []string
}

// Open returns the store at a URL; see the package comment. It fails with
// [lease.ErrUnsafe] if the server's settings let it forget, as far as they are not
// left to [Store.Conditions]. The context bounds this call only.
func Open(ctx context.Context, url string) (*Store, error) {
	options, prefix, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("redis: the URL: %w; want redis://user:password@host:6379/0?prefix=NAME", err)
	}
	client := redis.NewClient(options)
	s, err := New(ctx, client, prefix)
	if err != nil {
		client.Close()
		return nil, err
	}
	s.own = true
	return s, nil
}

func parse(url string) (options *redis.Options, prefix string, err error) {
	u, err := kv.ParseURL(url, "6379", append([]string{"prefix"}, kv.TLS...)...)
	if err != nil {
		return nil, "", err
	}
	options = &redis.Options{
		Addr: u.Hosts[0], Username: u.User, Password: u.Password,
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
	}
	config, err := u.TLS("redis")
	if err != nil {
		return nil, "", err
	}
	if config != nil {
		options.Dialer = (&tls.Dialer{Config: config}).DialContext // the client's own heeds no context
	}
	if len(u.Hosts) > 1 {
		return nil, "", errors.New("there are several hosts; leases need one server, for what several hold can differ")
	}
	if u.Path != "" {
		if options.DB, err = strconv.Atoi(u.Path); err != nil || options.DB < 0 {
			return nil, "", errors.New("what follows the host is not /n, the number of a database")
		}
	}
	return options, u.Param("prefix"), nil
}

// New is Open for a program that has a client already, which stays open when the store is
// closed. The prefix is [DefaultPrefix] if it is empty. The client must have been made
// with MaxRetries: -1, or New fails: a change that is sent twice could be reported as
// refused though it was carried out. With ContextTimeoutEnabled calls end with their
// contexts, and not only after its own timeouts.
func New(ctx context.Context, client *redis.Client, prefix string) (*Store, error) {
	s := &Store{client: client, prefix: prefix}
	if prefix == "" {
		s.prefix = DefaultPrefix
	}
	if client.Options().MaxRetries > 0 {
		return nil, s.failed("be used", errors.New("the client repeats requests; make it with MaxRetries: -1"))
	}
	var err error
	if s.conditions, err = inspect(ctx, client); err != nil {
		return nil, s.failed("be used", err)
	}
	// So that what is not permitted is found out now.
	if _, err := s.Get(ctx, "", lease.Block{}); err != nil {
		return nil, err
	}
	if _, err := s.List(ctx, ""); err != nil {
		return nil, err
	}
	if _, err := s.Time(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Conditions says, in sentences for people, on what the guarantee of this server rests
// that its settings leave open or do not show; nil if there is nothing.
func (s *Store) Conditions() []string { return s.conditions }

// There is no field without a name, so that nothing is deleted. But a replica refuses a
// script that would delete, and it is a replica whose answer may be old.
const get = `
redis.call('HDEL', KEYS[1], '')
return redis.call('HGET', KEYS[1], ARGV[1])`

// Values are compared as text. Lua's numbers have 53 bits only.
const set = `
local is = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if is ~= ARGV[2] then
	return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1`

// Get returns the record of a block.
func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	r, _, err := s.get(ctx, realm, b)
	return r, err
}

// get also returns the value of the record, or "" if there is none.
func (s *Store) get(ctx context.Context, realm string, b lease.Block) (lease.Record, string, error) {
	value, err := s.client.Eval(ctx, get, []string{s.prefix + realm}, b.String()).Text()
	if errors.Is(err, redis.Nil) {
		return lease.Record{Realm: realm, Block: b}, "", nil
	}
	if err != nil {
		return lease.Record{}, "", s.failed("read", err)
	}
	r, err := kv.Decode([]byte(value), realm, b)
	if err != nil {
		return lease.Record{}, "", s.failed("read "+s.prefix+realm, err)
	}
	return r, value, nil
}

// CompareAndSet stores next in the place of prev.
func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	value, err := kv.Encode(next)
	if err != nil {
		return false, s.failed("write", err)
	}
	now, was, err := s.get(ctx, prev.Realm, prev.Block)
	if err != nil || !now.Matches(prev) {
		return false, err
	}
	done, err := s.client.Eval(ctx, set, []string{s.prefix + prev.Realm}, prev.Block.String(), was, string(value)).Bool()
	if err != nil {
		return false, s.failed("write", err)
	}
	return done, nil
}

// List returns the records of a realm.
func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	values, err := s.client.HGetAll(ctx, s.prefix+realm).Result()
	if err != nil {
		return nil, s.failed("list", err)
	}
	records := make([]lease.Record, 0, len(values))
	for field, value := range values {
		b, err := lease.ParseBlock(field)
		if err != nil {
			return nil, s.failed("list "+s.prefix+realm, fmt.Errorf("the field %q is not that of a record: %w", field, err))
		}
		r, err := kv.Decode([]byte(value), realm, b)
		if err != nil {
			return nil, s.failed("read "+s.prefix+realm, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// Time returns the time of the server's clock.
func (s *Store) Time(ctx context.Context) (time.Time, error) {
	t, err := s.client.Time(ctx).Result()
	if err != nil {
		return time.Time{}, s.failed("read the time", err)
	}
	return t, nil
}

// Close closes the connections, unless the client was given to [New].
func (s *Store) Close() error {
	if s.own {
		return s.client.Close()
	}
	return nil
}

// failed words an error of Redis, and says what to do about those that last.
func (s *Store) failed(what string, err error) error {
	hint := ""
	switch {
	case redis.HasErrorPrefix(err, "READONLY"):
		hint = "; it is a replica now: connect to the master, and fence the realms if that has taken over"
	case redis.HasErrorPrefix(err, "OOM"):
		hint = "; raise maxmemory"
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		hint = "; give leases a prefix of their own"
	case redis.HasErrorPrefix(err, "NOPERM"), strings.Contains(err.Error(), "The user executing the script"):
		hint = "; permit it: ACL SETUSER name ~" + s.prefix + "* +eval +hget +hset +hdel +hgetall +time +info +config|get"
	case redis.HasErrorPrefix(err, "NOAUTH"):
		hint = "; name user and password in the URL"
	}
	return fmt.Errorf("redis at %s: cannot %s: %w%s", s.client.Options().Addr, what, err, hint)
}
