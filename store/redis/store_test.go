package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/sortid/sortid/internal/check"
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

func do(t *testing.T, url, command string) any {
	t.Helper()
	var args []any
	for _, word := range strings.Fields(command) {
		args = append(args, word)
	}
	conn := check.Must(redis.DialURLContext(t.Context(), url))(t)
	defer conn.Close()
	r, err := conn.Do(args[0].(string), args[1:]...)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	if text, ok := r.([]byte); ok {
		return string(text)
	}
	return r
}

func numbered(base string) func(testing.TB) string {
	n := 0
	return func(testing.TB) string {
		n++
		return fmt.Sprintf("%s%d:", base, n)
	}
}

func TestStore(t *testing.T) { faulttest.Store(t, Open, numbered(testserver.Redis(t))) }

func TestStoreOnDisk(t *testing.T) {
	faulttest.Store(t, Open, numbered(testserver.StartRedis(t).URL+"?prefix=x"))
}

func TestFaults(t *testing.T) { faulttest.Faults(t, Open, testserver.StartRedis(t), false) }

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		settings string
		want     []string
	}{
		{"", nil},
		{"--maxmemory 100mb --maxmemory-policy noeviction", nil},
		{"--maxmemory 100mb --maxmemory-policy volatile-lru", nil}, // records do not expire
		{"--maxmemory 0 --maxmemory-policy allkeys-lru", nil},      // no limit
		{"--appendonly no", []string{": appendonly is"}},
		{"--appendfsync everysec", []string{": appendfsync is"}},
		{"--appendfsync no", []string{": appendfsync is"}},
		{"--no-appendfsync-on-rewrite yes", []string{": no-appendfsync-on-rewrite is"}},
		{"--appendfsync everysec --no-appendfsync-on-rewrite yes",
			[]string{": appendfsync is", ": no-appendfsync-on-rewrite is"}},
	} {
		server := testserver.StartRedis(t, strings.Fields(c.settings)...)
		faulttest.Conditions(t, open(t, server.URL), c.want...)
		server.Stop()
	}
}

func TestUnsafe(t *testing.T) {
	for settings, want := range map[string]string{
		"--maxmemory 100mb --maxmemory-policy allkeys-lru": "maxmemory-policy",
		"--cluster-enabled yes":                            "cluster",
	} {
		server := testserver.StartRedis(t, strings.Fields(settings)...)
		faulttest.Unsafe(t, Open, server.URL, want)
	}
}

// Open refuses a replica. A store on its master has a condition, and fails if the master becomes
// a replica.
func TestReplica(t *testing.T) {
	master := testserver.StartRedis(t, "--repl-diskless-sync-delay", "0")
	host, port, _ := strings.Cut(strings.TrimPrefix(master.URL, "redis://"), ":")
	s := open(t, master.URL)
	faulttest.Change(t, s, none, one)

	replica := testserver.StartRedis(t, "--replicaof", host+" "+port)
	faulttest.Eventually(t, func() bool {
		return strings.Contains(do(t, master.URL, "INFO replication").(string),
			"state=online") &&
			strings.Contains(do(t, replica.URL, "INFO replication").(string),
				"master_link_status:up")
	}, func() string { return "the replica does not connect" })
	faulttest.Unsafe(t, Open, replica.URL, "role")
	faulttest.Conditions(t, open(t, master.URL), "conditional: 1 replicas")

	do(t, replica.URL, "REPLICAOF NO ONE")
	promoted := open(t, replica.URL)
	faulttest.Change(t, promoted, one, two)
	do(t, master.URL, "REPLICAOF "+host+" 1")
	_, err := s.Get(t.Context(), "realm", block)
	faulttest.Says(t, err, "replica")
	if ok, err := s.CompareAndSet(t.Context(), one, two); err == nil {
		t.Errorf("CompareAndSet on a replica: %v", ok)
	}
}

func TestPermission(t *testing.T) {
	server := testserver.StartRedis(t)
	for user, rights := range map[string]string{
		"least": "~sortid:* +eval +hget +hmget +hset +hdel +hgetall +hexists +scan +time +info " +
			"+config|get",
		"blind":    "~sortid:* +@all -config",
		"reader":   "~sortid:* +@all -hset",
		"other":    "~other:* +@all",
		"stranger": "",
	} {
		do(t, server.URL, "ACL SETUSER "+user+" on >secret "+rights)
	}
	do(t, server.URL, "ACL SETUSER default >secret")
	as := func(user string) string {
		return strings.Replace(server.URL, "redis://", "redis://"+user, 1)
	}

	s := open(t, as("least:secret@"))
	faulttest.Conditions(t, s)
	faulttest.Change(t, s, none, one)
	if rs, err := s.List(t.Context(), "realm"); err != nil || len(rs) != 1 {
		t.Errorf("List: %v, %v", rs, err)
	}
	if _, err := s.Realms(t.Context()); err != nil {
		t.Error(err)
	}
	faulttest.Conditions(t, open(t, as("blind:secret@")), "does not show", "does not show")
	_, err := open(t, as("reader:secret@")).CompareAndSet(t.Context(), one, two)
	faulttest.Says(t, err, "ACL SETUSER")
	for user, want := range map[string]string{
		"":                 "put the user and the password",
		"least:wrong@":     "WRONGPASS",
		"other:secret@":    "ACL SETUSER",
		"stranger:secret@": "ACL SETUSER",
	} {
		faulttest.Refused(t, Open, as(user), want)
	}
}

func TestRewrite(t *testing.T) {
	server := testserver.StartRedis(t, "--appendonly", "no")
	info := func(section string) map[string]string {
		t.Helper()
		return fields(do(t, server.URL, "INFO "+section).(string))
	}
	do(t, server.URL, "SET key value")
	// Each key takes 100 seconds.
	do(t, server.URL, "CONFIG SET rdb-key-save-delay 100000000")
	do(t, server.URL, "CONFIG SET appendonly yes")
	named := func(want string) {
		t.Helper()
		faulttest.Conditions(t, open(t, server.URL), want+": if appendonly was turned on since "+
			"the server started, a restart forgets everything")
	}
	named("(aof_rewrite_in_progress is 1)")

	pid := info("server")["process_id"]
	kill := func() {
		t.Helper()
		children, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
		if err != nil {
			t.Skipf("only Linux shows child processes (%v); to run this test: use Linux", err)
		}
		if child, err := strconv.Atoi(strings.TrimSpace(string(children))); err == nil {
			process, err := os.FindProcess(child)
			if err == nil {
				process.Signal(syscall.SIGKILL)
			}
		}
	}
	faulttest.Eventually(t, func() bool {
		kill()
		return info("persistence")["aof_last_bgrewrite_status"] == "err"
	}, func() string { return "the rewrite does not fail" })
	named("(aof_last_bgrewrite_status is err), see the server's log")

	do(t, server.URL, "CONFIG SET rdb-key-save-delay 0")
	kill()
	faulttest.Eventually(t, func() bool {
		p := info("persistence")
		return p["aof_last_bgrewrite_status"] == "ok" && p["aof_rewrite_in_progress"] == "0"
	}, func() string { return "the rewrite does not succeed" })
	faulttest.Conditions(t, open(t, server.URL))
}

// If the store cannot read the settings, this is an error, not a condition.
func TestSettings(t *testing.T) {
	const info = "role:master\ncluster_enabled:0\nmaxmemory:0\nconnected_slaves:0\n" +
		"aof_enabled:1\naof_last_bgrewrite_status:ok\n"
	conditionsOf := func(info string, answer any) ([]string, error) {
		var config []any
		for _, w := range wanted {
			if answer == nil {
				config = append(config, []any{[]byte(w.name), []byte(w.value)})
			} else {
				config = append(config, answer)
			}
		}
		return conditions(info, config)
	}
	if c, err := conditionsOf(info+"aof_last_write_status:ok", nil); c != nil || err != nil {
		t.Errorf("%q, %v", c, err)
	}
	for field, want := range map[string]string{
		"server_name:valkey\nvalkey_version:8.1.1": `"Valkey (valkey_version:8.1.1)"`,
		"dragonfly_version:df-v1.40.1":             `"Dragonfly (dragonfly_version:df-v1.40.1)"`,
		"mvcc_depth:0":                             `"KeyDB (mvcc_depth:0)"`,
	} {
		c, err := conditionsOf("redis_version:7.2.4\n"+info+field, nil)
		if err != nil || len(c) != 1 || !strings.Contains(c[0], "not tested. It says that it is "+want) {
			t.Errorf("%s: %q, %v", field, c, err)
		}
	}
	if c, err := conditionsOf(info+"aof_last_write_status:err", nil); !errors.Is(err,
		lease.ErrUnsafe) || !strings.Contains(err.Error(), "aof_last_write_status") {
		t.Errorf("a file that cannot be written: %q, %v", c, err)
	}
	if c, err := conditionsOf(info, int64(1)); err == nil ||
		!strings.Contains(err.Error(), "could not be read") {
		t.Errorf("a number instead of the settings: %q, %v", c, err)
	}
}

// Open succeeds only with the answers to all its requests.
func TestCutWhileOpening(t *testing.T) {
	url := testserver.StartRedis(t, "--appendfsync", "no").URL
	_, address, _ := strings.Cut(url, "://")
	cuts := 0
	for n, whole := int64(0), false; !whole; n += 97 {
		var opened, cut atomic.Int64 // connections
		relay := faulttest.Relay(t, address, func(client, _ net.Conn) (
			request, answer func([]byte) bool) {
			first, left := opened.Add(1) == 1, n
			pass := func([]byte) bool { return true }
			return pass, func(piece []byte) bool {
				if !first || int64(len(piece)) <= left {
					left -= int64(len(piece))
					return true
				}
				client.Write(piece[:left])
				client.Close()
				cut.Add(1)
				return false
			}
		})
		faulttest.Conditions(t, open(t, faulttest.At(t, url, relay)), ": appendfsync is")
		whole = cut.Load() == 0
		cuts++
	}
	if cuts < 10 {
		t.Errorf("Open reads less than %d bytes, want more than 970", cuts*97)
	}
}

func TestConnections(t *testing.T) {
	for _, tls := range []bool{false, true} {
		server := testserver.StartRedis(t)
		url := server.URL
		if tls {
			url = encrypted(t, server)
		}
		s := open(t, url)
		faulttest.Idles(t, s, 3, func() int {
			n, err := strconv.Atoi(
				fields(do(t, server.URL, "INFO clients").(string))["connected_clients"])
			if err != nil {
				t.Fatal(err)
			}
			return n - 1
		})
	}
}

// When memory is used up, a change fails and nothing is dropped.
func TestMemory(t *testing.T) {
	server := testserver.StartRedis(t)
	s := open(t, server.URL)
	faulttest.Change(t, s, none, one)
	do(t, server.URL, "CONFIG SET maxmemory 1")
	_, err := s.CompareAndSet(t.Context(), one, two)
	faulttest.Says(t, err, "raise maxmemory")
	do(t, server.URL, "CONFIG SET maxmemory 0")
	faulttest.Change(t, s, one, two)
}

func TestNew(t *testing.T) {
	url := testserver.StartRedis(t).URL
	pool := &redis.Pool{DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialURLContext(ctx, url)
	}}
	defer pool.Close()
	s := check.Must(New(t.Context(), pool, "host:1", ""))(t)
	faulttest.Change(t, s, none, one)
	if s.String() != "redis at host:1" {
		t.Errorf("the name is %q, want the address host:1", s)
	}
	check.OK(t, s.Close())
	conn := pool.Get()
	defer conn.Close()
	if n, err := redis.Int(conn.Do("HLEN", "sortid:realm")); n != 1 || err != nil {
		t.Errorf("after Close: %d fields, %v", n, err)
	}
}

func encrypted(t *testing.T, server *testserver.Server) (url string) {
	t.Helper()
	cert, key := testserver.Certificate(t)
	port := testserver.FreePort(t)
	do(t, server.URL, fmt.Sprintf("CONFIG SET tls-cert-file %s tls-key-file %s "+
		"tls-ca-cert-file %[1]s tls-auth-clients no tls-port %[3]d", cert, key, port))
	return fmt.Sprintf("rediss://127.0.0.1:%d?ca=%s", port, cert)
}

func TestEncrypted(t *testing.T) {
	server := testserver.StartRedis(t)
	url := encrypted(t, server)
	faulttest.Change(t, open(t, url), none, one)
	url, _, _ = strings.Cut(url, "?")
	faulttest.Refused(t, Open, url, "certificate")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := Open(ctx, strings.Replace(server.URL, "redis:", "rediss:", 1)); err == nil {
		t.Error("a connection without encryption")
	}
}

func TestURL(t *testing.T) {
	o, err := parse("redis://u:p@h/3?prefix=a%3a")
	if want := (target{"h:6379", "u", "p", 3, nil, "a:"}); o != want || err != nil {
		t.Errorf("%+v, %v, want %+v", o, err, want)
	}
	if o, err := parse("rediss://h:1"); err != nil || o.address != "h:1" || o.tls == nil {
		t.Errorf("%+v, %v", o, err)
	}
	faulttest.BadURLs(t, Open, map[string]string{
		"redis:h":                          "://",
		"http://u:secret@h":                "redis://",
		"redis://u:secret@h,g":             "one server",
		"redis://u:secret@h/x":             "database",
		"redis://u:secret@h/-1":            "database",
		"redis://u:secret@h?ca=x":          "rediss://",
		"rediss://u:secret@h?ca=/absent":   "ca",
		"redis://u:secret@h?max_retries=3": `"max_retries"`,
		"redis://u:12/secret@h":            "%2F",
	})
}

func TestNoServer(t *testing.T) {
	faulttest.NoServer(t, Open, "redis://u:secret@host")
	faulttest.NoServer(t, Open, "rediss://u:secret@host")
}

func TestNotARecord(t *testing.T) {
	url := testserver.StartRedis(t).URL
	s := open(t, url)
	do(t, url, "SET sortid:text x")
	do(t, url, "HSET sortid:realm 42/8 nothing")
	do(t, url, "HSET sortid:field x {}")
	for _, realm := range []string{"text", "realm"} {
		if r, err := s.Get(t.Context(), realm, block); err == nil {
			t.Errorf("Get(%q): %+v", realm, r)
		}
		r := one
		r.Realm = realm
		if ok, err := s.CompareAndSet(t.Context(), lease.Record{Realm: realm, Block: block},
			r); err == nil {
			t.Errorf("CompareAndSet in %q: %v", realm, ok)
		}
	}
	for _, realm := range []string{"text", "realm", "field"} {
		if r, err := s.List(t.Context(), realm); err == nil {
			t.Errorf("List(%q): %+v", realm, r)
		}
	}
	a, b := none, none
	a.Revision, a.HWM, b.Revision, b.HWM = 1<<63+1, 1<<62+1, 1<<63+2, 1<<62+2
	do(t, url, "DEL sortid:realm")
	faulttest.Change(t, s, none, a)
	wrong := a
	wrong.HWM--
	if ok, err := s.CompareAndSet(t.Context(), wrong, b); ok || err != nil {
		t.Errorf("an HWM that is less by one: %v, %v", ok, err)
	}
	faulttest.Change(t, s, a, b)
}

func TestListed(t *testing.T) {
	info := fields(do(t, testserver.Redis(t), "INFO server").(string))
	faulttest.Listed(t, "Redis", info["redis_version"])
}
