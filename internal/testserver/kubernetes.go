package testserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// StartKubernetes starts an API server, and etcd for it. The URL is the one of an administrator in
// the namespace default.
func StartKubernetes(t testing.TB, flags ...string) *Server {
	t.Helper()
	servers, _ := StartAPIServers(t, 1, flags...)
	return servers[0]
}

// StartAPIServers starts n API servers of Kubernetes with one etcd.
func StartAPIServers(t testing.TB, n int, flags ...string) (servers []*Server, etcd *Server) {
	t.Helper()
	Waits(t, "needs a server")
	program := apiServer(t)
	etcd = StartEtcd(t)
	dir := tempDir(t)
	cert, key := Certificate(t)
	token := rand.Text()
	users := filepath.Join(dir, "users.csv")
	if err := os.WriteFile(users, []byte(token+",admin,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range n {
		port := FreePort(t)
		args := append([]string{
			"--etcd-servers=" + strings.Replace(etcd.URL, "etcd", "http", 1),
			"--bind-address=127.0.0.1", fmt.Sprint("--secure-port=", port),
			"--tls-cert-file=" + cert, "--tls-private-key-file=" + key,
			"--service-cluster-ip-range=10.0.0.0/24", "--token-auth-file=" + users,
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + cert, "--service-account-signing-key-file=" + key,
			"--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount",
		}, flags...)
		s := &Server{t: t, crash: syscall.SIGKILL,
			URL:     fmt.Sprintf("https://%s@%s/default?ca=%s", token, address(port), url.QueryEscape(cert)),
			command: func() *exec.Cmd { return exec.Command(program, args...) },
		}
		s.ready = func(ctx context.Context) error { return kubernetesServes(ctx, s.URL) }
		servers = append(servers, s.start())
	}
	return servers, etcd
}

// apiServer returns the path of kube-apiserver.
func apiServer(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("kube-apiserver"); err == nil {
		return path
	}
	root, err := clone()
	path := filepath.Join(root, "bin", "kube-apiserver")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		Missing(t, fmt.Sprintf("no API server of Kubernetes: kube-apiserver is not in the PATH, and is "+
			"not built: %v", err), "make bin/kube-apiserver")
	}
	return path
}

func kubernetesServes(ctx context.Context, server string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return errors.Join(CallKubernetes(ctx, server, "GET", "/readyz", nil, nil),
		CallKubernetes(ctx, server, "GET", "/api/v1/namespaces/default", nil, nil))
}

// KubernetesNamespace makes a namespace in the server of an administrator's URL, and a ServiceAccount
// in it, which may do there what package store/kubernetes needs. It returns the ServiceAccount's URL,
// which has the form https://TOKEN@HOST:PORT/NAMESPACE?ca=FILE. For programs, [Kubeconfig] makes a
// file from it.
func KubernetesNamespace(t testing.TB, admin string) string {
	t.Helper()
	name := strings.ReplaceAll(uniqueName(), "_", "-")
	meta := map[string]any{"name": name}
	role := map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
	const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/"
	for _, c := range []struct {
		path string
		body map[string]any
	}{
		{"/api/v1/namespaces", nil},
		{"/api/v1/namespaces/" + name + "/serviceaccounts", nil},
		{rbac + name + "/roles", map[string]any{"rules": []any{map[string]any{
			"apiGroups": []string{"coordination.k8s.io"}, "resources": []string{"leases"},
			"verbs": []string{"get", "list", "create", "update"}}}}},
		{rbac + name + "/rolebindings", map[string]any{"roleRef": role, "subjects": []any{
			map[string]any{"kind": "ServiceAccount", "name": name, "namespace": name}}}},
	} {
		body := maps.Clone(c.body)
		if body == nil {
			body = map[string]any{}
		}
		body["metadata"] = meta
		if err := CallKubernetes(t.Context(), admin, "POST", c.path, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	cleanUp(t, func(ctx context.Context) error {
		return CallKubernetes(ctx, admin, "DELETE", "/api/v1/namespaces/"+name, nil, nil)
	})
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	u.User = url.User(KubernetesToken(t, admin, name, name))
	return u.String()
}

// KubernetesToken returns a new token of a ServiceAccount. It is valid for an hour.
func KubernetesToken(t testing.TB, admin, namespace, account string) string {
	t.Helper()
	var answer struct{ Status struct{ Token string } }
	if err := CallKubernetes(t.Context(), admin, "POST", "/api/v1/namespaces/"+namespace+
		"/serviceaccounts/"+account+"/token", map[string]any{"spec": map[string]any{
		"expirationSeconds": 3600}}, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Status.Token
}

// Kubeconfig returns the name of a file for the environment variable KUBECONFIG.
func Kubeconfig(t testing.TB, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	const name = "test"
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": map[string]any{
			"server": "https://" + u.Host, "certificate-authority": u.Query().Get("ca")}}},
		"users": []any{map[string]any{"name": name, "user": map[string]any{
			"token": u.User.Username()}}},
		"contexts": []any{map[string]any{"name": name, "context": map[string]any{
			"cluster": name, "user": name, "namespace": strings.Trim(u.Path, "/")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tempDir(t), "kubeconfig")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// CallKubernetes sends a request to the API server of a URL. The body and the answer are JSON.
func CallKubernetes(ctx context.Context, server, method, path string, body, answer any) error {
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return send(ctx, method, "https://"+u.Host+path, "Bearer "+u.User.Username(), text, answer)
}

// send sends a request with JSON, and reads the answer if the parameter answer is not nil.
func send(ctx context.Context, method, url, authorization string, body []byte, answer any) error {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", authorization)
	r.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= http.StatusMultipleChoices:
		return fmt.Errorf("%s: %s: %s", r.URL.Path, resp.Status, body)
	case answer != nil:
		return json.Unmarshal(body, answer)
	}
	return nil
}
