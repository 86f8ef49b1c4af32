package nats

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/kv"
)

// ErrDeleted means that somebody has deleted a record. The package comment says what to do. All
// methods except Time can return it.
var ErrDeleted = errors.New(
	"the record was deleted, so it is unknown which ticks were granted; " +
		"fence the realm before anybody else uses it; " +
		"if this fails, delete the bucket, and fence all its realms")

// Options has the settings that are parameters in a URL.
type Options struct {
	Bucket     string // "sortid" if empty
	Replicas   int    // for a new bucket; 0 means 1
	SyncAlways bool   // all servers have sync_interval: always
}

// DefaultBucket is the bucket if the URL names none.
const DefaultBucket = "sortid"

// A Store is a [lease.Store] in a bucket of NATS JetStream. It is safe for concurrent use.
type Store struct {
	*records
	conn       *nats.Conn
	own        bool
	js         jetstream.JetStream
	stream     jetstream.Stream   // the bucket, for reads and writes of one key
	bucket     jetstream.KeyValue // the bucket, for List and Realms
	name       string
	replicated bool // the bucket has several replicas
	conditions []string
}

// The version of a record is the sequence number of its message, or 0 if there is no record.
type records = kv.Records[uint64]

// Open opens the store at a URL, and makes the bucket if there is none. See the package comment and
// [lease.ErrUnsafe].
func Open(ctx context.Context, url string) (*Store, error) { return openURL(ctx, url, true) }

// OpenExisting is like Open, but fails with [lease.ErrNoRealm] if there is no bucket.
func OpenExisting(ctx context.Context, url string) (*Store, error) {
	return openURL(ctx, url, false)
}

func openURL(ctx context.Context, url string, create bool) (*Store, error) {
	target, err := parse(url)
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf(
			"nats: the URL: %w; want nats://user:password@host:4222,host:4222/bucket", err))
	}
	return connect.Retry(ctx, strings.Join(target.hosts, ", "),
		func(ctx context.Context) (*Store, error) {
			conn, err := target.connect(ctx)
			if err != nil {
				if errors.Is(err, nats.ErrNoServers) {
					err = connect.Temporary(fmt.Errorf("connection refused: %w", err))
				}
				return nil, temporary(fmt.Errorf("nats at %s: cannot connect: %w",
					strings.Join(target.hosts, ", "), err))
			}
			s, err := use(ctx, conn, target.options, create)
			if err != nil {
				conn.Close()
				return nil, temporary(err)
			}
			s.own = true
			return s, nil
		})
}

// temporaryErrors lists errors of a lost connection, or of a server that is starting or has no free
// connection.
var temporaryErrors = []error{
	nats.ErrTimeout, nats.ErrConnectionClosed, nats.ErrConnectionReconnecting, nats.ErrDisconnected,
	nats.ErrStaleConnection,
	nats.ErrReconnectBufExceeded, nats.ErrNoInfoReceived, nats.ErrMaxConnectionsExceeded,
	nats.ErrNoResponders, jetstream.ErrNoStreamResponse,
}

func temporary(err error) error {
	if slices.ContainsFunc(temporaryErrors, func(e error) bool { return errors.Is(err, e) }) {
		return connect.Temporary(err)
	}
	return err
}

// New is like Open, for a program that already has a connection. Close does not close this
// connection. The connection should not buffer messages while the server is unreachable (see
// [nats.ReconnectBufSize]), because buffered changes come too late.
func New(ctx context.Context, conn *nats.Conn, options Options) (*Store, error) {
	return use(ctx, conn, options, true)
}

func use(ctx context.Context, conn *nats.Conn, options Options, create bool) (*Store, error) {
	s := &Store{conn: conn, name: cmp.Or(options.Bucket, DefaultBucket)}
	s.records = kv.NewRecords(kv.Server[uint64]{Read: s.read, Write: s.write, One: true,
		Failed: s.failed, Key: key})
	var err error
	if s.js, err = jetstream.New(conn); err != nil {
		return nil, s.failed("use JetStream", err)
	}
	if s.stream, err = s.open(ctx, options, create); err != nil {
		return nil, s.failed("open the bucket", err)
	}
	config := s.stream.CachedInfo().Config
	if err := check(config); err != nil {
		return nil, s.failed("use the bucket", err)
	}
	s.replicated = config.Replicas > 1
	if s.conditions, err = conditions(config.Replicas, options.SyncAlways,
		conn.ConnectedServerVersion()); err != nil {
		return nil, s.failed("use the server", err)
	}
	s.bucket, err = ask(ctx, s, func(ctx context.Context) (jetstream.KeyValue, error) {
		for {
			bucket, err := s.js.KeyValue(ctx, s.name)
			// A server of a cluster may not know a new bucket yet.
			if !errors.Is(err, jetstream.ErrBucketNotFound) {
				return bucket, err
			}
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				return nil, err
			}
		}
	})
	if err != nil {
		return nil, s.failed("open the bucket", err)
	}
	if _, err := s.Get(ctx, "", lease.Block{}); err != nil { // checks the permission
		return nil, err
	}
	return s, nil
}

func (s *Store) String() string {
	return fmt.Sprintf("nats at %s, bucket %s", strings.Join(s.conn.Servers(), ", "), s.name)
}

func (s *Store) Conditions() []string { return s.conditions }

// read reads one record after the other. It asks only the stream's leader, because other servers,
// which answer direct gets, can have old records.
func (s *Store) read(ctx context.Context, realm string,
	blocks []lease.Block) (values [][]byte, revisions []uint64, err error) {
	values, revisions = make([][]byte, len(blocks)), make([]uint64, len(blocks))
	for i, b := range blocks {
		key := key(realm, b)
		msg, err := s.last(ctx, key)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err == nil && (msg.Header.Get("KV-Operation") != "" ||
			msg.Header.Get(jetstream.MarkerReasonHeader) != "") {
			err = ErrDeleted
		}
		if err != nil {
			return nil, nil, s.failed("read "+key, err)
		}
		// An empty value must not be nil.
		values[i], revisions[i] = append([]byte{}, msg.Data...), msg.Sequence
	}
	return values, revisions, nil
}

// write gets only one change.
func (s *Store) write(ctx context.Context, changes []lease.Change, values []string,
	was []uint64) ([]uint64, error) {
	key := key(changes[0].Prev.Realm, changes[0].Prev.Block)
	seq, err := s.replace(ctx, key, values[0], was[0], rand.Text())
	switch {
	case err != nil:
		return nil, s.failed("write "+key, err)
	case seq == 0:
		return nil, nil
	}
	return []uint64{seq}, nil
}

// replace returns the sequence number of the new message, or 0 if the key's message is not the one
// with the number was.
//
// With replicas, two servers can believe that they are the leader, and get the same message. One
// may accept it, while the other one refuses it. So a refusal is final only if the server has a
// later message. Otherwise, replace sends the message again. Because of its ID, it is stored once,
// and a server that has stored it confirms it again.
func (s *Store) replace(ctx context.Context, key, value string, was uint64, id string) (uint64,
	error) {
	options := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(was)}
	if s.replicated {
		options = append(options, jetstream.WithMsgID(id))
	}
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		ack, err := s.publish(ctx, key, []byte(value), options...)
		if err == nil {
			return ack.Sequence, nil
		}
		var refused *jetstream.APIError
		if !errors.As(err, &refused) || !slices.Contains(refusals, refused.ErrorCode) {
			return 0, err
		}
		var now uint64
		fmt.Sscanf(refused.Description, "wrong last sequence: %d", &now) // may have no number
		if now > was || !s.replicated {
			return 0, nil
		}
		if wait > time.Second {
			return 0, err
		}
		if connect.Sleep(ctx, wait) != nil {
			return 0, err
		}
	}
}

var refusals = []jetstream.ErrorCode{
	jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant,
	10158, // a message with this ID is on its way
}

func (s *Store) publish(ctx context.Context, key string, value []byte,
	options ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	return ask(ctx, s, func(ctx context.Context) (*jetstream.PubAck, error) {
		return s.js.Publish(ctx, s.subject(key), value, append(options,
			jetstream.WithExpectStream(s.stream.CachedInfo().Config.Name),
			jetstream.WithRetryAttempts(0))...)
	})
}

func (s *Store) last(ctx context.Context, key string) (*jetstream.RawStreamMsg, error) {
	return connect.Read(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return ask(ctx, s, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
			return s.stream.GetLastMsgForSubject(ctx, s.subject(key))
		})
	})
}

// ask sends a request once. If no answer comes, ask reconnects, because the client notices a dead
// connection only after half a minute. But if the user lacks a permission, no answer can come, so
// ask does not reconnect.
func ask[T any](ctx context.Context, s *Store, f func(context.Context) (T, error)) (T, error) {
	result, err := connect.Ask(ctx, f)
	if s.own && errors.Is(err, context.DeadlineExceeded) && !errors.Is(s.conn.LastError(),
		nats.ErrPermissionViolation) {
		s.conn.ForceReconnect()
	}
	return result, err
}

func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	found := map[lease.Block]lease.Record{} // if a record changes during the call, it comes twice
	err := s.forEach(ctx, folder(realm)+"*", func(key string, value []byte) error {
		r, err := kv.DecodeListed(strings.TrimPrefix(key, folder(realm)), value, realm)
		found[r.Block] = r
		return err
	})
	return slices.Collect(maps.Values(found)), err
}

func (s *Store) Realms(ctx context.Context) ([]string, error) {
	found := map[string]bool{}
	err := s.forEach(ctx, "*."+lease.Block{}.String(), func(_ string, value []byte) error {
		var r lease.Record
		err := json.Unmarshal(value, &r)
		found[r.Realm] = true
		return err
	})
	return slices.Collect(maps.Keys(found)), err
}

// forEach calls f with the records whose keys match the pattern. If not all records come in time,
// forEach asks for them again, and f gets all records again.
func (s *Store) forEach(ctx context.Context, pattern string,
	f func(key string, value []byte) error) error {
	_, err := connect.Read(ctx, func(ctx context.Context) (struct{}, error) {
		return ask(ctx, s, connect.NoResult(func(ctx context.Context) error {
			return s.watch(ctx, pattern, f)
		}))
	})
	if err != nil {
		return s.failed("list "+pattern, err)
	}
	return nil
}

func (s *Store) watch(ctx context.Context, pattern string,
	f func(key string, value []byte) error) error {
	w, err := s.bucket.Watch(ctx, pattern)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return nats.ErrConnectionClosed
			case e == nil:
				return nil
			case e.Operation() != jetstream.KeyValuePut:
				err = ErrDeleted
			default:
				err = f(e.Key(), e.Value())
			}
			if err != nil {
				return fmt.Errorf("%s: %w", e.Key(), err)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *Store) subject(key string) string { return "$KV." + s.name + "." + key }

func key(realm string, b lease.Block) string { return folder(realm) + b.String() }

func folder(realm string) string {
	if realm == "" {
		return "=."
	}
	var key strings.Builder
	for _, c := range []byte(realm) {
		switch {
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', c == '-', c == '_':
			key.WriteByte(c)
		default:
			fmt.Fprintf(&key, "=%02X", c)
		}
	}
	return key.String() + "."
}

const timeKey = "=time"

func (s *Store) Time(ctx context.Context) (time.Time, error) {
	msg, err := connect.Read(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		if _, err := s.publish(ctx, timeKey, nil); err != nil {
			return nil, err
		}
		// If another process has published a later message, its time is right, too.
		return s.last(ctx, timeKey)
	})
	if err != nil {
		return time.Time{}, s.failed("read the time", err)
	}
	return msg.Time, nil
}

func (s *Store) Close() error {
	if s.own {
		s.conn.Close()
	}
	return nil
}

func (s *Store) failed(what string, err error) error {
	hint := ""
	switch last := s.conn.LastError(); {
	case !s.conn.IsConnected():
		hint = "; it is not connected"
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled),
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		hint = "; start the server with -js, and enable JetStream for the account"
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		hint = "; the bucket " + s.name +
			" has no leader at present, or was deleted, or the server has no JetStream (-js)"
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(last, nats.ErrPermissionViolation):
		// The server does not say which request it refused.
		hint = fmt.Sprintf("; perhaps a permission is missing: %v", last)
	}
	err = fmt.Errorf("%v: cannot %s: %w%s", s, what, err, hint)
	if hint != "" {
		return connect.Reason(err)
	}
	return err
}

type target struct {
	hosts   []string
	nats    []nats.Option
	options Options
}

func parse(url string) (t target, err error) {
	u, err := kv.ParseURL(url, "4222", append([]string{"replicas", "sync", "creds"}, kv.TLS...)...)
	if err != nil {
		return t, err
	}
	config, err := u.TLS("nats")
	if err != nil {
		return t, err
	}
	if config != nil {
		t.nats = append(t.nats, nats.Secure(config))
	}
	switch {
	case u.Password != "":
		t.nats = append(t.nats, nats.UserInfo(u.User, u.Password))
	case u.User != "":
		t.nats = append(t.nats, nats.Token(u.User))
	}
	if file := u.Param("creds"); file != "" {
		t.nats = append(t.nats, nats.UserCredentials(file))
	}
	if n := u.Param("replicas"); n != "" {
		if t.options.Replicas, err = strconv.Atoi(n); err != nil || t.options.Replicas < 1 {
			return t, errors.New("the parameter replicas must be a number, 1 or larger")
		}
	}
	switch u.Param("sync") {
	case "":
	case "always":
		t.options.SyncAlways = true
	default:
		return t, errors.New("the parameter sync can have only the value always")
	}
	t.hosts, t.options.Bucket = u.Hosts, u.Path
	return t, nil
}

// connect waits until a host accepts the connection, at most two seconds for each host.
func (t target) connect(ctx context.Context) (*nats.Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	timeout := 2 * time.Second
	if end, ok := ctx.Deadline(); ok {
		// The time left can be negative, because ctx ends a moment after its deadline.
		each := max(time.Until(end)/time.Duration(len(t.hosts)), time.Millisecond)
		timeout = min(timeout, each)
	}
	return nats.Connect(strings.Join(t.hosts, ","), append(t.nats,
		nats.Name("sortid"),
		nats.Timeout(timeout),
		// Reconnect soon after the server returns, and soon notice if it is unreachable.
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250*time.Millisecond),
		nats.PingInterval(10*time.Second),
		nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // do not print errors
	)...)
}
