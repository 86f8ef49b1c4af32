package nats

import (
	"context"
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
	seen       kv.Seen[uint64]
}

// Open returns the store at a URL; see the package comment. It makes the bucket if there
// is none, and fails with [lease.ErrUnsafe] if the one that there is could lose records.
// The context bounds this call only.
func Open(ctx context.Context, url string) (*Store, error) {
	target, err := parse(url)
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf("nats: the URL: %w; want nats://user:password@host:4222,host:4222/bucket", err))
	}
	return connect.Retry(ctx, strings.Join(target.hosts, ", "), func(ctx context.Context) (*Store, error) {
		conn, err := target.connect(ctx)
		if err != nil {
			if errors.Is(err, nats.ErrNoServers) {
				err = connect.Temporary(fmt.Errorf("connection refused: %w", err))
			}
			return nil, temporary(fmt.Errorf("nats at %s: cannot connect: %w", strings.Join(target.hosts, ", "), err))
		}
		s, err := New(ctx, conn, target.options)
		if err != nil {
			conn.Close()
			return nil, temporary(err)
		}
		s.own = true
		return s, nil
	})
}

// temporary marks what may be gone at the next attempt: a server, or its JetStream, that
// starts, or that has no connection to spare.
func temporary(err error) error {
	for _, e := range []error{nats.ErrTimeout, nats.ErrConnectionClosed, nats.ErrMaxConnectionsExceeded, nats.ErrNoResponders, jetstream.ErrNoStreamResponse} {
		if errors.Is(err, e) {
			return connect.Temporary(err)
		}
	}
	return err
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

// String says which store it is, for people.
func (s *Store) String() string {
	return fmt.Sprintf("nats at %s, bucket %s", strings.Join(s.conn.Servers(), ", "), s.name)
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
		r := lease.Record{Realm: realm, Block: b}
		s.seen.Put(r, 0)
		return r, 0, nil
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
	s.seen.Put(r, msg.Sequence)
	return r, msg.Sequence, nil
}

// GetMany returns the records of blocks, one after the other. It fails with [ErrDeleted].
func (s *Store) GetMany(ctx context.Context, realm string, blocks []lease.Block) ([]lease.Record, error) {
	records := make([]lease.Record, len(blocks))
	for i, b := range blocks {
		var err error
		if records[i], err = s.Get(ctx, realm, b); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// CompareAndSetMany makes changes one after the other, up to the first that is refused. It
// fails with [ErrDeleted].
func (s *Store) CompareAndSetMany(ctx context.Context, changes []lease.Change) (bool, error) {
	for _, c := range changes {
		if ok, err := s.CompareAndSet(ctx, c.Prev, c.Next); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// CompareAndSet stores next in the place of prev. It fails with [ErrDeleted].
func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	key := key(prev.Realm, prev.Block)
	value, err := kv.Encode(next)
	if err != nil {
		return false, s.failed("write "+key, err)
	}
	if seen, ok := s.seen.Versions([]lease.Change{{Prev: prev, Next: next}}); ok {
		if done, err := s.put(ctx, key, next, value, seen[0]); done || err != nil {
			return done, err
		}
	}
	now, revision, err := s.get(ctx, prev.Realm, prev.Block)
	if err != nil || !now.Matches(prev) {
		return false, err
	}
	return s.put(ctx, key, next, value, revision)
}

// put stores next if its key still has the revision.
func (s *Store) put(ctx context.Context, key string, next lease.Record, value []byte, revision uint64) (bool, error) {
	ack, err := s.js.Publish(ctx, s.subject(key), value,
		jetstream.WithExpectLastSequencePerSubject(revision),
		jetstream.WithExpectStream(s.stream.CachedInfo().Config.Name),
		jetstream.WithRetryAttempts(0)) // would be sent twice
	var refused *jetstream.APIError
	switch {
	case err == nil:
		s.seen.Put(next, ack.Sequence)
		return true, nil
	case errors.As(err, &refused) && (refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant):
		return false, nil
	}
	return false, s.failed("write "+key, err)
}

// List returns the records of a realm. It fails with [ErrDeleted].
func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	found := map[lease.Block]lease.Record{} // one that changes meanwhile comes twice
	err := s.each(ctx, folder(realm)+"*", func(e jetstream.KeyValueEntry) error {
		r, err := decode(e, realm)
		found[r.Block] = r
		return err
	})
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Values(found)), nil
}

// Realms returns the names of the realms. It fails with [ErrDeleted].
func (s *Store) Realms(ctx context.Context) ([]string, error) {
	found := map[string]bool{}
	err := s.each(ctx, "*."+lease.Block{}.String(), func(e jetstream.KeyValueEntry) error {
		var r lease.Record
		if e.Operation() != jetstream.KeyValuePut {
			return ErrDeleted
		}
		if err := json.Unmarshal(e.Value(), &r); err != nil {
			return err
		}
		found[r.Realm] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(found)), nil
}

// each calls f with the entries whose keys match.
func (s *Store) each(ctx context.Context, keys string, f func(jetstream.KeyValueEntry) error) error {
	w, err := s.bucket.Watch(ctx, keys)
	if err != nil {
		return s.failed("list "+keys, err)
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return s.failed("list "+keys, nats.ErrConnectionClosed)
			case e == nil: // that was all
				return nil
			}
			if err := f(e); err != nil {
				return s.failed("read "+e.Key(), err)
			}
		case <-ctx.Done():
			return s.failed("list "+keys, context.Cause(ctx))
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

// timeKey is the key of a message that is written only for JetStream to say when.
const timeKey = "=time"

// Time returns the time of the clock of the server that leads the bucket's stream.
func (s *Store) Time(ctx context.Context) (time.Time, error) {
	_, err := s.js.Publish(ctx, s.subject(timeKey), nil,
		jetstream.WithExpectStream(s.stream.CachedInfo().Config.Name), jetstream.WithRetryAttempts(0))
	if err != nil {
		return time.Time{}, s.failed("read the time", err)
	}
	// This may be the message of another process, which is then a later one.
	msg, err := s.stream.GetLastMsgForSubject(ctx, s.subject(timeKey))
	if err != nil {
		return time.Time{}, s.failed("read the time", err)
	}
	return msg.Time, nil
}

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
	err = fmt.Errorf("%v: cannot %s: %w%s", s, what, err, hint)
	if hint != "" {
		return connect.Reason(err)
	}
	return err
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
