package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	block          = faulttest.Block
	none, one, two = faulttest.Record(0), faulttest.Record(1), faulttest.Record(2)
)

func open(t *testing.T, url string) *Store {
	t.Helper()
	return faulttest.Open(t, Open, url)
}

func client(t *testing.T, url, user, password string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{strings.TrimPrefix(url, "etcd://")},
		Username:  user, Password: password, Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestStore(t *testing.T) {
	base, n := testserver.Etcd(t), 0
	faulttest.Store(t, Open, func(testing.TB) string {
		n++
		return fmt.Sprintf("%s/%d", base, n)
	})
}

func TestFaults(t *testing.T) { faulttest.Faults(t, Open, testserver.StartEtcd(t), false) }

func TestReconnect(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := open(t, server.URL)
	server.Stop()
	var asked atomic.Int32
	l := faulttest.Listen(t, strings.TrimPrefix(server.URL, "etcd://"), func(conn net.Conn) {
		asked.Add(1)
		conn.Close()
	})
	faulttest.Eventually(t, func() bool {
		if _, err := s.Get(t.Context(), "realm", block); err == nil {
			t.Fatal("a server that is gone answers")
		}
		return asked.Load() >= 12
	}, func() string {
		return fmt.Sprintf("the server has been asked for only %d times", asked.Load())
	})
	l.Close()
	server.Start()
	var err error
	faulttest.Eventually(t, func() bool {
		_, err = s.Get(t.Context(), "realm", block)
		return err == nil
	}, func() string { return err.Error() })
}

// While any one of three members is down, the others continue.
func TestCluster(t *testing.T) {
	servers, _ := testserver.StartEtcdCluster(t)
	s := open(t, faulttest.ClusterURL(servers))
	faulttest.Cluster(t, s, servers, func(i int, is lease.Record) {
		again := open(t, servers[i].URL)
		var r lease.Record
		var err error
		faulttest.Eventually(t, func() bool {
			r, err = again.Get(t.Context(), "realm", block)
			return err == nil
		}, func() string { return err.Error() })
		if r != is {
			t.Fatalf("member %d, back again: %+v, want %+v", i, r, is)
		}
	})
}

// A repeater lets etcd make a transaction, and then says that the transaction was canceled. By
// default, etcd's client repeats such a transaction.
type repeater struct {
	pb.KVClient
	txns atomic.Int32
}

func (f *repeater) intercept(ctx context.Context, method string, request, reply any,
	conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, conn, opts...)
	txn, ok := request.(*pb.TxnRequest)
	if ok && len(txn.Compare) > 0 && err == nil && f.txns.Add(1) == 2 { // New sends the first
		return status.Error(codes.Canceled,
			"stream terminated by RST_STREAM with error code: CANCEL")
	}
	return err
}

// If a change was made but not acknowledged, the store does not send it again.
func TestNotRepeated(t *testing.T) {
	var f repeater
	s, err := New(t.Context(), clientv3.Config{
		Endpoints:       []string{strings.TrimPrefix(testserver.StartEtcd(t).URL, "etcd://")},
		MaxUnaryRetries: 100,
		DialOptions:     []grpc.DialOption{grpc.WithChainUnaryInterceptor(f.intercept)},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ok, err := s.CompareAndSet(t.Context(), none, one)
	if err == nil || f.txns.Load() != 2 {
		t.Errorf("got %v, %v, after %d transactions, want an error after 2", ok, err, f.txns.Load())
	}
	faulttest.Want(t, s, one)
}

func TestURL(t *testing.T) {
	config, prefix, err := parse("etcd://u:p@h,g:1/a/b")
	if err != nil || strings.Join(config.Endpoints, " ") != "http://h:2379 http://g:1" ||
		config.Username != "u" || config.Password != "p" || prefix != "a/b" {
		t.Errorf("%+v, %q, %v", config, prefix, err)
	}
	if config, _, err := parse("etcds://h"); err != nil ||
		config.Endpoints[0] != "https://h:2379" || config.TLS == nil {
		t.Errorf("%+v, %v", config, err)
	}
	faulttest.BadURLs(t, Open, map[string]string{
		"etcd:h":                        "://",
		"http://u:secret@h":             "etcd://",
		"etcd://u@h":                    "only one",
		"etcd://:secret@h":              "only one",
		"etcd://u:secret@h?ca=x":        "etcds://",
		"etcds://u:secret@h?ca=/absent": "ca",
		"etcd://u:secret@h?x=secret":    `"x"`,
		"etcd://u:se/secret@h":          "%2F",
	})
}

func TestNoServer(t *testing.T) {
	faulttest.NoServer(t, Open, "etcd://host")
	faulttest.NoServer(t, Open, "etcd://u:secret@host")
}

func TestAuth(t *testing.T) {
	server := testserver.StartEtcd(t, "auth-token-ttl=1")
	admin, ctx := client(t, server.URL, "", ""), t.Context()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	end := clientv3.GetPrefixRangeEnd
	for user, grant := range map[string]clientv3.PermissionType{
		"writer": clientv3.PermissionType(clientv3.PermReadWrite),
		"reader": clientv3.PermissionType(clientv3.PermRead),
	} {
		must(admin.RoleAdd(ctx, user))
		must(admin.RoleGrantPermission(ctx, user, "/sortid/", end("/sortid/"), grant))
		must(admin.UserAdd(ctx, user, "secret"))
		must(admin.UserGrantRole(ctx, user, user))
	}
	must(admin.UserAdd(ctx, "root", "secret"))
	must(admin.UserGrantRole(ctx, "root", "root"))
	must(admin.AuthEnable(ctx))

	as := func(user, rest string) string {
		return strings.Replace(server.URL, "etcd://", "etcd://"+user, 1) + rest
	}
	for url, want := range map[string]string{
		as("", ""):                     "put the user and the password",
		as("writer:wrong@", ""):        "authentication failed",
		as("nobody:secret@", ""):       "authentication failed",
		as("reader:secret@", ""):       "permission denied",
		as("writer:secret@", "/other"): "readwrite --prefix /other/",
	} {
		faulttest.Refused(t, Open, url, want)
	}

	s := open(t, as("writer:secret@", ""))
	faulttest.Change(t, s, none, one)
	time.Sleep(3 * time.Second) // the token is checked and dropped once a second
	faulttest.Change(t, s, one, two)
	faulttest.Want(t, s, two)
	time.Sleep(3 * time.Second)
	if rs, err := s.List(ctx, "realm"); err != nil || len(rs) != 1 {
		t.Errorf("%v, %v", rs, err)
	}
}

func TestQuota(t *testing.T) {
	server := testserver.StartEtcd(t, "quota-backend-bytes=1048576")
	s := open(t, server.URL)
	admin := client(t, server.URL, "", "")
	var full error
	for i := 0; i < 1000 && full == nil; i++ {
		_, full = admin.Put(t.Context(), fmt.Sprint("fill", i), strings.Repeat("x", 200<<10))
		time.Sleep(20 * time.Millisecond)
	}
	if full == nil {
		t.Fatal("200 MB do not fill 1 MB")
	}
	_, err := s.CompareAndSet(t.Context(), none, one)
	faulttest.Says(t, err, "etcdctl alarm disarm")
	faulttest.Refused(t, Open, server.URL, "etcdctl alarm disarm")
}

func TestNotARecord(t *testing.T) {
	url := testserver.StartEtcd(t).URL
	s, admin := open(t, url), client(t, url, "", "")
	for key, value := range map[string]string{"/sortid/realm/42/8": "nothing",
		"/sortid/a/42/8/9": "{}"} {
		if _, err := admin.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	faulttest.NotARecord(t, s, "nothing", "/sortid/realm/42/8")
	if ok, err := s.CompareAndSet(t.Context(), none, one); err == nil {
		t.Errorf("CompareAndSet: %v", ok)
	}
	_, err := s.List(t.Context(), "a")
	faulttest.Says(t, err, "/sortid/a/42/8/9")
}

func TestPages(t *testing.T) {
	s := open(t, testserver.Etcd(t))
	const n = 2*page + 1
	for i := range uint32(n) {
		r := lease.Record{Realm: "pages", Block: lease.Block{NodeID: i, Size: 24}, Revision: 1}
		faulttest.Change(t, s, lease.Record{Realm: r.Realm, Block: r.Block}, r)
	}
	rs := check.Must(s.List(t.Context(), "pages"))(t)
	found := map[lease.Block]bool{}
	for _, r := range rs {
		found[r.Block] = true
	}
	if len(rs) != n || len(found) != n {
		t.Errorf("%d records of %d blocks, want %d", len(rs), len(found), n)
	}
}

func TestEncrypted(t *testing.T) {
	server := testserver.StartEtcd(t, "auto-tls")
	url := strings.Replace(server.URL, "etcd", "etcds", 1)
	s := open(t, url+"?ca="+server.Dir+"/fixtures/client/cert.pem")
	faulttest.Change(t, s, none, one)
	if _, err := s.Time(t.Context()); err != nil {
		t.Error(err)
	}
	faulttest.Refused(t, Open, url, "certificate")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := Open(ctx, server.URL); err == nil {
		t.Error("a connection without encryption")
	}
}

func TestConditions(t *testing.T) {
	faulttest.Conditions(t, open(t, testserver.Etcd(t)))
}

// Time asks another member if one is down. Without HTTP, Time fails with ErrNoTime.
func TestTime(t *testing.T) {
	// This port answers only gRPC.
	l := faulttest.Listen(t, "127.0.0.1:0", func(conn net.Conn) {
		io.WriteString(conn, "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00@\x00")
		io.Copy(io.Discard, conn)
	})
	config := clientv3.Config{Endpoints: []string{"http://" + l.Addr().String()}}
	if now, err := newClock(config).now(t.Context()); !errors.Is(err, lease.ErrNoTime) {
		t.Errorf("without HTTP: %v, %v", now, err)
	}
	server := testserver.StartEtcd(t)
	s := open(t, server.URL+strings.Replace(testserver.StartEtcd(t).URL, "etcd://", ",", 1))
	server.Stop()
	if now, err := s.Time(t.Context()); err != nil || time.Since(now).Abs() > time.Minute {
		t.Errorf("from the other member: %v, %v", now, err)
	}
}

func TestVersions(t *testing.T) {
	url := testserver.Etcd(t)
	config, prefix, err := parse(url)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{
		"3.3.27": "conditional", "3.4.20": "conditional", "3.4.21": "", "3.4.33": "",
		"3.5.0-rc.1": "unsafe", "3.5.0": "unsafe", "3.5.4": "unsafe",
		"3.5.5": "", "3.5.21": "", "3.6.0": "", "4.0.0": "", "": "", "unknown": "", "down": "",
	} {
		t.Run(version, func(t *testing.T) {
			config := config
			config.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(
				func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
					invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
					err := invoke(ctx, method, request, reply, conn, opts...)
					if r, ok := reply.(*pb.StatusResponse); ok && err == nil {
						if r.Version = version; version == "down" {
							return status.Error(codes.Unavailable, "down")
						}
					}
					return err
				})}
			s, err := New(t.Context(), config, prefix)
			if want == "unsafe" {
				if !errors.Is(err, lease.ErrUnsafe) ||
					!strings.Contains(err.Error(), "version "+version+" ") {
					t.Fatalf("New: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if c := s.Conditions(); (want == "") != (c == nil) || want != "" &&
				!strings.HasPrefix(c[0], want) {
				t.Errorf("Conditions: %q", c)
			}
		})
	}
}

func TestListed(t *testing.T) {
	s := open(t, testserver.Etcd(t))
	status := check.Must(s.client.Status(t.Context(), s.client.Endpoints()[0]))(t)
	faulttest.Listed(t, "etcd", status.Version)
}
