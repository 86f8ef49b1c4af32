package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/kv"
)

// DefaultPrefix begins the keys if the URL has no prefix.
const DefaultPrefix = "sortid:"

// A Store is a [lease.Store] in Redis. It is safe for concurrent use.
type Store struct {
	*records
	pool       *redis.Pool
	own        bool // whether Close closes the pool
	address    string
	prefix     string
	conditions []string
}

// The version of a record is its value, or "" if there is no record.
type records = kv.Records[string]

// Open opens the store at a URL. See the package comment and [lease.ErrUnsafe].
func Open(ctx context.Context, url string) (*Store, error) {
	target, err := parse(url)
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf(
			"redis: the URL: %w; want redis://user:password@host:6379/0?prefix=NAME", err))
	}
	pool := target.pool()
	s, err := New(ctx, pool, target.address, target.prefix)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.own = true
	return s, nil
}

func parse(url string) (t target, err error) {
	u, err := kv.ParseURL(url, "6379", append([]string{"prefix"}, kv.TLS...)...)
	if err != nil {
		return t, err
	}
	t = target{address: u.Hosts[0], user: u.User, password: u.Password, prefix: u.Param("prefix")}
	if t.tls, err = u.TLS("redis"); err != nil {
		return t, err
	}
	if len(u.Hosts) > 1 {
		return t, errors.New(
			"there are several hosts; leases need one server, because several " +
				"can have different data")
	}
	if u.Path != "" {
		if t.database, err = strconv.Atoi(u.Path); err != nil || t.database < 0 {
			return t, errors.New(
				"the part after the host is not /n, the number of a database")
		}
	}
	return t, nil
}

// New is like Open, for a program that already has a pool. Close does not close this pool. Errors
// contain the address of the server. An empty prefix means [DefaultPrefix]. If the pool has
// a DialContext, calls end with their contexts.
func New(ctx context.Context, pool *redis.Pool, address, prefix string) (*Store, error) {
	s := &Store{pool: pool, address: address, prefix: cmp.Or(prefix, DefaultPrefix)}
	s.records = kv.NewRecords(kv.Server[string]{Read: s.read, Write: s.write, Failed: s.failed,
		Key: func(realm string, _ lease.Block) string { return s.prefix + realm }})
	if _, err := connect.Retry(ctx, address, connect.NoResult(
		func(ctx context.Context) error { return temporary(s.prepare(ctx)) })); err != nil {
		return nil, err
	}
	return s, nil
}

// prepare tries each kind of request, and sends all in one piece.
func (s *Store) prepare(ctx context.Context) error {
	requests := [][]any{
		{"INFO"},
		{"EVAL", readScript, 1, s.prefix, lease.Block{}.String()},
		{"HGETALL", s.prefix},
		{"TIME"},
	}
	doing := []string{"connect", "read", "list", "read the time"}
	n := len(requests)
	for _, w := range wanted {
		requests = append(requests, []any{"CONFIG", "GET", w.name})
	}
	answers, err := connect.Ask(ctx, func(ctx context.Context) ([]any, error) {
		return s.send(ctx, requests)
	})
	if err != nil {
		return s.failed("connect", err)
	}
	info, err := redis.String(answers[0], nil)
	if err != nil {
		return s.failed("connect", err)
	}
	if s.conditions, err = conditions(info, answers[n:]); err != nil {
		return s.failed("be used", err)
	}
	for i, what := range doing {
		if refusal, ok := answers[i].(redis.Error); ok {
			return s.failed(what, refusal)
		}
	}
	return nil
}

// send returns an answer for each request. The answer is a [redis.Error] if the server has refused
// the request.
func (s *Store) send(ctx context.Context, requests [][]any) ([]any, error) {
	conn, err := s.pool.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	for _, r := range requests {
		if err := conn.Send(r[0].(string), r[1:]...); err != nil {
			return nil, err
		}
	}
	return redis.Values(redis.DoContext(conn, ctx, ""))
}

// do sends a request once. After an error that is not from the server, the connection is closed.
func (s *Store) do(ctx context.Context, command string, args ...any) (any, error) {
	conn, err := s.pool.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return redis.DoContext(conn, ctx, command, args...)
}

func (s *Store) eval(ctx context.Context, script, realm string, args []any) (any, error) {
	return s.do(ctx, "EVAL", append([]any{script, 1, s.prefix + realm}, args...)...)
}

func (s *Store) String() string { return "redis at " + s.address }

func (s *Store) Conditions() []string { return s.conditions }

// A replica's answer may be old. So readScript has an HDEL, which a replica refuses. This HDEL
// deletes nothing, because no field has an empty name.
const readScript = `
redis.call('HDEL', KEYS[1], '')
return redis.call('HMGET', KEYS[1], unpack(ARGV))`

// For each field, writeScript has three arguments: the field's name, its old value ("" if the field
// is missing) and its new value. It compares text, because Lua's numbers have only 53 bits.
const writeScript = `
for i = 1, #ARGV, 3 do
	if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i+1] then
		return 0
	end
end
for i = 1, #ARGV, 3 do
	redis.call('HSET', KEYS[1], ARGV[i], ARGV[i+2])
end
return 1`

func (s *Store) read(ctx context.Context, realm string,
	blocks []lease.Block) (values [][]byte, versions []string, err error) {
	fields := make([]any, len(blocks))
	for i, b := range blocks {
		fields[i] = b.String()
	}
	values, err = read(ctx, func(ctx context.Context) ([][]byte, error) {
		return redis.ByteSlices(s.eval(ctx, readScript, realm, fields))
	})
	if err == nil && len(values) != len(blocks) {
		err = fmt.Errorf("%d values instead of %d", len(values), len(blocks))
	}
	if err != nil {
		return nil, nil, s.failed("read", err)
	}
	versions = make([]string, len(values))
	for i, v := range values {
		versions[i] = string(v)
	}
	return values, versions, nil
}

func read[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	return connect.Read(ctx, func(ctx context.Context) (T, error) { return connect.Ask(ctx, f) })
}

func (s *Store) write(ctx context.Context, changes []lease.Change,
	values, was []string) ([]string, error) {
	var args []any
	for i, c := range changes {
		args = append(args, c.Prev.Block.String(), was[i], values[i])
	}
	done, err := connect.Ask(ctx, func(ctx context.Context) (bool, error) {
		return redis.Bool(s.eval(ctx, writeScript, changes[0].Prev.Realm, args))
	})
	if err != nil {
		return nil, s.failed("write", err)
	}
	if !done {
		return nil, nil
	}
	return values, nil
}

func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	values, err := read(ctx, func(ctx context.Context) (map[string]string, error) {
		return redis.StringMap(s.do(ctx, "HGETALL", s.prefix+realm))
	})
	if err != nil {
		return nil, s.failed("list", err)
	}
	records := make([]lease.Record, 0, len(values))
	for field, value := range values {
		r, err := kv.DecodeListed(field, []byte(value), realm)
		if err != nil {
			return nil, s.failed(fmt.Sprintf("list %s%s: field %q", s.prefix, realm, field), err)
		}
		records = append(records, r)
	}
	return records, nil
}

// Realms reads the names of all keys of the database.
func (s *Store) Realms(ctx context.Context) ([]string, error) {
	names, err := read(ctx, s.realms)
	if err != nil {
		return nil, s.failed("list the realms", err)
	}
	return names, nil
}

func (s *Store) realms(ctx context.Context) (names []string, err error) {
	found := map[string]bool{} // a scan can return a key twice
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s.prefix) +
		"*"
	for cursor := "0"; ; {
		answer, err := redis.Values(s.do(ctx, "SCAN", cursor, "MATCH", pattern, "COUNT", 1000,
			"TYPE", "hash"))
		if err != nil {
			return nil, err
		}
		var keys []string
		if _, err := redis.Scan(answer, &cursor, &keys); err != nil {
			return nil, err
		}
		for _, key := range keys {
			if found[key] {
				continue
			}
			found[key] = true
			is, err := redis.Bool(s.do(ctx, "HEXISTS", key, lease.Block{}.String()))
			if err != nil {
				return nil, err
			}
			if is {
				names = append(names, strings.TrimPrefix(key, s.prefix))
			}
		}
		if cursor == "0" {
			return names, nil
		}
	}
}

func (s *Store) Time(ctx context.Context) (time.Time, error) {
	t, err := read(ctx, func(ctx context.Context) ([]int64, error) {
		return redis.Int64s(s.do(ctx, "TIME"))
	})
	if err == nil && len(t) != 2 {
		err = fmt.Errorf("%d numbers instead of 2", len(t))
	}
	if err != nil {
		return time.Time{}, s.failed("read the time", err)
	}
	return time.Unix(t[0], t[1]*1000), nil
}

func (s *Store) Close() error {
	if s.own {
		return s.pool.Close()
	}
	return nil
}

func (s *Store) failed(what string, err error) error {
	hint := ""
	switch {
	case isRefusal(err, "READONLY"):
		hint = "; it is a replica now: connect to the master, and fence the realms if there was " +
			"a failover"
	case isRefusal(err, "OOM"):
		hint = "; raise maxmemory"
	case isRefusal(err, "WRONGTYPE"):
		hint = "; use another prefix for leases"
	case isRefusal(err, "NOPERM"),
		strings.Contains(err.Error(), "The user executing the script"):
		hint = "; permit it: ACL SETUSER name ~" + s.prefix +
			"* +eval +hget +hmget +hset +hdel +hgetall +hexists +scan +time +info +config|get"
	case isRefusal(err, "NOAUTH"):
		hint = "; put the user and the password in the URL"
	}
	return fmt.Errorf("%v: cannot %s: %w%s", s, what, err, hint)
}
