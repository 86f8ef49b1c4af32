package testserver

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

func TestPostgres(t *testing.T) {
	a, b := Postgres(t), Postgres(t)
	if a == b {
		t.Fatal("two tests have the same schema")
	}
	s := StartPostgres(t, "work_mem=77MB")
	psql.exec(t, s.URL, "CREATE TABLE here (x int)")
	s.Stop()
	if err := psqlServes(t.Context(), s.URL); err == nil {
		t.Fatal("a server that was stopped serves")
	}
	s.Start()
	got, err := psql(t.Context(), s.URL,
		"SELECT current_setting('work_mem') FROM (SELECT count(*) FROM here) c")
	if err != nil || got != "77MB" {
		t.Errorf("after a stop: %q, %v", got, err)
	}
}

func TestMySQL(t *testing.T) {
	a, b := MySQL(t), MySQL(t)
	if a == b {
		t.Fatal("two tests have the same database")
	}
	s := StartMySQL(t, "max-connections=77")
	mariadb.exec(t, s.URL, "CREATE TABLE test.here (x int)")
	s.Stop()
	if err := mariadbServes(t.Context(), s.URL); err == nil {
		t.Fatal("a server that was stopped serves")
	}
	s.Start()
	got, err := mariadb(t.Context(), s.URL,
		"SELECT @@max_connections FROM (SELECT count(*) FROM test.here) c")
	if err != nil || got != "77" {
		t.Errorf("after a stop: %q, %v", got, err)
	}
}

func TestRedis(t *testing.T) {
	s := StartRedis(t, "--requirepass", "pass word")
	u := check.Must(url.Parse(s.URL))(t)
	if _, err := redisCall(t.Context(), u, "SET", "key", "value"); err == nil {
		t.Fatal("a server with a password serves without it")
	}
	u.User = url.UserPassword("", "pass word")
	if _, err := redisCall(t.Context(), u, "SET", "key", "value"); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	if listening(t.Context(), s.URL) == nil {
		t.Fatal("a server that was stopped listens")
	}
	s.Start()
	// LTRIM fails if the key is not a list, but not if it is missing.
	if _, err := redisCall(t.Context(), u, "LTRIM", "key", "0", "1"); err == nil {
		t.Error("after a stop: the key is gone")
	}

	t.Setenv("SORTID_TEST_REDIS_URL", u.String())
	var key string
	t.Run("cleanup", func(t *testing.T) {
		own := check.Must(url.Parse(Redis(t)))(t)
		key = own.Query().Get("prefix") + "key"
		if _, err := redisCall(t.Context(), u, "SET", key, "value"); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := redisCall(t.Context(), u, "LTRIM", key, "0", "1"); err != nil {
		t.Errorf("after a test its key is there: %v", err)
	}
}

func TestNATS(t *testing.T) {
	s := StartNATS(t, "authorization { user: u, password: p }")
	u := check.Must(url.Parse(s.URL))(t)
	if err := natsCall(t.Context(), u, "$JS.API.INFO"); err == nil {
		t.Fatal("a server with a password serves without it")
	}
	u.User = url.UserPassword("u", "p")
	check.OK(t, natsCall(t.Context(), u, "$JS.API.INFO"))
	s.Stop()
	if listening(t.Context(), s.URL) == nil {
		t.Fatal("a server that was stopped listens")
	}
	s.Start()
	check.OK(t, natsCall(t.Context(), u, "$JS.API.INFO"))
}

func TestEtcd(t *testing.T) {
	s := StartEtcd(t, "max-txn-ops=77")
	u := check.Must(url.Parse(s.URL))(t)
	call := func(method string, request any) (count string) {
		t.Helper()
		var answer struct{ Count string }
		check.OK(t, etcdCall(context.Background(), u, method, request, &answer))
		return answer.Count
	}
	call("kv/put", map[string]any{"key": []byte("key")})
	s.Stop()
	if listening(t.Context(), s.URL) == nil {
		t.Fatal("a server that was stopped listens")
	}
	s.Start()
	if n := call("kv/range", map[string]any{"key": []byte("key")}); n != "1" {
		t.Errorf("after a stop: %q keys, want 1", n)
	}

	t.Setenv("SORTID_TEST_ETCD_URL", s.URL)
	t.Run("cleanup", func(t *testing.T) {
		own := check.Must(url.Parse(Etcd(t)))(t)
		call("kv/put", map[string]any{"key": []byte(own.Path + "/key")})
	})
	if n := call("kv/range", map[string]any{"key": []byte("/"),
		"range_end": []byte{'/' + 1}}); n != "" {
		t.Errorf("after a test there are %s keys of its own", n)
	}
}

func TestEtcdTLS(t *testing.T) {
	s := StartEtcd(t, "auto-tls")
	u := check.Must(url.Parse(s.URL))(t)
	if err := etcdCall(t.Context(), u, "kv/put", json.RawMessage("{}"), nil); err == nil {
		t.Error("a server with TLS serves without it")
	}
}

func TestKubernetes(t *testing.T) {
	s := StartKubernetes(t)
	a, b := KubernetesNamespace(t, s.URL), KubernetesNamespace(t, s.URL)
	u := check.Must(url.Parse(b))(t)
	path := "/apis/coordination.k8s.io/v1/namespaces" + u.Path + "/leases"
	body := map[string]any{"metadata": map[string]any{"name": "here"}}
	if err := CallKubernetes(t.Context(), b, "POST", path, body, nil); err != nil {
		t.Error(err)
	}
	if err := CallKubernetes(t.Context(), a, "GET", path, nil, nil); err == nil {
		t.Error("a test can read another test's namespace")
	}
	if err := CallKubernetes(t.Context(), b, "DELETE", path+"/here", nil, nil); err == nil {
		t.Error("the ServiceAccount can do more than package store/kubernetes needs")
	}
	s.Stop()
	if listening(t.Context(), s.URL) == nil {
		t.Fatal("a server that was stopped listens")
	}
	s.Start()
	if err := CallKubernetes(t.Context(), b, "GET", path+"/here", nil, nil); err != nil {
		t.Errorf("after a stop: %v", err)
	}
}

func TestFreePort(t *testing.T) {
	for range 20 { // each port takes a file, and some systems allow only 256
		t.Run("", func(t *testing.T) {
			given := map[int]bool{}
			for range 100 {
				port := FreePort(t)
				if given[port] {
					t.Fatalf("port %d is given twice", port)
				}
				given[port] = true
			}
		})
	}
}

// A member that is cut off cannot answer, until it is joined again. If it is the leader, another one
// takes over.
func TestNetwork(t *testing.T) {
	servers, network := StartEtcdCluster(t)
	read := func(i int) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		u := check.Must(url.Parse(servers[i].URL))(t)
		return etcdCall(ctx, u, "kv/range", map[string]any{"key": []byte("key")}, nil)
	}
	eventually := func(i int, when string) {
		t.Helper()
		for end := time.Now().Add(patience); ; {
			err := read(i)
			if err == nil {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("member %d %s: %v", i, when, err)
			}
		}
	}
	for i := range servers {
		for _, both := range []bool{true, false} {
			network.Cut(i, both)
			eventually((i+1)%members, "of the majority")
			if err := read(i); err == nil {
				t.Errorf("member %d answers while it is cut off, in both directions: %v", i, both)
			}
			network.Join()
			eventually(i, "after it was joined")
		}
	}
}
