package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/kv"
)

const DefaultPrefix = "sortid:"

type Store struct {
	*records
	client     *redis.Client
	own        bool // whether Close closes the client
	prefix     string
	conditions []string
}

// The version of a record is its value, or "" if there is no record.
type records = kv.Records[string]

// Open opens the store at a URL. See the package comment and [lease.ErrUnsafe].
func Open(ctx context.Context, url string) (*Store, error) {
	options, prefix, err := parse(url)
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf(
			"redis: the URL: %w; want redis://user:password@host:6379/0?prefix=NAME", err))
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
		ConnMaxIdleTime: idleTime, DisableIdentity: true,
		// The contexts limit the time of all requests.
		DialTimeout: dialTime, ReadTimeout: -1, WriteTimeout: -1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	config, err := u.TLS("redis")
	if err != nil {
		return nil, "", err
	}
	options.Dialer = dialer(config)
	if len(u.Hosts) > 1 {
		return nil, "", errors.New(
			"there are several hosts; leases need one server, because several " +
				"can have different data")
	}
	if u.Path != "" {
		if options.DB, err = strconv.Atoi(u.Path); err != nil || options.DB < 0 {
			return nil, "", errors.New(
				"the part after the host is not /n, the number of a database")
		}
	}
	return options, u.Param("prefix"), nil
}

// New is like Open, for a program that already has a client. Close does not close this client. An
// empty prefix means [DefaultPrefix]. The client must have MaxRetries: -1. Otherwise it may repeat
// a change that was made, and report that the change was refused. If the client has
// ContextTimeoutEnabled, calls end with their contexts.
func New(ctx context.Context, client *redis.Client, prefix string) (*Store, error) {
	s := &Store{client: client, prefix: cmp.Or(prefix, DefaultPrefix)}
	s.records = kv.NewRecords(kv.Server[string]{Read: s.read, Write: s.write, Failed: s.failed,
		Key: func(realm string, _ lease.Block) string { return s.prefix + realm }})
	if client.Options().MaxRetries > 0 {
		return nil, s.failed("be used",
			errors.New("the client repeats requests; make it with MaxRetries: -1"))
	}
	if _, err := connect.Retry(ctx, client.Options().Addr, connect.NoResult(
		func(ctx context.Context) error { return temporary(s.prepare(ctx)) })); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	conn := s.client.Conn() // the client itself would open another connection for pipelines
	defer conn.Close()
	pipe := conn.Pipeline()
	settings := ask(ctx, pipe)
	record := pipe.Eval(ctx, readScript, []string{s.prefix}, lease.Block{}.String())
	list, now := pipe.HGetAll(ctx, s.prefix), pipe.Time(ctx)
	_, err := connect.Ask(ctx, pipe.Exec)
	// If the server has answered INFO, each command has its own error.
	if err != nil && settings.info.Val() == "" {
		return s.failed("connect", err)
	}
	if s.conditions, err = settings.conditions(); err != nil {
		return s.failed("be used", err)
	}
	for _, c := range []struct {
		what string
		err  error
	}{{"read", record.Err()}, {"list", list.Err()}, {"read the time", now.Err()}} {
		if c.err != nil && !errors.Is(c.err, redis.Nil) {
			return s.failed(c.what, c.err)
		}
	}
	return nil
}

func (s *Store) String() string { return "redis at " + s.client.Options().Addr }

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
	found, err := read(ctx, func(ctx context.Context) ([]any, error) {
		return s.client.Eval(ctx, readScript, []string{s.prefix + realm}, fields...).Slice()
	})
	if err == nil && len(found) != len(blocks) {
		err = fmt.Errorf("%d values instead of %d", len(found), len(blocks))
	}
	if err != nil {
		return nil, nil, s.failed("read", err)
	}
	values, versions = make([][]byte, len(blocks)), make([]string, len(blocks))
	for i := range found {
		if found[i] != nil {
			versions[i], _ = found[i].(string)
			values[i] = []byte(versions[i])
		}
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
		return s.client.Eval(ctx, writeScript, []string{s.prefix + changes[0].Prev.Realm},
			args...).Bool()
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
		return s.client.HGetAll(ctx, s.prefix+realm).Result()
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
	scan := s.client.ScanType(ctx, 0, pattern, 1000, "hash").Iterator()
	for scan.Next(ctx) {
		realm := strings.TrimPrefix(scan.Val(), s.prefix)
		if found[realm] {
			continue
		}
		found[realm] = true
		is, err := s.client.HExists(ctx, s.prefix+realm, lease.Block{}.String()).Result()
		if err != nil {
			return nil, err
		}
		if is {
			names = append(names, realm)
		}
	}
	return names, scan.Err()
}

func (s *Store) Time(ctx context.Context) (time.Time, error) {
	t, err := read(ctx, func(ctx context.Context) (time.Time, error) {
		return s.client.Time(ctx).Result()
	})
	if err != nil {
		return time.Time{}, s.failed("read the time", err)
	}
	return t, nil
}

func (s *Store) Close() error {
	if s.own {
		return s.client.Close()
	}
	return nil
}

func (s *Store) failed(what string, err error) error {
	hint := ""
	switch {
	case redis.HasErrorPrefix(err, "READONLY"):
		hint = "; it is a replica now: connect to the master, and fence the realms if there was " +
			"a failover"
	case redis.HasErrorPrefix(err, "OOM"):
		hint = "; raise maxmemory"
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		hint = "; use another prefix for leases"
	case redis.HasErrorPrefix(err, "NOPERM"),
		strings.Contains(err.Error(), "The user executing the script"):
		hint = "; permit it: ACL SETUSER name ~" + s.prefix +
			"* +eval +hget +hmget +hset +hdel +hgetall +hexists +scan +time +info +config|get"
	case redis.HasErrorPrefix(err, "NOAUTH"):
		hint = "; put the user and the password in the URL"
	}
	return fmt.Errorf("%v: cannot %s: %w%s", s, what, err, hint)
}
