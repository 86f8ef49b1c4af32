package main

import (
	"bytes"
	neturl "net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// The commands use the cluster of KUBECONFIG. A program makes the realm with its first start.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	admin := testserver.StartKubernetes(t).URL
	url := testserver.KubernetesNamespace(t, admin)
	env := append(os.Environ(), "KUBECONFIG="+testserver.Kubeconfig(t, url))
	sortid := func(args ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), testserver.Sortid(t), args...)
		cmd.Env = env
		var out, say bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &say
		if err := cmd.Run(); err != nil {
			t.Errorf("%q: %v\n%s%s", args, err, &out, &say)
		}
		return out.String(), say.String()
	}
	want := func(what, text, pattern string) {
		t.Helper()
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%s, want %s:\n%s", what, pattern, text)
		}
	}
	start := []string{"lease", "exec", "kubernetes:", "--realm", "shop", "--create", "--node-bits",
		"10", "--", testserver.Program(t, "env")}
	for range 2 {
		out, say := sortid(start...)
		want("the program's environment", out, `(?m)^SORTID_NODE_ID=\d+$`)
		want("exec says", say, `(?m)^sortid: node ID \d+/10 of realm shop until `)
		if strings.Contains(say, "survives") {
			t.Errorf("a new realm's window is too short: %s", say)
		}
	}
	out, _ := sortid("lease", "show", "kubernetes:")
	want("lease show", out, `windows +up to `+nodeid.KubernetesPace.Window.String())
	want("lease show", out, `conditional: the database of the cluster`)
	out, _ = sortid("lease", "list", "kubernetes:", "--realm", "shop")
	want("lease list", out, `(?m)^\d+/10 +free `)
	holder := exec.CommandContext(t.Context(), testserver.Sortid(t), append(slices.Clone(
		start[:len(start)-1]), testserver.Program(t, "sleep"), "1000")...)
	holder.Env = env
	check.OK(t, holder.Start())
	defer func() { holder.Process.Kill(); holder.Wait() }()
	list := func(kubeconfig string) string {
		env[len(env)-1] = "KUBECONFIG=" + kubeconfig
		out, _ := sortid("lease", "list", "kubernetes:", "--realm", "shop")
		return out
	}
	mine := strings.TrimPrefix(env[len(env)-1], "KUBECONFIG=")
	if !check.Soon(func() bool { return strings.Contains(list(mine), " held ") }) {
		t.Fatal("nothing is held")
	}
	if out := list(mine); strings.Contains(out, "pod)") { // it may not list the pods
		t.Errorf("lease list: %s", out)
	}
	namespace := strings.Trim(check.Must(neturl.Parse(url))(t).Path, "/")
	all := testserver.Kubeconfig(t, strings.Replace(admin, "/default", "/"+namespace, 1))
	want("lease list", list(all), `(?m)^\d+/10 +held .* \(no such pod\)$`)
	host := check.Must(os.Hostname())(t)
	check.OK(t, testserver.CallKubernetes(t.Context(), admin, "POST", "/api/v1/namespaces/"+namespace+
		"/pods", map[string]any{"metadata": map[string]any{"name": host}, "spec": map[string]any{
		"containers": []any{map[string]any{"name": "c", "image": "i"}}}}, nil))
	if out := list(all); strings.Contains(out, "pod)") {
		t.Errorf("lease list with the pod: %s", out)
	}
	list(mine)
	address := freeAddress(t)
	server := exec.CommandContext(t.Context(), testserver.Sortid(t), "serve", "--leases-only",
		"--store", "kubernetes:", "--listen", address)
	server.Env = env
	check.OK(t, server.Start())
	defer func() { server.Process.Kill(); server.Wait() }()
	out, _ = sortid("lease", "exec", "http://"+address, "--realm", "shop", "--",
		testserver.Program(t, "env"))
	want("the environment from a server", out, `(?m)^SORTID_NODE_ID=\d+$`)
	out, _ = sortid("new", "scru64", "--lease", "kubernetes:", "--create", "-n", "3")
	want("new", out, `^([0-9a-z]{12}\n){3}$`)
}
