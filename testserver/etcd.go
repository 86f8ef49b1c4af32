package testserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Etcd returns a URL with a prefix for the test alone.
func Etcd(t testing.TB) string {
	t.Helper()
	base := os.Getenv("SORTID_TEST_ETCD_URL")
	if base == "" {
		notShort(t)
		if base = "etcd://127.0.0.1:2379"; !listening("127.0.0.1:2379") {
			base = StartEtcd(t).URL
		}
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "etcd" {
		t.Fatal("SORTID_TEST_ETCD_URL: want etcd://user:password@host:2379")
	}
	prefix := uniqueName()
	t.Cleanup(func() {
		if err := deleteEtcdPrefix(u, "/"+prefix+"/"); err != nil {
			t.Logf("deleting the test's keys from etcd: %v", err)
		}
	})
	return u.JoinPath(prefix).String()
}

// deleteEtcdPrefix uses etcd's JSON gateway.
func deleteEtcdPrefix(u *url.URL, prefix string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var auth struct{ Token string }
	if password, ok := u.User.Password(); ok {
		if err := etcdCall(ctx, u.Host, "auth/authenticate", "",
			map[string]any{"name": u.User.Username(), "password": password}, &auth); err != nil {
			return err
		}
	}
	end := []byte(prefix)
	end[len(end)-1]++
	return etcdCall(ctx, u.Host, "kv/deleterange", auth.Token, map[string]any{"key": []byte(prefix),
		"range_end": end}, nil)
}

func etcdCall(ctx context.Context, host, method, token string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+host+"/v3/"+method,
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s: %s", method, resp.Status, body)
	case answer != nil:
		return json.Unmarshal(body, answer)
	}
	return nil
}

// StartEtcd takes flags such as "auth-token-ttl=1".
func StartEtcd(t testing.TB, flags ...string) *Server {
	t.Helper()
	notShort(t)
	return startEtcd(t, etcdProgram(t), []int{FreePort(t)}, 0, []int{FreePort(t)}, flags)
}

// StartEtcdCluster starts three members. Each URL names one.
func StartEtcdCluster(t testing.TB) [3]*Server {
	t.Helper()
	notShort(t)
	program := etcdProgram(t)
	clients, peers := make([]int, 3), make([]int, 3)
	for i := range clients {
		clients[i], peers[i] = FreePort(t), FreePort(t)
	}
	var servers [3]*Server
	var wg sync.WaitGroup
	for i := range servers {
		wg.Go(func() { // a member is ready only when there is another
			servers[i] = startEtcd(t, program, clients, i, peers, nil)
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return servers
}

// startEtcd starts member i. The ports are where the members serve clients and each other.
func startEtcd(t testing.TB, program string, clients []int, i int, peers []int,
	flags []string) *Server {
	t.Helper()
	dir := tempDir(t)
	client, peer := "http://"+address(clients[i]), "http://"+address(peers[i])
	if slices.Contains(flags, "auto-tls") {
		client = "https://" + address(clients[i])
	}
	var members []string
	for j, port := range peers {
		members = append(members, fmt.Sprintf("m%d=http://%s", j, address(port)))
	}
	args := []string{
		fmt.Sprintf("--name=m%d", i), "--data-dir=" + dir, "--log-level=error",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + strings.Join(members, ","),
		"--heartbeat-interval=50", "--election-timeout=500",
	}
	for _, f := range flags {
		args = append(args, "--"+f)
	}
	browser := &http.Client{
		Timeout: 20 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
			DisableKeepAlives: true},
	}
	return newServer(t, "etcd://"+address(clients[i]), dir, func() (stop func()) {
		return run(t, exec.Command(program, args...), syscall.SIGKILL,
			func(ctx context.Context) error {
				r, err := http.NewRequestWithContext(ctx, "GET", client+"/health", nil)
				if err != nil {
					return err
				}
				resp, err := browser.Do(r)
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					body, _ := io.ReadAll(resp.Body)
					return fmt.Errorf("/health: %s: %s", resp.Status, body)
				}
				return nil
			})
	})
}

// etcdProgram returns the path of etcd's server, from the PATH or from the module in the folder
// "etcd", which the go command builds.
func etcdProgram(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("etcd"); err == nil {
		return path
	}
	path, err := buildEtcd()
	if err != nil {
		Missing(
			t,
			"no etcd: SORTID_TEST_ETCD_URL is not set, nobody listens at 127.0.0.1:2379, "+
				"it is not installed, and cannot be built: %v", err)
	}
	return path
}

var buildEtcd = sync.OnceValues(func() (string, error) {
	dir, err := goOutput("", "list", "-f", "{{.Dir}}", "github.com/sortid/sortid/testserver")
	if err != nil {
		return "", err
	}
	return goOutput(filepath.Join(dir, "etcd"), "tool", "-n", "go.etcd.io/etcd/server/v3")
})

func goOutput(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	if cmd.Dir = dir; dir != "" {
		cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "CGO_ENABLED=0")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s in %s: %s", cmd, cmd.Dir,
			cmp.Or(strings.TrimSpace(stderr.String()), err.Error()))
	}
	return strings.TrimSpace(string(out)), nil
}
