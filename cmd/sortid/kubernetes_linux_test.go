package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// inPod runs a program with the files of a pod.
const inPod = `
mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount &&
	cp "$FILES"/* /run/secrets/kubernetes.io/serviceaccount && exec "$@"`

// In a pod, exec finds the cluster, the namespace and the token without any setting.
func TestInPod(t *testing.T) {
	t.Parallel()
	u := check.Must(url.Parse(testserver.KubernetesNamespace(t,
		testserver.StartKubernetes(t).URL)))(t)
	unshare := []string{testserver.Program(t, "unshare"), "--mount", "--map-root-user", "sh", "-c"}
	if out, err := exec.Command(unshare[0], append(unshare[1:],
		"mount -t tmpfs none /run")...).CombinedOutput(); err != nil {
		t.Skipf("no namespace of mounts: %v: %s; to run this test: use root", err, out)
	}
	files := t.TempDir()
	namespace := strings.Trim(u.Path, "/")
	for name, text := range map[string]string{"token": u.User.Username(), "namespace": namespace,
		"ca.crt": string(check.Must(os.ReadFile(u.Query().Get("ca")))(t))} {
		check.OK(t, os.WriteFile(filepath.Join(files, name), []byte(text), 0o644))
	}
	cmd := exec.Command(unshare[0], append(unshare[1:], inPod, "sh", testserver.Sortid(t), "lease",
		"exec", "kubernetes:", "--realm", "shop", "--create", "--node-bits", "10", "--", "env")...)
	cmd.Env = append(os.Environ(), "FILES="+files, "KUBERNETES_SERVICE_HOST="+u.Hostname(),
		"KUBERNETES_SERVICE_PORT="+u.Port(), "KUBECONFIG="+filepath.Join(files, "none"))
	out, err := cmd.CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^SORTID_NODE_ID=\d+$`).Match(out) ||
		!strings.Contains(string(out), "sortid lease fence kubernetes:"+namespace) {
		t.Errorf("%v:\n%s", err, out)
	}
}
