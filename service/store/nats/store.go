package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/service/internal/kv"
)

// ErrDeleted: a record was deleted by hand. Fence its realm.
var ErrDeleted = errors.New("the record was deleted, and with it the mark of what was granted; fence the realm before anybody else uses it")

// Options are the choices that [New] leaves to the program; the zero Options are those of
// a URL without parameters.
type Options struct {
	Bucket     string // "sortid" if empty
	Replicas   int    // of a bucket that is made now; 1 if 0
	SyncAlways bool   // all servers are known to have sync_interval: always
}

// DefaultBucket is the bucket that is used if none is named.
const DefaultBucket = "sortid"

// A Store is a [lease.Store] in a key-value bucket. It is safe for concurrent use.
type Store struct {
	conn       *nats.Conn
	own        bool // Close closes the connection
	js         jetstream.JetStream
	stream     jetstream.Stream   // the bucket as a stream: for all but List
	bucket     jetstream.KeyValue // for List
	name       string
	conditions []string
}

// Open returns the store at a URL; see the package comment. It makes the bucket if there
// is none, and fails with [lease.ErrUnsafe] if the one that there is could lose records.
// The context bounds this call only.
func Open(ctx context.Context, url string) (*Store, error) {
	target, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("nats: the URL: %w; want nats://user:password@host:4222,host:4222/bucket", err)
	}
	conn, err := target.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("nats at %s: cannot connect: %w", strings.Join(target.hosts, ", "), err)
	}
	s, err := New(ctx, conn, target.options)
	if err != nil {
		conn.Close()
		return nil, err
	}
	s.own = true
	return s, nil
}

// New is Open for a program that has a connection already, which stays open when the
// store is closed. If that connection buffers what is published while it is down (see
// [nats.ReconnectBufSize]), changes can be carried out long after they were given up; that
// is allowed, and of no use.
func New(ctx context.Context, conn *nats.Conn, options Options) (*Store, error) {
	s := &Store{conn: conn, name: options.Bucket}
	if s.name == "" {
		s.name = DefaultBucket
	}
	var err error
	if s.js, err = jetstream.New(conn); err != nil {
		return nil, s.failed("use JetStream", err)
	}
	if s.stream, err = s.open(ctx, options); err != nil {
		return nil, s.failed("open the bucket", err)
	}
	config := s.stream.CachedInfo().Config
	if err := check(config); err != nil {
		return nil, s.failed("use the bucket", err)
	}
	if s.conditions, err = conditions(config.Replicas, options.SyncAlways, conn.ConnectedServerVersion()); err != nil {
		return nil, s.failed("use the server", err)
	}
	if s.bucket, err = s.js.KeyValue(ctx, s.name); err != nil {
		return nil, s.failed("open the bucket", err)
	}
	if _, err := s.Get(ctx, "", lease.Block{}); err != nil { // is it permitted?
		return nil, err
	}
	return s, nil
}

// Conditions says, in sentences for people, on what the guarantee rests that could not be
// verified; nil if there is nothing.
func (s *Store) Conditions() []string { return s.conditions }

// Get returns the record of a block. It fails with [ErrDeleted].
func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	r, _, err := s.get(ctx, realm, b)
	return r, err
}

// get also returns the revision of the record, or 0 if there is none. It asks the
// stream's leader: that is what the client does where direct gets are off, which check
// has seen to, and goes on doing if somebody turns them on.
func (s *Store) get(ctx context.Context, realm string, b lease.Block) (lease.Record, uint64, error) {
	key := key(realm, b)
	msg, err := s.stream.GetLastMsgForSubject(ctx, s.subject(key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return lease.Record{Realm: realm, Block: b}, 0, nil
	}
	if err == nil && (msg.Header.Get("KV-Operation") != "" || msg.Header.Get(jetstream.MarkerReasonHeader) != "") {
		err = ErrDeleted
	}
	if err != nil {
		return lease.Record{}, 0, s.failed("read "+key, err)
	}
	r, err := kv.Decode(msg.Data, realm, b)
	if err != nil {
		return lease.Record{}, 0, s.failed("read "+key, err)
	}
	return r, msg.Sequence, nil
}

// CompareAndSet stores next in the place of prev. It fails with [ErrDeleted].
func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	key := key(prev.Realm, prev.Block)
	value, err := kv.Encode(next)
	if err != nil {
		return false, s.failed("write "+key, err)
	}
	now, revision, err := s.get(ctx, prev.Realm, prev.Block)
	if err != nil || !now.Matches(prev) {
		return false, err
	}
	_, err = s.js.Publish(ctx, s.subject(key), value,
		jetstream.WithExpectLastSequencePerSubject(revision),
		jetstream.WithExpectStream(s.stream.CachedInfo().Config.Name),
		jetstream.WithRetryAttempts(0)) // would be sent twice
	var refused *jetstream.APIError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &refused) && (refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant):
		return false, nil
	}
	return false, s.failed("write "+key, err)
}

// List returns the records of a realm. It fails with [ErrDeleted].
func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	w, err := s.bucket.Watch(ctx, folder(realm)+"*")
	if err != nil {
		return nil, s.failed("list "+folder(realm), err)
	}
	defer w.Stop()
	found := map[lease.Block]lease.Record{} // one that changes meanwhile comes twice
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return nil, s.failed("list "+folder(realm), nats.ErrConnectionClosed)
			case e == nil: // that was all
				records := make([]lease.Record, 0, len(found))
				for _, r := range found {
					records = append(records, r)
				}
				return records, nil
			}
			r, err := decode(e, realm)
			if err != nil {
				return nil, s.failed("read "+e.Key(), err)
			}
			found[r.Block] = r
		case <-ctx.Done():
			return nil, s.failed("list "+folder(realm), context.Cause(ctx))
		}
	}
}

func decode(e jetstream.KeyValueEntry, realm string) (lease.Record, error) {
	if e.Operation() != jetstream.KeyValuePut {
		return lease.Record{}, ErrDeleted
	}
	b, err := lease.ParseBlock(strings.TrimPrefix(e.Key(), folder(realm)))
	if err != nil {
		return lease.Record{}, err
	}
	return kv.Decode(e.Value(), realm, b)
}

func (s *Store) subject(key string) string { return "$KV." + s.name + "." + key }

func key(realm string, b lease.Block) string { return folder(realm) + b.String() }

// folder returns the beginning of the keys of a realm, and of no other.
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

// Time fails with [lease.ErrNoTime].
func (s *Store) Time(context.Context) (time.Time, error) { return time.Time{}, lease.ErrNoTime }

// Close closes the connection, unless it was given to [New].
func (s *Store) Close() error {
	if s.own {
		s.conn.Close()
	}
	return nil
}

// failed words an error of NATS, and says what to do about those that last.
func (s *Store) failed(what string, err error) error {
	hint := ""
	switch last := s.conn.LastError(); {
	case !s.conn.IsConnected():
		hint = "; it is not connected"
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		hint = "; start the server with -js, and enable JetStream for the account"
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		hint = "; the bucket " + s.name + " has no leader at present, or was deleted, or the server has no JetStream (-js)"
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(last, nats.ErrPermissionViolation):
		// A client is told that it must not publish, and not about which request.
		hint = fmt.Sprintf("; perhaps for lack of a permission: %v", last)
	}
	return fmt.Errorf("nats at %s, bucket %s: cannot %s: %w%s", strings.Join(s.conn.Servers(), ", "), s.name, what, err, hint)
}

// target is what a URL says.
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
			return t, errors.New("the parameter replicas is not a number from 1 on")
		}
	}
	switch u.Param("sync") {
	case "":
	case "always":
		t.options.SyncAlways = true
	default:
		return t, errors.New("the parameter sync can only be always")
	}
	t.hosts, t.options.Bucket = u.Hosts, u.Path
	return t, nil
}

// connect waits for one of the hosts as long as ctx allows, and no longer than five
// seconds for each.
func (t target) connect(ctx context.Context) (*nats.Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	timeout := 5 * time.Second
	if end, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(end)/time.Duration(len(t.hosts)))
	}
	return nats.Connect(strings.Join(t.hosts, ","), append(t.nats,
		nats.Name("sortid"),
		nats.Timeout(timeout),
		// It comes back whenever the server does, soon, and finds out soon if that is gone.
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250*time.Millisecond),
		nats.PingInterval(10*time.Second),
		// While it is away, calls fail.
		nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // what fails is returned
	)...)
}
