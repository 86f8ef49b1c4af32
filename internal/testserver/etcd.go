package testserver

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Etcd returns a URL with a prefix that no other test has.
func Etcd(t testing.TB) string {
	t.Helper()
	u := choose(t, "SORTID_TEST_ETCD_URL", listening, StartEtcd, "etcd://127.0.0.1:2379")
	prefix := uniqueName()
	cleanUp(t, func(ctx context.Context) error {
		return etcdCall(ctx, u, "kv/deleterange", map[string]any{
			"key": []byte("/" + prefix + "/"), "range_end": []byte("/" + prefix + "0")}, nil)
	})
	return u.JoinPath(prefix).String()
}

func etcdCall(ctx context.Context, u *url.URL, method string, request, answer any) error {
	var auth struct{ Token string }
	if password, ok := u.User.Password(); ok && method != "auth/authenticate" {
		if err := etcdCall(ctx, u, "auth/authenticate",
			map[string]any{"name": u.User.Username(), "password": password}, &auth); err != nil {
			return err
		}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return send(ctx, "POST", "http://"+u.Host+"/v3/"+method, auth.Token, body, answer)
}

// StartEtcd starts a server with flags such as "auth-token-ttl=1".
func StartEtcd(t testing.TB, flags ...string) *Server {
	t.Helper()
	return startEtcd(t, nil, 1, flags)[0]
}

// StartEtcdCluster starts three members. Each Server has the URL of one member.
func StartEtcdCluster(t testing.TB) ([]*Server, *Network) {
	t.Helper()
	network := newNetwork()
	return startEtcd(t, network, members, nil), network
}

func startEtcd(t testing.TB, network *Network, n int, flags []string) []*Server {
	t.Helper()
	Waits(t, "needs a server")
	program := etcdProgram(t)
	var peers, ids, cluster []string
	for i := range n {
		peers = append(peers, address(FreePort(t)))
		cluster = append(cluster, fmt.Sprintf("m%d=http://%s", i, peers[i]))
		sum := sha1.Sum([]byte("http://" + peers[i] + "etcd-cluster")) // as etcd makes IDs
		ids = append(ids, strconv.FormatUint(binary.BigEndian.Uint64(sum[:]), 16))
	}
	identify := func(first []byte) int {
		_, rest, _ := bytes.Cut(first, []byte("X-Server-From: "))
		id, _, _ := bytes.Cut(rest, []byte("\r\n"))
		return slices.Index(ids, string(id))
	}
	servers := make([]*Server, n)
	var wg sync.WaitGroup
	for i := range servers {
		client, dir := "http://"+address(FreePort(t)), tempDir(t)
		listen := peers[i]
		if network != nil {
			listen = address(FreePort(t))
			network.link(t, peers[i], i, i, listen, identify)
		}
		if slices.Contains(flags, "auto-tls") {
			client = strings.Replace(client, "http", "https", 1)
		}
		args := []string{
			fmt.Sprintf("--name=m%d", i), "--data-dir=" + dir, "--log-level=error",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=http://" + listen, "--initial-advertise-peer-urls=http://" + peers[i],
			"--initial-cluster=" + strings.Join(cluster, ","),
			"--heartbeat-interval=50", "--election-timeout=500",
		}
		for _, f := range flags {
			args = append(args, "--"+f)
		}
		_, host, _ := strings.Cut(client, "://")
		wg.Go(func() { // members wait for each other
			servers[i] = (&Server{URL: "etcd://" + host, Dir: dir, t: t, crash: syscall.SIGKILL,
				command: func() *exec.Cmd { return exec.Command(program, args...) },
				ready: func(ctx context.Context) error {
					ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
					defer cancel()
					return send(ctx, "GET", client+"/health", "", nil, nil)
				},
			}).start()
		})
	}
	wg.Wait()
	if slices.Contains(servers, nil) {
		t.FailNow()
	}
	return servers
}

// etcdProgram returns the path of etcd's server. The go command builds it if it is not in the PATH.
func etcdProgram(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("etcd"); err == nil {
		return path
	}
	path, err := once("go.etcd.io/etcd/server/v3", buildTool)
	if err != nil {
		Missing(t, fmt.Sprintf("no etcd: SORTID_TEST_ETCD_URL is not set, nobody listens at "+
			"127.0.0.1:2379, it is not installed, and cannot be built: %v", err),
			"connect to a network, so that the go command can fetch and build etcd")
	}
	return path
}
