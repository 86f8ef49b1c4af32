package release

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"sigs.k8s.io/yaml"
)

type deployment struct {
	args   []string
	tokens string
	text   string // of the example, which makes the realms; "" if there is no store
}

// test runs the server of an example on a free port. It must answer probes, and not start without
// tokens.
func (d deployment) test(t *testing.T, sortid string) {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	args := slices.Clone(d.args)
	listen, file := slices.Index(args, "--listen")+1, slices.Index(args, "--tokens")+1
	if listen == 0 || file == 0 || args[file] != d.tokens {
		t.Fatalf("%q: want --listen, and --tokens %s", args, d.tokens)
	}
	host, _, err := net.SplitHostPort(args[listen])
	check.OK(t, err)
	args[listen], args[file] = net.JoinHostPort(host, "0"), tokens
	store := "bolt:" + filepath.Join(dir, "leases.db")
	createRealms(t, d.text, sortid, store)
	start := func(args []string) (*exec.Cmd, *bytes.Buffer) {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), sortid, args...)
		cmd.Env = os.Environ()
		if d.text != "" {
			cmd.Env = append(cmd.Env, "STORE_URL="+store)
		}
		cmd.Stderr = &stderr
		return cmd, &stderr
	}

	cmd, stderr := start(args)
	if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), tokens) {
		t.Errorf("without a file of tokens: %v, %s", err, stderr)
	}
	if host == "" {
		cmd, stderr = start(slices.Delete(slices.Clone(args), file-1, file+1))
		if err := cmd.Run(); err == nil ||
			!strings.Contains(stderr.String(), "can be reached from other machines") {
			t.Errorf("without --tokens: %v, %s", err, stderr)
		}
	}

	run(t, "", nil, sortid, "serve", "token", "shop", "--tokens", tokens)
	cmd, _ = start(args)
	cmd.Stderr = nil
	log := check.Must(cmd.StderrPipe())(t)
	check.OK(t, cmd.Start())
	defer cmd.Process.Kill()
	address := serving(t, log)
	var rest bytes.Buffer
	read := make(chan bool)
	go func() {
		io.Copy(&rest, log)
		close(read)
	}()
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusOK,
		"/v1/ids/scru128": http.StatusUnauthorized} {
		code := 0
		for range 1200 {
			if code = get(t, address+path); code == want {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	<-read
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v, and the log:\n%s", err, &rest)
	}
}

// createRealms runs the commands "lease create" in the comment of an example.
func createRealms(t *testing.T, text, sortid, store string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if create, ok := strings.CutPrefix(line, "#   sortid lease create $STORE "); ok {
			create, _, _ = strings.Cut(create, "#")
			run(t, "", nil, sortid, append([]string{"lease", "create", store},
				strings.Fields(create)...)...)
		}
	}
}

func serving(t *testing.T, log io.Reader) (address string) {
	t.Helper()
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); all.WriteString(lines.Text() + "\n") {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			_, port, err := net.SplitHostPort(strings.TrimPrefix(line.Address, "http://"))
			check.OK(t, err)
			return "http://127.0.0.1:" + port
		}
	}
	t.Fatalf("the server does not serve:\n%s", &all)
	return ""
}

// get sends a request like a probe of Kubernetes, whose host is the address of a pod.
func get(t *testing.T, url string) int {
	t.Helper()
	request := check.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	request.Host = "10.1.2.3:8420"
	answer := check.Must(http.DefaultClient.Do(request))(t)
	answer.Body.Close()
	return answer.StatusCode
}

// instruction returns the arguments of the Dockerfile's last instruction of this name.
func instruction(t *testing.T, name string) (args []string) {
	t.Helper()
	for line := range strings.Lines(file(t, "Dockerfile")) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			args = nil
			if err := json.Unmarshal([]byte(text), &args); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	return args
}

// The image's server accepts other machines only if it has tokens.
func TestImageServes(t *testing.T) {
	testserver.Long(t, "builds and starts an image")
	if entry := instruction(t, "ENTRYPOINT"); !slices.Equal(entry, []string{"/usr/bin/sortid"}) {
		t.Errorf("ENTRYPOINT %q", entry)
	}
	args := instruction(t, "CMD")
	if !slices.Contains(args, ":8420") || !strings.Contains(file(t, "Dockerfile"),
		"\nEXPOSE 8420\n") {
		t.Errorf("CMD %q: want the port that EXPOSE names, of all addresses", args)
	}
	deployment{args: args, tokens: "/etc/sortid/tokens"}.test(t, testserver.Sortid(t))
}

// A workload is what these tests read of a Deployment or a Job. The fields are kubeconform's
// subject: see check-kubernetes in the Makefile.
type workload struct {
	Kind string
	Spec struct {
		Selector struct{ MatchLabels map[string]string }
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				ServiceAccountName         string
				SecurityContext            struct{ RunAsUser int }
				InitContainers, Containers []container
				Volumes                    []struct {
					Name     string
					EmptyDir *struct{}
					Secret   struct {
						SecretName string
						Items      []struct{ Key, Path string }
					}
				}
			}
		}
	}
}

type service struct {
	Kind string
	Spec struct {
		Selector map[string]string
		Ports    []struct{ TargetPort string }
	}
}

type container struct {
	Name          string
	Command, Args []string
	Env           []struct {
		Name      string
		ValueFrom struct {
			SecretKeyRef struct{ Name, Key string }
		}
	}
	Ports        []struct{ Name string }
	VolumeMounts []struct{ Name, MountPath string }

	LivenessProbe, ReadinessProbe, StartupProbe probe
}

type probe struct {
	HTTPGet struct{ Path, Port string }
}

func parse[T any](t *testing.T, text string) (object T) {
	t.Helper()
	check.OK(t, yaml.Unmarshal([]byte(text), &object))
	return object
}

// The labels, ports, probes, volume and secret of the server fit each other and the server.
func TestKubernetesServe(t *testing.T) {
	testserver.Long(t, "starts servers")
	text := file(t, "packaging/kubernetes/serve.yaml")
	first, second, _ := strings.Cut(text, "\n---\n")
	service, servers := parse[service](t, first), parse[workload](t, second)
	if service.Kind != "Service" || servers.Kind != "Deployment" {
		t.Fatal("serve.yaml is not a Service and a Deployment")
	}
	pod := servers.Spec.Template
	for name, value := range service.Spec.Selector {
		if pod.Metadata.Labels[name] != value || servers.Spec.Selector.MatchLabels[name] != value {
			t.Errorf("the label %s=%s does not connect the Service, the Deployment and its pods",
				name, value)
		}
	}
	if len(service.Spec.Selector) == 0 || len(pod.Spec.Containers) != 1 ||
		len(pod.Spec.Volumes) != 1 {
		t.Fatal("want a selector, a container and a volume")
	}
	c, volume := pod.Spec.Containers[0], pod.Spec.Volumes[0]
	ports := []string{service.Spec.Ports[0].TargetPort}
	for _, p := range []probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		ports = append(ports, p.HTTPGet.Port)
	}
	for _, port := range ports {
		if port != c.Ports[0].Name {
			t.Errorf("the port %q is not the container's", port)
		}
	}
	if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Error("a probe requests a path that the server does not have")
	}
	if c.VolumeMounts[0].Name != volume.Name || c.Env[0].Name != "STORE_URL" {
		t.Error("the container lacks the volume or STORE_URL")
	}
	secret := c.Env[0].ValueFrom.SecretKeyRef
	if secret.Name != volume.Secret.SecretName || !strings.Contains(text, "create secret generic "+
		secret.Name+" --from-file="+volume.Secret.Items[0].Key+" --from-literal="+secret.Key+"=") {
		t.Error("the secret in the comment is not the one that the pods use")
	}
	if pod.Spec.SecurityContext.RunAsUser != 65532 {
		t.Error("the user of the pods is not the user of the image")
	}
	path := filepath.Join(c.VolumeMounts[0].MountPath, volume.Secret.Items[0].Path)
	deployment{args: c.Args, tokens: path, text: text}.test(t, testserver.Sortid(t))
}

// A server accepts all objects of the example. With the rights of its ServiceAccount, the application
// finds its worker ID.
func TestKubernetesApplication(t *testing.T) {
	documents := strings.Split(file(t, "packaging/kubernetes/your-app.yaml"), "\n---\n")
	app := parse[workload](t, documents[len(documents)-1])
	if app.Kind != "Deployment" {
		t.Fatalf("your-app.yaml ends with a %s, want a Deployment", app.Kind)
	}
	pod := app.Spec.Template
	if len(pod.Spec.InitContainers) != 1 || len(pod.Spec.Containers) != 1 ||
		len(pod.Spec.Volumes) != 3 || pod.Spec.Volumes[0].EmptyDir == nil {
		t.Fatal("want two containers, and empty folders for sortid, the lease and /tmp")
	}
	from, to, volume := pod.Spec.InitContainers[0], pod.Spec.Containers[0], pod.Spec.Volumes[0]
	for _, c := range []container{from, to} {
		if c.VolumeMounts[0].Name != volume.Name ||
			c.VolumeMounts[0].MountPath != path.Dir(to.Command[0]) {
			t.Errorf("%s does not mount the folder of %s", c.Name, to.Command[0])
		}
	}
	if want := []string{"install", to.Command[0]}; !slices.Equal(from.Args, want) {
		t.Errorf("the init container runs %q, want %q", from.Args, want)
	}

	server := testserver.StartKubernetes(t)
	at := check.Must(url.Parse(testserver.KubernetesNamespace(t, server.URL)))(t)
	namespace := strings.Trim(at.Path, "/")
	for _, text := range documents {
		object := parse[map[string]any](t, text)
		api := "/apis/"
		if object["apiVersion"] == "v1" {
			api = "/api/"
		}
		check.OK(t, testserver.CallKubernetes(t.Context(), server.URL, "POST", fmt.Sprintf(
			"%s%v/namespaces/%s/%vs?fieldValidation=Strict", api, object["apiVersion"], namespace,
			strings.ToLower(object["kind"].(string))), object, nil))
	}
	at.User = url.User(testserver.KubernetesToken(t, server.URL, namespace,
		pod.Spec.ServiceAccountName))
	sortid := filepath.Join(t.TempDir(), "sortid")
	run(t, "", nil, testserver.Sortid(t), "install", sortid)
	end := slices.Index(to.Command, "--") + 1
	// As in a container, sortid is the first process.
	args := []string{"--pid", "--fork", "--kill-child", "--mount-proc", "--map-root-user", sortid}
	for _, arg := range to.Command[1:end] {
		args = append(args, strings.ReplaceAll(arg, to.VolumeMounts[1].MountPath+"/", t.TempDir()+"/"))
	}
	args = append(args, testserver.Program(t, "env"))
	out := run(t, "", []string{"KUBECONFIG=" + testserver.Kubeconfig(t, at.String())},
		testserver.Program(t, "unshare"), args...)
	id := regexp.MustCompile(`(?m)^TSIDCREATOR_NODE=(\d+)$`).FindStringSubmatch(out)
	if id == nil {
		t.Fatalf("the application gets no worker ID:\n%s", out)
	}
	var leases struct {
		Items []struct {
			Spec struct{ LeaseTransitions int }
		}
	}
	check.OK(t, testserver.CallKubernetes(t.Context(), server.URL, "GET",
		"/apis/coordination.k8s.io/v1/namespaces/"+namespace+"/leases?labelSelector="+url.QueryEscape(
			"sortid/state=free,sortid/realm=shop,sortid/block="+id[1]+"-10"), nil,
		&leases))
	if len(leases.Items) != 1 || leases.Items[0].Spec.LeaseTransitions != 1 {
		t.Errorf("the Leases of worker ID %s are %+v, want one that had one holder", id[1], leases)
	}
}

func TestSystemdServe(t *testing.T) {
	testserver.Long(t, "starts servers")
	const name = "packaging/systemd/sortid.service"
	var args []string
	text := file(t, name)
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "ExecStart=/usr/bin/sortid "); ok {
			command = strings.NewReplacer("${LISTEN}", "127.0.0.1:8420", "${CREDENTIALS_DIRECTORY}",
				"/run/credentials/sortid.service").Replace(command)
			args = strings.Fields(command)
		}
	}
	sortid := testserver.Sortid(t)
	t.Run("run", func(t *testing.T) {
		deployment{args: args, tokens: "/run/credentials/sortid.service/tokens",
			text: text}.test(t, sortid)
	})
	t.Run("verify", func(t *testing.T) {
		verifyUnit(t, "sortid.service", strings.ReplaceAll(text, "/usr/bin/sortid", sortid))
	})
}

func verifyUnit(t *testing.T, name, text string) {
	unit := filepath.Join(t.TempDir(), name)
	check.OK(t, os.WriteFile(unit, []byte(text), 0o644))
	out, err := exec.Command(testserver.Program(t, "systemd-analyze"), "verify", "--man=no",
		unit).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	// The output also has messages about other units.
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "sortid") {
			t.Error(line)
		}
	}
}

func TestSystemdExec(t *testing.T) {
	testserver.Long(t, "runs systemd-analyze")
	dir, sortid := t.TempDir(), testserver.Sortid(t)
	program := filepath.Join(dir, "orders")
	script := "#!/bin/sh\necho $SORTID_NODE_ID/$SORTID_NODE_BITS\n"
	check.OK(t, os.WriteFile(program, []byte(script), 0o755))
	text := strings.NewReplacer("/usr/bin/sortid", sortid, "/usr/local/bin/%i", program).Replace(
		file(t, "packaging/systemd/sortid-exec@.service"))
	verifyUnit(t, "sortid-exec@orders.service", text)
	store := "bolt:" + filepath.Join(dir, "leases.db")
	createRealms(t, text, sortid, store)
	_, command, _ := strings.Cut(text, "\nExecStart=")
	command, _, _ = strings.Cut(command, "\n")
	args := strings.Fields(strings.ReplaceAll(command, "%i", "orders"))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "STORE_URL="+store)
	if out, err := cmd.Output(); err != nil || !strings.HasSuffix(string(out), "/10\n") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestDockerfile(t *testing.T) {
	_, last, ok := strings.Cut(file(t, "Dockerfile"), "\nFROM scratch\n")
	if !ok || strings.Contains(last, "\nFROM ") || strings.Contains(last, "\nRUN ") ||
		!strings.Contains(last, "\nUSER 65532") {
		t.Errorf("the last stage is:\n%s", last)
	}
}
