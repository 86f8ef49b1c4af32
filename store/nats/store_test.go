package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
)

var (
	block          = faulttest.Block
	none, one, two = faulttest.Record(0), faulttest.Record(1), faulttest.Record(2)
)

func open(t *testing.T, url string) *Store {
	t.Helper()
	return faulttest.Open(t, Open, url)
}

func client(t *testing.T, url string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	conn, err := nats.Connect(url, nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return conn, js
}

func TestStore(t *testing.T) { faulttest.Store(t, Open, testserver.NATS) }

func TestFaults(t *testing.T) { faulttest.Faults(t, Open, testserver.StartNATS(t), false) }

// While the connection is down, calls fail at once, and nothing is sent later.
func TestDisconnected(t *testing.T) {
	server := testserver.StartNATS(t)
	s := open(t, server.URL)
	server.Stop()
	faulttest.Eventually(t, func() bool { return !s.conn.IsConnected() },
		func() string { return "still connected to a server that is gone" })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r, err := s.Get(ctx, "realm", block); err == nil || ctx.Err() != nil ||
		!strings.Contains(err.Error(), "not connected") {
		t.Errorf("Get: %+v, %v", r, err)
	}
}

// With replicas the guarantee is conditional, and one server may be down.
func TestReplicas(t *testing.T) {
	servers, _ := testserver.StartNATSCluster(t)
	url := faulttest.ClusterURL(servers)
	var err error
	faulttest.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var s *Store
		if s, err = Open(ctx, url+"/first?replicas=3"); err == nil {
			s.Close()
		}
		return err == nil
	}, func() string { return err.Error() })
	n := 0
	faulttest.Store(t, Open, func(testing.TB) string {
		n++
		return fmt.Sprintf("%s/n%d?replicas=3", url, n)
	})
	s := open(t, url+"/first")
	faulttest.Conditions(t, s, "sync_interval", "3 replicas")
	_, js := client(t, url)
	faulttest.Cluster(t, s, servers[:1], func(int, lease.Record) { current(t, js) })
}

// With replicas, a message can be sent twice, and a server can refuse it because it lacks others.
func TestReplace(t *testing.T) {
	s := open(t, testserver.NATS(t))
	s.replicated = true
	first, err := s.replace(t.Context(), "realm.x", "one", 0, "first")
	if err != nil || first == 0 {
		t.Fatal(first, err)
	}
	const later = 1 << 40 // than the server's message
	for _, c := range []struct {
		name, id  string
		was, want uint64
		fail      bool
	}{
		{"again", "first", 0, first, false},
		{"by another client", "other", 0, 0, false},
		{"by an old server", "third", later, 0, true},
	} {
		got, err := s.replace(t.Context(), "realm.x", "one", c.was, c.id)
		if got != c.want || (err != nil) != c.fail {
			t.Errorf("%s: %d, %v, want %d", c.name, got, err, c.want)
		}
	}
}

func current(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	var err error
	faulttest.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var stream jetstream.Stream
		stream, err = js.Stream(ctx, "KV_first")
		ok := err == nil && stream.CachedInfo().Cluster != nil &&
			len(stream.CachedInfo().Cluster.Replicas) == 2
		if ok {
			for _, r := range stream.CachedInfo().Cluster.Replicas {
				ok = ok && r.Current && !r.Offline
			}
		}
		return ok
	}, func() string { return fmt.Sprintf("the replicas are not up to date: %v", err) })
}

// The bucket that Open makes loses nothing, and other clients can read it.
func TestBucket(t *testing.T) {
	url := testserver.NATS(t)
	s := open(t, url)
	faulttest.Change(t, s, lease.Record{Realm: "a b"}, lease.Record{Realm: "a b", Revision: 1})
	_, js := client(t, url)
	name := url[strings.LastIndexByte(url, '/')+1:]
	bucket, err := js.KeyValue(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	e, err := bucket.Get(t.Context(), "a=20b.0/0")
	if err != nil || !strings.HasPrefix(string(e.Value()),
		`{"realm":"a b","block":"0/0","revision":"1",`) {
		t.Errorf("%v, %v", e, err)
	}
	if err := bucket.Purge(t.Context(), "a=20b.0/0"); err == nil {
		t.Error("a record can be purged")
	}
	stream, err := js.Stream(t.Context(), "KV_"+name)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context()); err == nil {
		t.Error("all records can be purged")
	}
	if err := stream.DeleteMsg(t.Context(), e.Revision()); err == nil {
		t.Error("a record can be deleted")
	}
	if s.stream.CachedInfo().Config.AllowDirect {
		t.Error("direct gets are on")
	}
}

// Open refuses only buckets that could lose records or show old ones.
func TestUnsafe(t *testing.T) {
	server := testserver.StartNATS(t)
	_, js := client(t, server.URL)
	good := func(name string) jetstream.StreamConfig {
		return jetstream.StreamConfig{Name: "KV_" + name, Subjects: []string{"$KV." + name + ".>"},
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew}
	}
	for i, c := range []struct {
		change func(*jetstream.StreamConfig)
		want   string
	}{
		{func(c *jetstream.StreamConfig) {}, ""},
		{func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 10 }, ""},
		{func(c *jetstream.StreamConfig) { c.MaxBytes, c.MaxMsgs = 1<<20, 1000 }, ""},
		{func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld }, ""},
		{func(c *jetstream.StreamConfig) { c.Discard, c.MaxBytes = jetstream.DiscardOld, 1<<20 },
			"--discard new"},
		{func(c *jetstream.StreamConfig) { c.Discard, c.MaxMsgs = jetstream.DiscardOld, 1000 },
			"--discard new"},
		{func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, "memory"},
		{func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }, "--max-age"},
		{func(c *jetstream.StreamConfig) { c.AllowDirect = true }, "--no-allow-direct"},
		{func(c *jetstream.StreamConfig) { c.NoAck = true }, "acknowledge"},
		{func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, "retention"},
		{func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }, "retention"},
		{func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "other") }, "subjects"},
		{func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "KV_b0"}} },
			"other streams"},
		{func(c *jetstream.StreamConfig) {
			c.Mirror, c.Subjects = &jetstream.StreamSource{Name: "KV_b0"}, nil
		}, "other streams"},
	} {
		name := fmt.Sprint("b", i)
		config := good(name)
		c.change(&config)
		if _, err := js.CreateStream(t.Context(), config); err != nil {
			t.Fatalf("%+v: %v", config, err)
		}
		if c.want == "" {
			open(t, server.URL+"/"+name)
		} else {
			faulttest.Unsafe(t, Open, server.URL+"/"+name, c.want)
		}
	}
	// The installed server may be too old for this setting.
	async := good("x")
	async.PersistMode = jetstream.AsyncPersistMode
	if err := check(async); !errors.Is(err, lease.ErrUnsafe) {
		t.Errorf("asynchronous: %v", err)
	}
	forgets := good("x") // one server makes no replicas
	forgets.Replicas, forgets.Duplicates = 3, 9*time.Second
	if err := check(forgets); !errors.Is(err, lease.ErrUnsafe) {
		t.Errorf("message IDs for nine seconds: %v", err)
	}
	if _, err := js.CreateKeyValue(t.Context(),
		jetstream.KeyValueConfig{Bucket: "people"}); err != nil {
		t.Fatal(err)
	}
	faulttest.Unsafe(t, Open, server.URL+"/people", "--no-allow-direct")
}

// When a limit is reached, a change fails and nothing is dropped.
func TestLimit(t *testing.T) {
	server := testserver.StartNATS(t)
	_, js := client(t, server.URL)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "KV_sortid", Subjects: []string{"$KV.sortid.>"}, MaxMsgsPerSubject: 1,
		Discard: jetstream.DiscardNew, MaxMsgs: 2,
	}); err != nil {
		t.Fatal(err)
	}
	s := open(t, server.URL)
	var err error
	stored := 0
	for i := range uint32(4) {
		var ok bool
		b := lease.Block{NodeID: i, Size: 8}
		ok, err = s.CompareAndSet(t.Context(), lease.Record{Realm: "r", Block: b},
			lease.Record{Realm: "r", Block: b, Revision: 1})
		if ok {
			stored++
		}
	}
	if rs, lerr := s.List(t.Context(), "r"); err == nil || stored != 2 || len(rs) != 2 ||
		lerr != nil {
		t.Errorf("%d stored, then: %v; %d are there, %v", stored, err, len(rs), lerr)
	}
}

// A deleted record is an error, not a missing record.
func TestDeleted(t *testing.T) {
	url := testserver.NATS(t)
	s := open(t, url)
	faulttest.Change(t, s, none, one)
	conn, _ := client(t, url)
	marker := nats.NewMsg(s.subject("realm.42/8"))
	marker.Header.Set("KV-Operation", "DEL")
	if _, err := conn.RequestMsg(marker, time.Minute); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Get(t.Context(), "realm", block); !errors.Is(err, ErrDeleted) ||
		!strings.Contains(err.Error(), "realm.42/8") {
		t.Errorf("Get: %+v, %v", r, err)
	}
	for _, prev := range []lease.Record{none, one} {
		if ok, err := s.CompareAndSet(t.Context(), prev, two); !errors.Is(err, ErrDeleted) {
			t.Errorf("CompareAndSet: %v, %v", ok, err)
		}
	}
	if rs, err := s.List(t.Context(), "realm"); !errors.Is(err, ErrDeleted) {
		t.Errorf("List: %v, %v", rs, err)
	}
}

func TestNotARecord(t *testing.T) {
	url := testserver.NATS(t)
	s := open(t, url)
	for key, value := range map[string]string{"realm.42/8": "nothing", "other.x": "{}"} {
		if _, err := s.js.Publish(t.Context(), s.subject(key), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	faulttest.NotARecord(t, s, "nothing", "realm.42/8")
	if ok, err := s.CompareAndSet(t.Context(), none, one); err == nil {
		t.Errorf("CompareAndSet: %v", ok)
	}
	_, err := s.List(t.Context(), "other")
	faulttest.Says(t, err, "other.x")
}

// A deleted bucket is an error, not an empty bucket.
func TestBucketGone(t *testing.T) {
	server := testserver.StartNATS(t)
	s := open(t, server.URL)
	faulttest.Change(t, s, none, one)
	if err := s.js.DeleteStream(t.Context(), "KV_sortid"); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Get(t.Context(), "realm", block); err == nil {
		t.Errorf("Get: %+v", r)
	}
	if ok, err := s.CompareAndSet(t.Context(), none, one); err == nil {
		t.Errorf("CompareAndSet: %v", ok)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if rs, err := s.List(ctx, "realm"); err == nil {
		t.Errorf("List: %v", rs)
	}
}

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		replicas int
		sync     bool
		version  string
		want     int
	}{
		{1, false, "2.9.10", 1}, {1, false, "2.12.0", 1}, {1, false, "?", 1},
		{3, false, "2.12.0", 2},
		{1, true, "2.10.0", 0}, {1, true, "3.0.0-beta", 0}, {3, true, "2.11.4", 1},
	} {
		got, err := conditions(c.replicas, c.sync, c.version)
		if err != nil || len(got) != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
		for _, s := range got {
			if !strings.HasPrefix(s, "conditional: ") {
				t.Errorf("%+v: %q", c, s)
			}
		}
	}
	for _, version := range []string{"2.9.10", "1.99.0", "?", ""} {
		if _, err := conditions(1, true, version); !errors.Is(err, lease.ErrUnsafe) {
			t.Errorf("sync=always with version %q, which cannot: %v", version, err)
		}
	}
	if _, err := conditions(3, false, "2.10.29"); !errors.Is(err, lease.ErrUnsafe) {
		t.Errorf("replicas that are not atomic: %v", err)
	}

	faulttest.Conditions(t, open(t, testserver.NATS(t)), "sync_interval")
}

func TestSyncAlways(t *testing.T) {
	old := testserver.StartNATS(t)
	if conn, _ := client(t, old.URL); !since(conn.ConnectedServerVersion(), 2, 10) {
		_, err := Open(t.Context(), old.URL+"?sync=always")
		if !errors.Is(err, lease.ErrUnsafe) {
			t.Fatalf("sync=always with a server that cannot sync each change: %v", err)
		}
		t.Logf("nats-server is too old for sync=always, so only the refusal is tested: %v", err)
		return
	}
	server := testserver.StartNATS(t, "jetstream { sync_interval: always }")
	s := open(t, server.URL+"?sync=always")
	faulttest.Conditions(t, s)
	faulttest.Restart(t, server, s, false)
}

// A user needs only the permissions in the package comment.
func TestPermission(t *testing.T) {
	const publish = `"$KV.sortid.>", "$JS.API.STREAM.INFO.KV_sortid", ` +
		`"$JS.API.STREAM.MSG.GET.KV_sortid", "$JS.API.CONSUMER.CREATE.KV_sortid.>", ` +
		`"$JS.API.CONSUMER.DELETE.KV_sortid.>", "$JS.FC.KV_sortid.>"`
	user := func(name, publish string) string {
		return fmt.Sprintf(`{ user: %s, password: secret,
			permissions { publish: [%s], subscribe: ["_INBOX.>"] } }`, name, publish)
	}
	server := testserver.StartNATS(t, "authorization { users: ["+strings.Join([]string{
		`{ user: admin, password: secret }`,
		user("maker", publish+`, "$JS.API.STREAM.CREATE.KV_sortid"`),
		user("least", publish),
		user("reader", strings.Replace(publish, `"$KV.sortid.>", `, "", 1)),
	}, ", ")+"] }")
	as := func(user string) string {
		return strings.Replace(server.URL, "nats://", "nats://"+user, 1)
	}
	fails := func(url, want string) {
		t.Helper()
		faulttest.Patiently(t, time.Second, func(ctx context.Context) error {
			s, err := Open(ctx, url)
			if err == nil {
				s.Close()
			}
			return err
		}, want)
	}
	fails(as(""), "Authorization")
	fails(as("admin:wrong@"), "Authorization")
	fails(as("least:secret@"), "STREAM.CREATE.KV_sortid")
	open(t, as("maker:secret@"))
	s := open(t, as("least:secret@"))
	faulttest.Change(t, s, none, one)
	if rs, err := s.List(t.Context(), "realm"); err != nil || len(rs) != 1 {
		t.Errorf("List: %v, %v", rs, err)
	}
	fails(as("least:secret@")+"/other", "STREAM.INFO.KV_other")
	reader := open(t, as("reader:secret@"))
	faulttest.Patiently(t, time.Second, func(ctx context.Context) error {
		_, err := reader.CompareAndSet(ctx, one, two)
		return err
	}, "$KV.sortid.realm.42/8")
}

func TestNoJetStream(t *testing.T) {
	server := testserver.StartNATS(t, "jetstream: disabled")
	faulttest.Patiently(t, 3*time.Second, func(ctx context.Context) error {
		_, err := Open(ctx, server.URL)
		return err
	}, "-js")
}

func TestNew(t *testing.T) {
	url := testserver.NATS(t)
	conn, _ := client(t, url)
	s, err := New(t.Context(), conn, Options{Bucket: url[strings.LastIndexByte(url, '/')+1:]})
	if err != nil {
		t.Fatal(err)
	}
	faulttest.Change(t, s, none, one)
	if err := s.Close(); err != nil || !conn.IsConnected() {
		t.Errorf("after Close: %v, connected: %v", err, conn.IsConnected())
	}
}

func TestEncrypted(t *testing.T) {
	cert, key := testserver.Certificate(t)
	url := testserver.StartNATS(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q }", cert,
		key)).URL
	url = strings.Replace(url, "nats:", "natss:", 1)
	faulttest.Change(t, open(t, url+"?ca="+cert), none, one)
	faulttest.Refused(t, Open, url, "certificate")
	plain := testserver.StartNATS(t).URL
	if _, err := Open(t.Context(), strings.Replace(plain, "nats:", "natss:", 1)); err == nil {
		t.Error("a connection without encryption")
	}
}

func TestURL(t *testing.T) {
	to, err := parse("nats://u:p@h,g:1/b?replicas=3&sync=always")
	if err != nil || strings.Join(to.hosts, " ") != "h:4222 g:1" ||
		to.options != (Options{"b", 3, true}) {
		t.Errorf("%+v, %v", to, err)
	}
	faulttest.BadURLs(t, Open, map[string]string{
		"nats:h":                        "://",
		"http://u:secret@h":             "nats://",
		"nats://u:secret@h?ca=x":        "natss://",
		"natss://u:secret@h?ca=/absent": "ca",
		"nats://u:secret@h?replicas=0":  "replicas",
		"nats://u:secret@h?replicas=x":  "replicas",
		"nats://u:secret@h?sync=never":  "always",
		"nats://u:secret@h?x=secret":    `"x"`,
		"nats://u:se/secret@h":          "%2F",
	})
	faulttest.Refused(t, Open, "nats://u:secret@127.0.0.1:1?creds=/absent", "/absent")
	faulttest.Refused(t, Open, testserver.NATS(t)+".x", "bucket")
}

func TestNoServer(t *testing.T) { faulttest.NoServer(t, Open, "nats://u:secret@host") }

// No two realms have the same keys, and all keys are valid.
func TestKeys(t *testing.T) {
	for realm, want := range map[string]string{
		"": "=.0/0", "orders": "orders.0/0", "a-b_9": "a-b_9.0/0", "a.b": "a=2Eb.0/0",
		"a=2Eb": "a=3D2Eb.0/0", "ü*>": "=C3=BC=2A=3E.0/0",
	} {
		if got := key(realm, lease.Block{}); got != want {
			t.Errorf("%q: %s, want %s", realm, got, want)
		}
	}
}

func TestListed(t *testing.T) {
	nc, _ := client(t, testserver.NATS(t))
	faulttest.Listed(t, "NATS", nc.ConnectedServerVersion())
}
